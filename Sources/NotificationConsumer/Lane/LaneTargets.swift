import Kafka
import Logging
import NotificationModel
import ServiceSupport

/// The topics that a lane writes to, with their partition counts.
struct LaneTargets {
    /// A topic that the lane writes to.
    struct Target {
        var handle: KafkaTopicHandle
        var partitions: Int32
    }

    /// The partition count of each input.
    var inputPartitions: Int32
    /// In the order of `LaneTopic`.
    private var targets: [Target]

    subscript(topic: LaneTopic) -> Target { targets[topic.rawValue] }

    /// Asks the broker until it answers: a lane waits for a broker that is unavailable at the start.
    ///
    /// - Returns: nil when a stop is requested meanwhile.
    /// - Throws: `ConsumerRefusal` when the counts differ, and fatal errors.
    static func find(
        with producer: KafkaLaneProducer,
        _ topics: TopicNames,
        stop: StopSignal,
        health: HealthComponent,
        _ logger: Logger
    ) throws -> LaneTargets? {
        // The broker returns metadata of a missing topic at once.
        let wait = BrokerWait(health: health, stop: stop, logger: logger) {
            producer.serveReports(within: .milliseconds(250)) { _ in }
        }
        return try wait.until {
            func target(_ name: String) throws -> Target {
                let count = try producer.partitionCount(of: name, within: .seconds(2))
                return .init(handle: try producer.topic(name), partitions: count)
            }
            let state = try target(topics.state)
            let counts = try PartitionCounts(state: state.partitions) { input in
                try producer.partitionCount(of: topics[input], within: .seconds(2))
            }
            return LaneTargets(
                inputPartitions: try counts.common(),
                targets: [
                    try target(topics.deliveries), try target(topics.deadLetters), state, try target(topics.signals),
                ]
            )
        }
    }
}
