import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationProducer

/// Events of maximum record size on `business-events`. None stops the ingest.
@Suite("Large business events", .timeLimit(.minutes(10)))
struct LargeEventTests {
    private static let rules = """
        rules:
          - event: com.example.order.shipped
            recipient: "{{data.customer}}"
            identifier: "{{data.order}}"
            content: {title: "{{data.text}}", body: "{{data.text}}"}
          - event: com.example.order.shipped
            name: short
            recipient: "{{data.customer}}"
            identifier: "{{data.order}}-short"
            content: {title: "short"}
        """

    private func filler(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

    private func event(
        _ order: String,
        type: String = "com.example.order.shipped",
        text: Int = 5,
        key: [UInt8]? = nil,
        headers: [KafkaHeader] = []
    ) -> KafkaProducerRecord {
        let data = #"{"customer":"c","order":"\#(order)","text":"\#(String(repeating: "y", count: text))"}"#
        var record = BusinessEvent.sample(id: order, type: type, data: data).record
        record.partition = 0
        record.key = key
        record.headers += headers
        return record
    }

    private func produce(_ harness: ProducerHarness, _ records: [KafkaProducerRecord]) async throws {
        var client = harness.broker.clientConfiguration(clientID: "test")
        client.properties["message.max.bytes"] = "3000000"
        let producer = try KafkaProducer(configuration: .init(client: client), logger: ProducerHarness.logger)
        for record in records { _ = try await producer.send(record) }
        await producer.shutDown(within: .seconds(5))
    }

    @Test(
        "An event of any size becomes requests or a dead letter, and the next one follows",
        arguments: [nil, 100_000]
    )
    func sizes(_ bytes: Int?) async throws {
        let bound = bytes ?? 1_000_000
        let state = { (count: Int) in
            [
                KafkaHeader(name: "traceparent", text: IngestTests.trace),
                KafkaHeader(name: "tracestate", value: [UInt8](repeating: 0x61, count: count)),
            ]
        }
        let bad: [(record: KafkaProducerRecord, reason: ReasonCode, omitted: String?)] = [
            (event("key", type: "unheard", key: filler(999_500)), .noRule, "key=999500"),
            (
                event("headers", type: "unheard", headers: [KafkaHeader(name: "x", value: filler(999_000))]), .noRule,
                "headers=999001"
            ),
            (event("tracestate", type: "unheard", headers: state(995_000)), .noRule, "headers=995010"),
            (
                event("extension", headers: [KafkaHeader(name: "ce_other", value: filler(995_000))]), .invalid,
                "headers=995008"
            ),
            (event("value", type: "unheard", text: 998_000), .noRule, "value="),
        ]
        let good = [
            event("good-key", key: filler(999_000)), event("trace-170", headers: state(170_000)),
            event("trace-995", headers: state(995_000)), event("last"),
        ]
        try await ProducerHarness.with(
            rules: Self.rules,
            configure: { if let bytes { $0.kafkaProperties["message.max.bytes"] = "\(bytes)" } }
        ) { harness in
            // The embedded broker keeps 5 MiB per partition: a few at a time.
            for (index, (record, reason, omitted)) in bad.enumerated() {
                try await produce(harness, [record])
                let letters = try await harness.records(ProducerHarness.topics.deadLetters, count: index + 1)
                let letter = try #require(letters.last)
                #expect(letter.header(DeadLetter.reasonHeader) == reason.rawValue)
                // Parts smaller than the limit are complete.
                let headers = letter.headers.map { ($0.name, $0.value) }
                #expect(RecordBound.size(key: letter.key, value: letter.value, headers: headers) <= bound)
                let note = letter.header("carillon-omitted") ?? ""
                if bytes != nil { #expect(note.hasPrefix(omitted ?? ""), "\(note)") }
                #expect(letter.header("ce_id") != nil)
                #expect(letter.partition == 0)
            }
            for (index, record) in good.enumerated() {
                try await produce(harness, [record])
                #expect(
                    try await harness.distinctIDs(ProducerHarness.topics.requests, count: 2 * (index + 1)).count
                        == 2 * (index + 1)
                )
            }
            let records = try await harness.records(ProducerHarness.topics.requests, count: 8)
            #expect(records.allSatisfy { $0.headers.allSatisfy { $0.value?.count ?? 0 <= 512 } })
            #expect(!harness.log.lines.contains { $0.contains("ingest failed") })
        }
    }

    @Test("A request too large for a record makes its event a dead letter; the other requests are published")
    func requestTooLarge() async throws {
        let bound = RecordBound.least
        try await ProducerHarness.with(
            rules: Self.rules,
            configure: { $0.kafkaProperties["message.max.bytes"] = "\(bound)" }
        ) { harness in
            // Title and body both contain the text.
            let (small, large) = ([5, 20_000, 31_000], [33_000, 60_000])
            try await produce(harness, (small + large).map { event("\($0)", text: $0) })
            let requests = try await harness.records(
                ProducerHarness.topics.requests,
                count: small.count * 2 + large.count
            )
            let made = small.flatMap { ["\($0)", "\($0)-short"] } + large.map { "\($0)-short" }
            #expect(
                Set(requests.compactMap { $0.keyText?.split(separator: "/").last.map(String.init) }) == Set(made)
            )
            let letters = try await harness.records(ProducerHarness.topics.deadLetters, count: large.count)
            #expect(letters.compactMap { $0.header("ce_id") } == large.map { "\($0)" })
            for letter in letters {
                #expect(letter.header(DeadLetter.reasonHeader) == "too-large")
                // The event fits, and can be sent again.
                #expect(letter.value != nil && letter.header("carillon-omitted") == nil)
            }
        }
    }

    @Test("A limit that is too small to work prevents the start")
    func least() async throws {
        let broker = try ProducerHarness.makeBroker()
        var configuration = ProducerServiceConfiguration(bootstrapServers: broker.bootstrapServers)
        configuration.kafkaProperties["message.max.bytes"] = "\(RecordBound.least - 1)"
        let error = #expect(throws: KafkaError.self) {
            try ProducerService(configuration: configuration, health: Health(), logger: ProducerHarness.logger)
        }
        #expect(error?.reason.contains("message.max.bytes") == true)
        await broker.shutDown()
    }
}
