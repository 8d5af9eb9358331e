import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationPublisher
import Testing

@Suite("Publishing from a program", .timeLimit(.minutes(10)))
struct NotificationPublisherTests {
    private static let now = Timestamp(rawValue: 1_795_000_000_000)
    private static let logger = Logger(label: "test")

    private func published(
        _ count: Int,
        _ body: (NotificationPublisher) async throws -> Void
    ) async throws -> [KafkaConsumerRecord] {
        let broker = try LocalBroker(topics: ["r": 3])
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration()),
            logger: Self.logger
        )
        let publisher = NotificationPublisher(
            producer: producer,
            configuration: .init(topic: "r", source: "/carillon/test", defaultApplication: "shop"),
            now: { Self.now }
        )
        try await body(publisher)
        var records: [KafkaConsumerRecord] = []
        let sequence = KafkaConsumerRecords(
            configuration: .init(client: broker.clientConfiguration()),
            topics: ["r"],
            start: .beginning,
            logger: Self.logger
        )
        for try await record in sequence {
            records.append(record)
            if records.count == count { break }
        }
        await producer.shutDown(within: .seconds(5))
        await broker.shutDown()
        return records
    }

    @Test("A request has the key, the partition of its recipient, a value that the model reads, and the headers")
    func request() async throws {
        let key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "order 1001")
        let trace = try #require(TraceContext(traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        let request = NotificationRequest(
            requestID: try RequestID(text: "my-id"),
            key: key,
            version: 3,
            content: NotificationContent(title: "é \"quoted\""),
            trigger: .timeInterval(.init(timeInterval: 60, repeats: true))
        )
        let records = try await published(1) { publisher in
            let receipt = try await publisher.publish(request, trace: trace)
            #expect(receipt.requestID == request.requestID)
        }
        let record = records[0]
        #expect(record.key == key.encoded)
        #expect(String(decoding: key.encoded, as: UTF8.self) == "shop/ana%2F1/order%201001")
        #expect(record.partition == KafkaPartitioner.partition(forKey: Array("ana/1".utf8), count: 3))
        #expect(try NotificationRequest(json: record.value ?? [], key: key) == request)
        let headers = record.headers.map { "\($0.name): \(String(decoding: $0.value ?? [], as: UTF8.self))" }
        #expect(
            headers == [
                "ce_specversion: 1.0", "ce_id: my-id", "ce_source: /carillon/test",
                "ce_type: carillon.notification.request.v1", "ce_time: \(Self.now.rfc3339)",
                "ce_subject: shop/ana%2F1/order%201001", "content-type: application/json",
                "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            ]
        )
    }

    @Test("A removal is a value under the removed key, with an empty identifier for all of a recipient's")
    func removal() async throws {
        let records = try await published(2) { publisher in
            try await publisher.remove("i", of: "u", .delivered)
            let all = try NotificationKey(application: "shop", recipient: "u", identifier: "")
            try await publisher.remove(NotificationRemoval(key: all, version: 9, scope: .all))
        }
        let scopes = try records.map { record -> RemovalScope? in
            let key = try NotificationKey(encoded: record.key ?? [])
            guard case .removal(let removal) = try RequestRecord.scan(record.value ?? [], key: key) else { return nil }
            #expect(removal.requestID != nil)
            return removal.scope
        }
        #expect(scopes == [.delivered, .all])
        #expect(records.map { String(decoding: $0.key ?? [], as: UTF8.self) } == ["shop/u/i", "shop/u/"])
    }

    @Test("Invalid input is refused before anything is published")
    func invalid() async throws {
        let records = try await published(1) { publisher in
            await #expect(throws: ModelError.self) {
                try await publisher.publish(NotificationContent(), to: "u", as: "i")
            }
            await #expect(throws: ModelError.self) {
                try await publisher.publish(NotificationContent(body: "x"), to: "", as: "i")
            }
            await #expect(throws: ModelError.self) {
                try await publisher.publish(NotificationContent(body: "x"), to: "u", as: "")
            }
            await #expect(throws: ModelError.self) { try await publisher.remove("", of: "u") }
            await #expect(throws: ModelError.self) {
                try await publisher.publish(
                    NotificationContent(body: "x"),
                    to: "u",
                    as: "i",
                    trigger: .timeInterval(.init(timeInterval: 1, repeats: true))
                )
            }
            try await publisher.publish(NotificationContent(body: "good"), to: "u", as: "i")
        }
        #expect(String(decoding: records[0].value ?? [], as: UTF8.self).contains("good"))
    }
}
