import Foundation
import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("Responses become requests", .serialized, .timeLimit(.minutes(10)))
struct ResponseEventTests {
    private static let chain = """
        rules:
          - event: com.example.order.shipped
            recipient: "{{data.customer}}"
            identifier: "order-{{data.order}}"
            content: {title: "On its way", categoryIdentifier: ORDER}
          - event: carillon.notification.response.v1
            name: thanks
            when: data.matched and data.actionIdentifier == 'reply' and data.categoryIdentifier == 'ORDER'
            recipient: "{{data.recipient}}"
            identifier: "{{data.identifier}}-thanks"
            content: {title: "{{data.content.title}}", body: "You wrote: {{data.userText}}"}
        """
    private static let unchained = """
        rules:
          - {event: com.example.order.shipped, recipient: "{{data.customer}}", identifier: i, content: {title: t}}
        """

    private static func data(_ action: String = "reply", recipient: String? = "ana") -> String {
        let recipient = recipient.map { #""recipient":"\#($0)","# } ?? ""
        return #"""
            {"responseId":"r1","requestId":"q1","application":"shop",\#(recipient)"identifier":"order-7","device":"iphone-1",
             "actionIdentifier":"\#(action)","userText":"Thank you \"all\"","matched":true,"categoryIdentifier":"ORDER",
             "content":{"title":"On its way"}}
            """#
    }

    /// A record as the consumer service writes it.
    private static func response(
        id: String,
        type: String = "carillon.notification.response.v1",
        data: String = data()
    ) -> KafkaProducerRecord {
        var event = BusinessEvent.sample(
            id: id,
            source: "/carillon/test",
            type: type,
            subject: "shop/ana/order-7",
            extensions: ["traceparent": IngestTests.trace],
            data: data
        )
        event.dataContentType = "application/json"
        var record = event.record
        record.topic = ProducerHarness.topics.responses
        return record
    }

    @Test("A reply becomes a request with its text, its trace, and an id that is derived from it")
    func reply() async throws {
        try await ProducerHarness.with(rules: Self.chain) { harness in
            try await harness.produce([Self.response(id: "e1"), Self.response(id: "e1")])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 2)
            let key = try NotificationKey(application: "shop", recipient: "ana", identifier: "order-7-thanks")
            let id = RequestID.derive(source: "/carillon/test", id: "e1", rule: "thanks", key: key)
            for record in records {
                #expect(record.key == key.encoded)
                #expect(record.header("ce_id") == "\(id)")
                #expect(record.header("traceparent") == IngestTests.trace)
                let request = try NotificationRequest(json: record.value ?? [], key: key)
                #expect(request.content.title == "On its way")
                #expect(request.content.body == #"You wrote: Thank you "all""#)
            }
        }
    }

    @Test("Responses that no rule wants are skipped; those that a rule cannot use are dead letters")
    func others() async throws {
        try await ProducerHarness.with(rules: Self.chain) { harness in
            var noType = Self.response(id: "e4")
            noType.headers.removeAll { $0.name == "ce_type" }
            try await harness.produce([
                Self.response(id: "e1", type: "carillon.notification.other.v1"),
                Self.response(id: "e2", data: Self.data("track")),
                Self.response(id: "e3", data: Self.data(recipient: nil)),
                noType,
                Self.response(id: "e5", data: "{"),
                Self.response(id: "e6"),
            ])
            _ = try await harness.records(ProducerHarness.topics.requests, count: 1)
            let letters = try await harness.records(ProducerHarness.topics.deadLetters, count: 3)
            let reasons = Dictionary(grouping: letters) { $0.header(DeadLetter.reasonHeader) ?? "" }.mapValues(\.count)
            #expect(reasons == ["missing-variable": 1, "invalid": 2])
            let origins = Set(letters.map { $0.header("kafka_dlt-original-topic") })
            #expect(origins == [ProducerHarness.topics.responses])
        }
    }

    @Test("An event counts as a response on its own topic only, and nothing else counts there")
    func boundTypes() async throws {
        try await ProducerHarness.with(rules: Self.chain) { harness in
            var invented = Self.response(id: "e1")
            invented.topic = ProducerHarness.topics.businessEvents
            let order = BusinessEvent.sample(id: "e2", data: #"{"customer":"bob","order":"1"}"#)
            var misplaced = order.record
            (misplaced.topic, misplaced.key) = (ProducerHarness.topics.responses, Self.response(id: "e3").key)
            try await harness.produce([invented, misplaced])
            let letters = try await harness.records(ProducerHarness.topics.deadLetters, count: 1)
            #expect(letters[0].header(DeadLetter.reasonHeader) == "invalid")
            #expect(letters[0].header(DeadLetter.fieldHeader) == "type")
            #expect(letters[0].header("kafka_dlt-original-topic") == ProducerHarness.topics.businessEvents)
            try await harness.produce([Self.response(id: "e3")])
            let requests = try await harness.records(ProducerHarness.topics.requests, count: 1)
            #expect(requests.map(\.keyText) == ["shop/ana/order-7-thanks"], "and no order-1 of bob")
        }
    }

    private static func both(_ round: String) -> [KafkaProducerRecord] {
        (0..<10).flatMap { number in
            let id = "\(round)-\(number)"
            let event = BusinessEvent.sample(id: id, data: #"{"customer":"ben","order":"\#(id)"}"#)
            return [event.record, response(id: id)]
        }
    }

    @Test("The offsets of both topics are committed: a restarted service reads nothing twice")
    func offsets() async throws {
        let broker = try ProducerHarness.makeBroker()
        for round in 1...2 {
            try await ProducerHarness.with(rules: Self.chain, broker: broker) { harness in
                try await harness.produce(Self.both("\(round)"))
                let records = try await harness.records(ProducerHarness.topics.requests, count: round * 20)
                #expect(Set(records.compactMap { $0.header("ce_id") }).count == round * 20)
            }
        }
        await broker.shutDown()
    }

    @Test("With exactly-once both topics are in one transaction")
    func transactions() async throws {
        try await ProducerHarness.with(rules: Self.chain, configure: { $0.guarantee = .exactlyOnce }) { harness in
            try await harness.produce(Self.both("1"))
            #expect(try await harness.distinctIDs(ProducerHarness.topics.requests, count: 20).count == 20)
            try await harness.stop()
            #expect(!harness.log.lines.contains { $0.contains("was not committed") })
        }
    }

    @Test("A reload of the rules begins and ends the reading of responses")
    func reload() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("rules-\(UUID().uuidString).yaml")
        func write(_ rules: String) throws { try Data(rules.utf8).write(to: path, options: .atomic) }
        defer { try? FileManager.default.removeItem(at: path) }
        try write(Self.unchained)
        try await ProducerHarness.with(configure: { $0.rulesFile = path.path }) { harness in
            try await harness.produce([Self.response(id: "e1")])
            try await eventually("the first session") {
                harness.log.lines.contains { $0.contains("ingest reads events") }
            }
            try write(Self.chain)
            #expect(await harness.service.reloadRules())
            // What the topic holds is read when a rule wants it.
            _ = try await harness.records(ProducerHarness.topics.requests, count: 1)
            try write(Self.unchained)
            #expect(await harness.service.reloadRules())
            try await eventually("the third session") {
                harness.log.lines.count { $0.contains("ingest reads events") } == 3
            }
            try await harness.produce([
                Self.response(id: "e2"), BusinessEvent.sample(data: #"{"customer":"ben"}"#).record,
            ])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 2)
            #expect(records.map(\.keyText).sorted { $0 ?? "" < $1 ?? "" } == ["shop/ana/order-7-thanks", "shop/ben/i"])
            #expect(!harness.log.lines.contains { $0.contains("failed") })
        }
    }

    @Test("Only rules for responses want the topic")
    func inputs() throws {
        #expect(try Rules.engine(Self.chain).inputs == [.businessEvents, .responses])
        #expect(try Rules.engine(Self.unchained).inputs == [.businessEvents])
    }
}
