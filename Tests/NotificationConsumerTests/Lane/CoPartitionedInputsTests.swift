import Kafka
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Input topics have the same number of partitions, and the group assigns equal partition numbers together.
struct CoPartitionedInputsTests {
    private static func places(_ places: (String, Int32)...) -> Set<KafkaTopicPartition> {
        Set(places.map { KafkaTopicPartition(topic: $0, partition: $1) })
    }

    @Test func `the partitions of an assignment are those of all inputs`() throws {
        let both = Self.places(("r", 2), ("s", 0), ("r", 0), ("s", 2))
        #expect(try CoPartitionedInputs.numbers(of: both, topics: ["r", "s"]) == [0, 2])
        #expect(try CoPartitionedInputs.numbers(of: [], topics: ["r", "s"]) == [])
    }

    @Test func `an assignment without one of the inputs is refused with the partition and the topic`() {
        #expect(throws: ConsumerRefusal.inputsApart(partition: 1, missing: ["s"])) {
            try CoPartitionedInputs.numbers(of: Self.places(("r", 0), ("s", 0), ("r", 1)), topics: ["r", "s"])
        }
        #expect(
            "\(ConsumerRefusal.inputsApart(partition: 1, missing: ["s"]))".contains("partition 1 without that of s")
        )
    }

    @Test func `counts that differ are refused with every topic`() throws {
        #expect(try PartitionCounts(topics: ["requests": 4, "signals": 4, "state": 4]).common() == 4)
        let counts = PartitionCounts(topics: ["requests": 4, "signals": 5, "state": 4])
        #expect(throws: ConsumerRefusal.partitionCountsDiffer(counts)) { try counts.common() }
        #expect(
            "\(ConsumerRefusal.partitionCountsDiffer(counts))"
                == "`requests` has 4 partitions, `signals` has 5 partitions, `state` has 4 partitions: make them equal"
        )
    }

    @Test func `partitions of other topics are left out`() {
        let topics = TopicNames()
        let named = CoPartitionedInputs(topics).named([
            KafkaTopicPartition(topic: topics.requests, partition: 3): 7,
            KafkaTopicPartition(topic: "other", partition: 3): 8,
        ])
        #expect(named == [InputPartition(.requests, 3): 7])
    }
}
