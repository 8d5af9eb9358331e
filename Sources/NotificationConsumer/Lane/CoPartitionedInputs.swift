import Kafka
import NotificationModel
import NotificationState

/// The input topics by their Kafka names; the group assigns their partitions together.
struct CoPartitionedInputs {
    private let inputs: [(input: InputTopic, topic: String)]

    init(_ topics: TopicNames, _ used: [InputTopic] = InputTopic.allCases) { inputs = used.map { ($0, topics[$0]) } }

    var topics: [String] { inputs.map(\.topic) }

    /// The input of a polled record.
    func input(of message: borrowing KafkaMessage) -> InputTopic {
        // Most are of the first.
        for (input, topic) in inputs.dropLast() where message.isOf(topic) { return input }
        return inputs.last?.input ?? .requests
    }

    /// Whether the input is read.
    func contains(_ input: InputTopic) -> Bool { inputs.contains { $0.input == input } }

    /// Converts topic names to inputs; omits other topics.
    func named<Value>(_ places: [KafkaTopicPartition: Value]) -> [InputPartition: Value] {
        var named: [InputPartition: Value] = [:]
        for (place, value) in places {
            guard let (input, _) = inputs.first(where: { $0.topic == place.topic }) else { continue }
            named[InputPartition(input, place.partition)] = value
        }
        return named
    }

    /// The partition numbers of an assignment, in order.
    ///
    /// - Throws: `ConsumerRefusal.inputsApart`.
    func numbers(of places: Set<KafkaTopicPartition>) throws(ConsumerRefusal) -> [Int32] {
        try Self.numbers(of: places, topics: topics)
    }

    /// The partition numbers of an assignment, in order; each must contain all of the topics.
    static func numbers(of places: Set<KafkaTopicPartition>, topics: [String]) throws(ConsumerRefusal) -> [Int32] {
        let numbers = Set(places.map(\.partition)).sorted()
        for number in numbers {
            let missing = topics.filter { !places.contains(KafkaTopicPartition(topic: $0, partition: number)) }
            guard missing.isEmpty else { throw .inputsApart(partition: number, missing: missing) }
        }
        return numbers
    }
}
