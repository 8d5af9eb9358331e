import Kafka
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Lists of recipients through Kafka", .timeLimit(.minutes(10)))
struct RecipientsIngestTests {
    private static let rules = """
        rules:
          - event: com.example.order.shipped
            recipients: "{{data.c}}"
            identifier: hello
            content: {title: Hello}
        """

    private func event(_ id: String, _ recipients: some Sequence<String>) -> KafkaProducerRecord {
        let list = recipients.map { "\"\($0)\"" }.joined(separator: ",")
        return BusinessEvent.sample(id: id, data: "{\"c\":[\(list)]}").record
    }

    @Test(
        "Every recipient of a list gets a request in its partition, and a list too long only becomes a dead letter"
    )
    func fanOut() async throws {
        try await ProducerHarness.with(rules: Self.rules) { harness in
            let names = (0..<1_000).map { "user-\($0)" }
            try await harness.produce([
                event("long", (0..<1_001).map { "other-\($0)" }), event("list", names), event("some", ["a", "", "b"]),
            ])
            let records = try await harness.records(ProducerHarness.topics.requests, count: 1_002)
            #expect(Set(records.compactMap(\.keyText)) == Set((names + ["a", "b"]).map { "shop/\($0)/hello" }))
            #expect(Set(records.compactMap { $0.header("ce_id") }).count == 1_002)
            for record in records {
                let key = try NotificationKey(encoded: record.key ?? [])
                #expect(record.partition == KafkaPartitioner.partition(forKey: key.recipientBytes, count: 3))
            }
            let dead = try await harness.records(ProducerHarness.topics.deadLetters, count: 2)
            #expect(Set(dead.compactMap { $0.header("ce_id") }) == ["long", "some"])
            #expect(Set(dead.compactMap { $0.header("carillon-reason") }) == ["too-many-recipients", "invalid"])
        }
    }
}
