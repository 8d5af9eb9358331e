import Foundation
import Kafka
import LocalBroker
import NotificationModel
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("Business events become requests", .timeLimit(.minutes(10)))
struct IngestTests {
    static let rules = """
        rules:
          - event: com.example.order.shipped
            when: "{{data.notify}}"
            recipient: "{{data.customer}}"
            identifier: "order-{{data.order}}"
            content: {title: "On its way", body: "Order {{data.order}} has shipped.", categoryIdentifier: ORDER}
            trigger: {type: timeInterval, timeInterval: 60}
          - event: com.example.order.cancelled
            recipient: "{{data.customer}}"
            cancel: "order-{{data.order}}"
        """
    static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    static func shipped(_ order: Int, customer: String = "user-42", extensions: [String: String] = [:]) -> BusinessEvent
    {
        .sample(
            id: "shipped-\(order)",
            subject: "orders/\(order)",
            extensions: extensions,
            data: #"{"notify":true,"customer":"\#(customer)","order":\#(order)}"#
        )
    }

    @Test("A rule's request has the key, the recipient's partition, the headers and the trace of its event")
    func request() async throws {
        try await ProducerHarness.with(rules: Self.rules) { harness in
            let event = Self.shipped(1001, extensions: ["traceparent": Self.trace, "tracestate": "a=1"])
            let cancelled = BusinessEvent.sample(
                id: "cancelled-1001",
                type: "com.example.order.cancelled",
                data: #"{"customer":"user-42","order":1001}"#
            )
            try await harness.produce([event.record])
            _ = try await harness.records(ProducerHarness.topics.requests, count: 1)
            try await harness.produce([cancelled.record])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 2)
            let record = records[0]
            #expect(record.keyText == "shop/user-42/order-1001")
            #expect(record.partition == KafkaPartitioner.partition(forKey: Array("user-42".utf8), count: 3))
            let key = try NotificationKey(encoded: record.key ?? [])
            let id = RequestID.derive(
                source: "/shop",
                id: "shipped-1001",
                rule: "com.example.order.shipped#0",
                key: key
            )
            guard case .request(let request) = try RequestRecord.scan(record.value ?? [], key: key) else {
                Issue.record("not a request")
                return
            }
            #expect(request.requestID == id)
            #expect(request.trigger == .timeInterval(.init(timeInterval: 60)))
            #expect(record.header("ce_id") == "\(id)")
            #expect(record.header("ce_specversion") == "1.0")
            #expect(record.header("ce_source") == "/carillon/test")
            #expect(record.header("ce_type") == "carillon.notification.request.v1")
            #expect(record.header("ce_time") == ProducerHarness.now.rfc3339)
            #expect(record.header("ce_subject") == "shop/user-42/order-1001")
            #expect(record.header("content-type") == "application/json")
            #expect(record.header("traceparent") == Self.trace)
            #expect(record.header("tracestate") == "a=1")
            #expect(records[1].keyText == "shop/user-42/order-1001")
            #expect(records[1].header("ce_type") == "carillon.notification.removal.v1")
            #expect(records[1].header("traceparent") == nil)
        }
    }

    @Test("The same event read twice gives the same request id")
    func duplicates() async throws {
        try await ProducerHarness.with(rules: Self.rules) { harness in
            try await harness.produce([Self.shipped(1).record, Self.shipped(1).record])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 2)
            #expect(records[0].header("ce_id") == records[1].header("ce_id"))
            #expect(records[0].value == records[1].value)
        }
    }

    @Test("The expiration of an event without a time is based on its record's timestamp, on every read")
    func arrival() async throws {
        let rules = Self.rules.replacingOccurrences(
            of: "trigger: {type",
            with: "expiration: {after: 3600}\n    trigger: {type"
        )
        try await ProducerHarness.with(rules: rules) { harness in
            let arrival = ProducerHarness.now.adding(milliseconds: -60_000)
            var record = Self.shipped(1).record
            record.timestamp = arrival.rawValue
            try await harness.produce([record, record])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 2)
            for record in records {
                let value = try JSONValue.parse(record.value ?? [])
                #expect(value["expiration"] == .string(arrival.adding(milliseconds: 3_600_000).rfc3339))
            }
        }
    }

    @Test("An event in structured mode is read too")
    func structured() async throws {
        try await ProducerHarness.with(rules: Self.rules) { harness in
            let json = #"""
                {"specversion":"1.0","id":"e9","source":"/shop","type":"com.example.order.shipped",
                 "traceparent":"\#(Self.trace)","data":{"notify":1,"customer":"c","order":9}}
                """#
            try await harness.produce([
                KafkaProducerRecord(
                    topic: ProducerHarness.topics.businessEvents,
                    value: Array(json.utf8),
                    headers: [KafkaHeader(name: "Content-Type", text: "Application/CloudEvents+JSON; charset=UTF-8")]
                )
            ])
            let record = try await harness.records(ProducerHarness.topics.requests, count: 1)[0]
            #expect(record.keyText == "shop/c/order-9")
            #expect(record.header("traceparent") == Self.trace)
        }
    }

    @Test(
        "Invalid events become dead letters with reason, bytes and origin; unmatched ones are skipped"
    )
    func deadLetters() async throws {
        let other = BusinessEvent.sample(id: "o", type: "com.example.other", subject: "s", data: "{}")
        let missing = BusinessEvent.sample(id: "m", data: #"{"notify":true,"order":1}"#)
        let skipped = BusinessEvent.sample(id: "k", data: #"{"notify":false}"#)
        let empty = BusinessEvent.sample(id: "i", data: #"{"notify":true,"customer":"","order":1}"#)
        let notJSON = BusinessEvent.sample(id: "n", data: "{")
        var notUTF8 = Self.shipped(2).record
        notUTF8.value = Array(#"{"notify":true,"customer":""#.utf8) + [0xFF] + Array(#"","order":1}"#.utf8)
        var noHeaders = Self.shipped(3).record
        noHeaders.headers = []
        var nothing = noHeaders
        (nothing.key, nothing.value) = (nil, nil)
        var nullHeader = Self.shipped(4).record
        nullHeader.headers[1].value = nil
        let records =
            [other, missing, skipped, empty, notJSON].map(\.record) + [notUTF8, noHeaders, nothing, nullHeader]
        try await ProducerHarness.with(rules: Self.rules) { harness in
            try await harness.produce(records + [Self.shipped(5).record])
            let requests = try await harness.records(ProducerHarness.topics.requests, count: 1)
            #expect(requests[0].keyText == "shop/user-42/order-5")
            let dead = try await harness.records(ProducerHarness.topics.deadLetters, count: 8)
            let reasons = Dictionary(grouping: dead) { $0.header(DeadLetter.reasonHeader) ?? "" }.mapValues(\.count)
            #expect(reasons == ["no-rule": 1, "missing-variable": 1, "invalid": 5, "not-utf8": 1])

            let letter = try #require(dead.first { $0.header("carillon-reason") == "no-rule" })
            #expect(letter.key == other.record.key)
            #expect(letter.value == other.record.value)
            #expect(letter.header("ce_id") == "o")
            #expect(letter.header("ce_type") == "com.example.other")
            #expect(letter.header("kafka_dlt-original-topic") == ProducerHarness.topics.businessEvents)
            let events = try await harness.records(ProducerHarness.topics.businessEvents, count: records.count + 1)
            let original = try #require(events.first { $0.header("ce_id") == "o" })
            #expect(letter.headerBytes("kafka_dlt-original-partition") == bigEndian(original.partition))
            #expect(letter.headerBytes("kafka_dlt-original-offset") == bigEndian(original.offset))
            #expect(letter.headerBytes("kafka_dlt-original-timestamp") == bigEndian(try #require(original.timestamp)))
            #expect(letter.header("kafka_dlt-original-consumer-group") == "carillon-producer")

            let variable = try #require(dead.first { $0.header("carillon-reason") == "missing-variable" })
            #expect(variable.header("ce_id") == "m")
            #expect(variable.header("carillon-field") == "data.customer")
            #expect(variable.header("kafka_dlt-exception-message")?.contains("data.customer") == true)
            let tombstone = try #require(dead.first { $0.value == nil })
            #expect(tombstone.key == nil)
            #expect(tombstone.header("carillon-field") == "specversion")
        }
    }

    @Test("Ignored events have no effect, and of dead letters the first of a kind is logged, with its place")
    func ignored() async throws {
        let rules = "ignore: [com.example.audit.*]\n\(Self.rules)"
        let types = ["com.example.audit.login", "com.example.other", "com.example.other"]
        let events = types.map { BusinessEvent.sample(type: $0, data: "{}").record }
        try await ProducerHarness.with(rules: rules) { harness in
            try await harness.produce(events + [Self.shipped(5).record])
            _ = try await harness.records(ProducerHarness.topics.requests, count: 1)
            let dead = try await harness.records(ProducerHarness.topics.deadLetters, count: 2)
            #expect(dead.allSatisfy { $0.header("ce_type") == "com.example.other" })
            try await harness.stop()
            let told = harness.log.lines.filter { $0.contains("dead letter") && $0.contains("no-rule") }
            #expect(told.count == 2, "\(harness.log.lines)")
            #expect(told.first?.hasPrefix("warning: dead letter ") == true, "\(told)")
            #expect(told.last?.hasPrefix("warning: more dead letters") == true, "\(told)")
        }
    }

    @Test("Offsets are committed: a restarted service reads nothing twice")
    func offsets() async throws {
        let broker = try ProducerHarness.makeBroker()
        try await ProducerHarness.with(rules: Self.rules, broker: broker) { harness in
            try await harness.produce((0..<20).map { Self.shipped($0, customer: "c\($0)").record })
            _ = try await harness.records(ProducerHarness.topics.requests, count: 20)
        }
        try await ProducerHarness.with(rules: Self.rules, broker: broker) { harness in
            try await harness.produce([Self.shipped(100).record])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 21)
            #expect(Set(records.compactMap(\.keyText)).count == 21)
        }
        await broker.shutDown()
    }

    private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
