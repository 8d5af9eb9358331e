import Kafka
import LocalBroker
import Logging

/// How far a topic has grown, asked from the broker often enough to time it and seldom enough not to disturb.
struct TopicProgress {
    private let consumer: KafkaConsumer
    private let topic: String
    private let expected: [Int]
    private var ends: [Int]

    /// - Parameter expected: how many records each partition will have.
    init(of topic: String, expected: [Int], on broker: LocalBroker, logger: Logger) throws {
        consumer = try KafkaConsumer(
            configuration: .init(client: broker.clientConfiguration(clientID: "carillon-bench-progress")),
            logger: logger
        )
        self.topic = topic
        self.expected = expected
        ends = [Int](repeating: 0, count: expected.count)
    }

    /// Records so far; partitions that are complete are not asked again.
    mutating func count() throws -> Int {
        for partition in expected.indices where ends[partition] < expected[partition] {
            let place = KafkaTopicPartition(topic: topic, partition: Int32(partition))
            ends[partition] = Int(try consumer.watermarks(of: place, within: .seconds(10)).high)
        }
        return ends.reduce(0, +)
    }

    func close() { consumer.close(within: .seconds(2)) }
}
