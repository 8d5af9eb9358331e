import Kafka
import LocalBroker
import Logging
import NotificationModel
import Testing
import TestSupport

@testable import ServiceSupport

@Suite("The reader of categories", .timeLimit(.minutes(10)))
struct CategoryReaderTests {
    private static let topic = "carillon.categories"
    /// A reader that runs until it is stopped.
    private struct Running {
        let table = CategoryTable()
        let health = Health()
        let registry = PrometheusRegistry()
        let reader: CategoryReader
        private let task: Task<Void, any Error>

        init(_ client: KafkaClientConfiguration) {
            let reader = CategoryReader(
                table: table,
                topic: topic,
                client: client,
                health: health,
                registry: registry,
                logger: quiet
            )
            self.reader = reader
            task = Task { try await reader.run() }
        }

        func stop() async throws {
            task.cancel()
            try await task.value
        }

        func sample(_ name: String) -> String? {
            registry.exposition().split(separator: "\n").first { $0.hasPrefix(name + " ") }.map {
                String($0.dropFirst(name.count + 1))
            }
        }
    }

    private func client(_ broker: LocalBroker) -> KafkaClientConfiguration {
        var client = broker.clientConfiguration(clientID: "test")
        client.properties.merge(LocalBroker.recommendedConsumerProperties) { $1 }
        return client
    }

    private func publish(_ records: [(key: String?, value: [UInt8]?)], on broker: LocalBroker) async throws {
        let producer = try KafkaProducer(
            configuration: .init(client: broker.clientConfiguration(clientID: "test")),
            logger: quiet
        )
        for record in records {
            _ = try await producer.send(
                .init(topic: Self.topic, key: record.key.map { Array($0.utf8) }, value: record.value)
            )
        }
        await producer.shutDown(within: .seconds(5))
    }

    @Test("it is ready when it has read what the topic had, and follows")
    func reads() async throws {
        let broker = try LocalBroker(topics: [Self.topic: 3])
        let first = try categorySet("ORDER", action: "a")
        try await publish(
            [
                ("shop", first.json), ("bank", first.json), ("my%20app", first.json), ("bank", nil), ("none", nil),
                ("shop", try categorySet("ORDER", action: "b").replacing(first).json),
            ],
            on: broker
        )
        let running = Running(client(broker))
        try await eventually { running.health.notReady.isEmpty }
        #expect(running.reader.isLoaded)
        #expect(running.table.snapshot().keys.sorted() == ["my app", "shop"])
        #expect(running.table.set(of: "shop")?.formerActions == ["a"])
        #expect(running.sample("carillon_categories") == "2")
        try await publish([("bank", first.json), ("shop", nil)], on: broker)
        try await eventually { running.table.snapshot() == ["my app": first, "bank": first] }
        try await running.stop()
        await broker.shutDown()
    }

    @Test("records that cannot be read are counted and passed over, and change nothing")
    func unreadable() async throws {
        let broker = try LocalBroker(topics: [Self.topic: 1])
        let good = try categorySet("ORDER", action: "a")
        try await publish(
            [
                ("shop", good.json), ("shop", Array("{".utf8)), ("shop", []), (nil, good.json), ("a%", good.json),
                ("", good.json), ("a%0a", good.json), ("shop", Array(#"{"categories":[{"identifier":""}]}"#.utf8)),
            ],
            on: broker
        )
        let running = Running(client(broker))
        try await eventually { running.health.notReady.isEmpty }
        #expect(running.table.snapshot() == ["shop": good])
        #expect(running.sample("carillon_category_records_unreadable_total") == "7")
        try await running.stop()
        await broker.shutDown()
    }

    @Test("an empty topic and a missing one have no categories, and a topic that comes later is read")
    func missing() async throws {
        let empty = try LocalBroker(topics: [Self.topic: 2])
        let ofEmpty = Running(client(empty))
        try await eventually { ofEmpty.health.notReady.isEmpty }
        #expect(ofEmpty.table.snapshot().isEmpty && ofEmpty.health.remarks.isEmpty)
        try await ofEmpty.stop()
        await empty.shutDown()

        let broker = try LocalBroker(topics: ["other": 1])
        let running = Running(client(broker))
        try await eventually { running.health.notReady.isEmpty }
        #expect(running.reader.isLoaded)
        #expect(running.health.remarks.first?.why.contains("carillon.categories does not exist") == true)
        try broker.createTopic(Self.topic, partitions: 2)
        try await publish([("shop", CategorySet().json)], on: broker)
        try await eventually { running.table.snapshot() == ["shop": CategorySet()] }
        try await eventually { running.health.remarks.isEmpty }
        try await running.stop()
        await broker.shutDown()
    }

    @Test("a broker that is away is waited for, and the reader can be stopped meanwhile")
    func away() async throws {
        let running = Running(.init(bootstrapServers: ["127.0.0.1:1"], clientID: "test"))
        try await eventually { running.health.notReady.first?.why.contains("waiting for the broker") == true }
        #expect(!running.reader.isLoaded)
        try await running.stop()
        let stop = StopSignal()
        stop.request()
        running.reader.waitUntilLoaded(stop)
    }
}
