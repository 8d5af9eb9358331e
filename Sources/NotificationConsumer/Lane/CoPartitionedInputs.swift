import Kafka
import NotificationModel

/// The input topics by their names on Kafka, whose partitions the group assigns together.
struct CoPartitionedInputs {
    private let inputs: [(input: InputTopic, topic: String)]

    init(_ topics: TopicNames) { inputs = InputTopic.allCases.map { ($0, topics[$0]) } }

    var topics: [String] { inputs.map(\.topic) }

    /// The input that a polled record is of.
    func input(of message: borrowing KafkaMessage) -> InputTopic {
        for (input, topic) in inputs.dropFirst() where message.isOf(topic) { return input }
        return .requests
    }

    /// By input instead of by name; what is of no input is left out.
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

    /// The partition numbers of an assignment, in order, which must have all of the topics for each.
    static func numbers(of places: Set<KafkaTopicPartition>, topics: [String]) throws(ConsumerRefusal) -> [Int32] {
        let numbers = Set(places.map(\.partition)).sorted()
        for number in numbers {
            let missing = topics.filter { !places.contains(KafkaTopicPartition(topic: $0, partition: number)) }
            guard missing.isEmpty else { throw .inputsApart(partition: number, missing: missing) }
        }
        return numbers
    }
}
