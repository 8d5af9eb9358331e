import Kafka
import Logging
import NotificationModel
import NotificationState
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
    /// The inputs that are read: without `tokens` where that topic is missing or has another count.
    var inputs: [InputTopic]
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
                guard input != .tokens else { return state.partitions }
                return try producer.partitionCount(of: topics[input], within: .seconds(2))
            }
            let count = try counts.common()
            let tokens = try optional { try target(topics.tokens) }
            let readsTokens = tokens?.partitions == count
            if !readsTokens { warn(topics.tokens, tokens?.partitions, count, logger) }
            return LaneTargets(
                inputPartitions: count,
                inputs: InputTopic.allCases.filter { readsTokens || $0 != .tokens },
                targets: [
                    try target(topics.deliveries), try target(topics.deadLetters), state, try target(topics.signals),
                    try target(topics.responses),
                    readsTokens ? tokens ?? state : .init(handle: state.handle, partitions: 0),
                ]
            )
        }
    }

    /// - Returns: nil for a topic that does not exist.
    private static func optional(_ find: () throws -> Target) throws -> Target? {
        do {
            return try find()
        } catch let error as KafkaError where error.code == .unknownTopicOrPartition || error.code == .unknownTopic {
            return nil
        }
    }

    private static func warn(_ topic: String, _ found: Int32?, _ count: Int32, _ logger: Logger) {
        logger.error(
            """
            tokens that move between recipients are not followed: create the topic, compacted, with as many partitions as \
            the inputs, and start again
            """,
            metadata: [
                LogMetadata.topic: "\(topic)", LogMetadata.partitions: "\(found.map { "\($0)" } ?? "none")",
                "wanted": "\(count)",
            ]
        )
    }
}
