import Kafka
import LocalBroker
import Logging
import Testing
import TestSupport

struct KafkaRecordCeilingTests {
    @Test func `a refusal halves it once for all producers with the same limit, down to the minimum`() {
        let ceiling = KafkaRecordCeiling(1_000_000, least: 300_000, logger: quiet)
        ceiling.refused(at: 1_000_000)
        ceiling.refused(at: 1_000_000)
        #expect(ceiling.bytes == 500_000)
        ceiling.refused(at: 500_000)
        #expect(ceiling.bytes == 300_000)
        ceiling.refused(at: 300_000)
        #expect(ceiling.bytes == 300_000)
    }

    @Test func `a configured size applies to the producer`() {
        var configuration = KafkaProducerConfiguration(client: .init(bootstrapServers: ["127.0.0.1:9"]))
        #expect(configuration.maximumRecordBytes == 1_000_000)
        configuration.client.properties["message.max.bytes"] = " 70000"
        #expect(configuration.maximumRecordBytes == 70_000)
        #expect(throws: KafkaError.self) { try configuration.check(leastRecordBytes: 70_001) }
        #expect(throws: Never.self) { try configuration.check(leastRecordBytes: 70_000) }
    }

    @Test func `a refusal by the broker reaches it, and the next producer is smaller`() async throws {
        let broker = try LocalBroker(topics: ["t": 1])
        try await KafkaThread.run(name: "test") {
            let ceiling = KafkaRecordCeiling(1_000_000, least: 1_000, logger: quiet)
            let configuration = KafkaProducerConfiguration(client: broker.clientConfiguration())
            func publish() throws -> (KafkaError?, Int) {
                let producer = try KafkaLaneProducer(configuration: configuration, ceiling: ceiling, logger: quiet)
                defer { producer.close(within: .seconds(5)) }
                _ = try producer.partitionCount(of: "t", within: .seconds(120))
                try producer.enqueue(
                    topic: try producer.topic("t"),
                    partition: 0,
                    key: nil,
                    value: [1],
                    headers: KafkaHeaderBuffer(),
                    tag: 0
                )
                var error: KafkaError?
                _ = producer.flush(within: .seconds(120)) { error = $0.error }
                return (error, producer.maximumRecordBytes)
            }
            broker.inject(errors: [.messageTooLarge], on: .produce)
            let refused = try publish()
            #expect(refused.0?.code == .messageTooLarge && refused.1 == 1_000_000)
            #expect(ceiling.bytes == 500_000)
            let taken = try publish()
            #expect(taken.0 == nil && taken.1 == 500_000)
        }
        await broker.shutDown()
    }
}
