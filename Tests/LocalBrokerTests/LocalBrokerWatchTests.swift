import Kafka
import LocalBroker
import Logging
import Synchronization
import Testing
import TestSupport

@Suite(.timeLimit(.minutes(10)))
struct LocalBrokerWatchTests {
    /// Publishes incompressible data to partition 0.
    private func push(mebibytes: Int, to broker: LocalBroker) async throws {
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<mebibytes * 4 {
            let noise = (0..<32 * 1024).flatMap { _ in
                withUnsafeBytes(of: random.next() as UInt64) { Array($0) }
            }
            _ = try await producer.send(.init(topic: "t", partition: 0, value: noise))
        }
        await producer.shutDown(within: .seconds(120))
    }

    private func until(_ condition: () -> Bool) async throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: .seconds(300))
        while !condition() {
            guard ContinuousClock.now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(20))
        }
        return true
    }

    @Test func `dropped records are logged once, as critical`() async throws {
        let broker = try LocalBroker(topics: ["t": 2])
        let log = CollectedLog()
        let watch = LocalBrokerWatch(broker: broker, topics: ["t", "t"], logger: log.logger)
        let place = KafkaTopicPartition(topic: "t", partition: 0)
        try await push(mebibytes: 2, to: broker)
        let run = Task { try await watch.run(every: .milliseconds(50)) }
        try await push(mebibytes: 6, to: broker)
        #expect(try await until { (watch.lost[place] ?? 0) > 0 })
        let first = watch.lost[place] ?? 0
        try await push(mebibytes: 1, to: broker)
        #expect(try await until { (watch.lost[place] ?? 0) > first })
        #expect(watch.lost.keys.map { $0 } == [place])
        #expect(log.lines(.critical).count == 1)
        #expect(log.lines(.critical).first?.contains("DROPPED RECORDS") == true)
        #expect(log.lines(.critical).first?.contains("\"partition\": 0") == true)
        run.cancel()
        try await run.value
        await broker.shutDown()
    }

    @Test func `without dropped records nothing is logged, and a watch can run again`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let log = CollectedLog()
        let watch = LocalBrokerWatch(broker: broker, topics: ["t"], logger: log.logger)
        try await push(mebibytes: 1, to: broker)
        for _ in 0..<2 {
            let run = Task { try await watch.run(every: .milliseconds(10)) }
            try await Task.sleep(for: .milliseconds(100))
            run.cancel()
            try await run.value
        }
        #expect(watch.lost.isEmpty && log.lines(.critical).isEmpty)
        await broker.shutDown()
    }

    @Test func `watching a topic does not create it`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        let log = CollectedLog()
        let watch = LocalBrokerWatch(broker: broker, topics: ["later", "t"], logger: log.logger)
        let run = Task { try await watch.run(every: .milliseconds(10)) }
        try await Task.sleep(for: .milliseconds(200))
        try broker.createTopic("later", partitions: 3)
        let counts = try await KafkaThread.run(name: "count") {
            let consumer = try KafkaConsumer(
                configuration: .init(client: broker.clientConfiguration()),
                logger: log.logger
            )
            defer { consumer.close(within: .seconds(5)) }
            return try consumer.partitionCounts(within: .seconds(120))
        }
        #expect(counts == ["later": 3, "t": 1])
        run.cancel()
        try await run.value
        await broker.shutDown()
    }
}
