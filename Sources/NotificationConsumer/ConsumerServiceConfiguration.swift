import Foundation
import Kafka
public import NotificationModel
public import ServiceSupport

/// The settings of the consumer service.
///
/// ## Settings
/// - `kafka.bootstrap.servers` (list, required): brokers as `host:port`.
/// - `kafka.properties` (map): any librdkafka property; wins over the service's own choices.
/// - `topics.prefix` (text, default `carillon.`) and `topics.requests`, `topics.deliveries`, `topics.state`,
///   `topics.deadLetters` (text): names that differ from the prefix and the topic's own name.
/// - `deployment` (text, default `default`): `ce_source` of events is `/carillon/<deployment>`.
/// - `consumer.group` (text, default `carillon-consumer`).
/// - `consumer.lanes` (integer, 1 to 64, default the number of cores): threads with a consumer and a producer each.
/// - `consumer.start` (`refuse`, `earliest`, `latest`; default `refuse`): where to start when there is no marker and the topic
///   is not empty.
/// - `consumer.gap` (`refuse`, `continue`; default `refuse`): what to do when requests after the marker are gone.
/// - `consumer.checkpoint.interval` (duration, 10ms to 10s, default 100ms).
/// - `consumer.outstanding.records` (integer, 100 to 1000000, default 50000): events of a lane waiting for the broker; at the
///   bound reading pauses.
/// - `center.retention` (duration, 1m to 365d, default 7d): how long delivered and closed ones are remembered.
/// - `center.entries` (integer, 1 to 100000000, default 1000000): entries of a partition; at the bound the longest unused are
///   forgotten, and when all are pending a new request is `suppressed` as `capped`.
/// - `drain.timeout` (duration, 1s to 1h, default 15s): how long shutdown waits for acknowledgements.
public struct ConsumerServiceConfiguration: Sendable {
    /// What to do without a marker.
    public enum Start: String, CaseIterable, Sendable {
        /// Say so and end.
        case refuse
        /// Read every request that the topic holds.
        case earliest
        /// Read what comes from now on.
        case latest
    }

    /// What to do when the topic no longer holds what comes after the marker.
    public enum Gap: String, CaseIterable, Sendable {
        /// Say so and end.
        case refuse
        /// Go on with what is there.
        case `continue`
    }

    /// Brokers as `host:port`.
    public var bootstrapServers: [String]
    /// librdkafka properties that win over the service's own choices.
    public var kafkaProperties: [String: String] = [:]
    /// Only `requests`, `deliveries`, `state` and `deadLetters` are used.
    public var topics = TopicNames()
    /// Part of `ce_source`.
    public var deployment = "default"
    /// The consumer group.
    public var groupID = "carillon-consumer"
    /// Threads, each with a consumer and a producer.
    public var lanes: Int
    /// Without a marker.
    public var start = Start.refuse
    /// When requests are gone.
    public var gap = Gap.refuse
    /// From one checkpoint to the next.
    public var checkpointInterval = Duration.milliseconds(100)
    /// Events of a lane that may wait for the broker.
    public var outstandingRecords = 50_000
    /// How long delivered and closed ones are remembered.
    public var retention = Duration.seconds(7 * 24 * 3600)
    /// Entries that a partition keeps.
    public var maximumEntries = 1_000_000
    /// How long shutdown waits.
    public var drainTimeout = Duration.seconds(15)

    /// Everything at its default.
    ///
    /// - Parameter bootstrapServers: Brokers as `host:port`.
    public init(bootstrapServers: [String]) {
        self.bootstrapServers = bootstrapServers
        lanes = max(1, min(64, ProcessInfo.processInfo.activeProcessorCount))
    }

    /// `ce_source` of everything the service publishes.
    public var source: String { "/carillon/\(deployment)" }
}

extension ConsumerServiceConfiguration {
    /// Reads the settings. What is wrong is noted in them: use the result only after `settings.finish()`.
    public init(settings: inout ServiceSettings) {
        let defaults = ConsumerServiceConfiguration(bootstrapServers: [])
        self = defaults
        bootstrapServers = settings.bootstrapServers()
        kafkaProperties = settings.dictionary("kafka.properties")
        topics = settings.topicNames(["requests", "deliveries", "state", "deadLetters"])
        deployment = settings.string("deployment", default: defaults.deployment)
        groupID = settings.string("consumer.group", default: defaults.groupID)
        lanes = settings.int("consumer.lanes", default: defaults.lanes, in: 1...64)
        start = settings.oneOf("consumer.start", default: defaults.start)
        gap = settings.oneOf("consumer.gap", default: defaults.gap)
        checkpointInterval = settings.duration(
            "consumer.checkpoint.interval",
            default: defaults.checkpointInterval,
            in: .milliseconds(10) ... .seconds(10)
        )
        outstandingRecords = settings.int(
            "consumer.outstanding.records",
            default: defaults.outstandingRecords,
            in: 100...1_000_000
        )
        retention = settings.duration(
            "center.retention",
            default: defaults.retention,
            in: .seconds(60) ... .seconds(365 * 24 * 3600)
        )
        maximumEntries = settings.int("center.entries", default: defaults.maximumEntries, in: 1...100_000_000)
        drainTimeout = settings.duration(
            "drain.timeout",
            default: defaults.drainTimeout,
            in: .seconds(1) ... .seconds(3_600)
        )
    }
}

extension ConsumerServiceConfiguration {
    private var client: KafkaClientConfiguration {
        KafkaClientConfiguration(
            bootstrapServers: bootstrapServers,
            clientID: groupID,
            properties: kafkaProperties
        )
    }

    /// For the lanes' consumers.
    var groupConsumer: KafkaConsumerConfiguration {
        var consumer = KafkaConsumerConfiguration(client: client, groupID: groupID)
        // The marker says where to start; an offset that the broker does not hold must not be replaced in silence.
        consumer.offsetReset = .error
        consumer.revokeTimeout = drainTimeout / 2
        return consumer
    }

    /// For reading `state`.
    var stateConsumer: KafkaConsumerConfiguration { KafkaConsumerConfiguration(client: client) }

    /// For the lanes' producers: they wait for a broker that is away for as long as it takes.
    var laneProducer: KafkaProducerConfiguration {
        var producer = KafkaProducerConfiguration(client: client)
        // Beyond the lane's own bound there must be room for what one removal of all can publish.
        producer.maximumBufferedRecords = outstandingRecords * 2
        return producer
    }
}
