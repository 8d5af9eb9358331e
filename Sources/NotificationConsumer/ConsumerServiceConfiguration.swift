import Foundation
import Kafka
public import NotificationModel
public import ServiceSupport

/// The settings of the consumer service.
///
/// `carillon-consumer --help-settings` lists them with defaults, ranges and effects, as ``init(settings:)`` declares them.
public struct ConsumerServiceConfiguration: Sendable {
    /// What to do without a marker.
    public enum Start: String, CaseIterable, Sendable {
        /// Read every request of a partition that nothing was ever done with; of any other, say so and end.
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
    /// What is promised; nil for what the cluster can.
    public var guarantee: DeliveryGuarantee?
    /// Tells this instance from those that run at the same time.
    public var instanceID = ServiceSettings.hostName
    /// Whether the group knows the instance by its id.
    public var isInstanceNamed = false
    /// Where committed entries are kept on disk; nil for memory.
    public var storeDirectory: String?
    /// How old a file may be to be used.
    public var deletionsKept = Duration.seconds(23 * 3600)
    /// Changes of a lane that the disk may be behind.
    public var unwrittenChanges = 100_000
    /// From one checkpoint to the next.
    public var checkpointInterval = Duration.milliseconds(100)
    /// Changed entries of a lane that do not wait for it.
    public var checkpointEntries = 20_000
    /// Events of a lane that may wait for the broker.
    public var outstandingRecords = 50_000
    /// How long delivered and closed ones are remembered.
    public var retention = Duration.seconds(7 * 24 * 3600)
    /// Entries that a partition keeps.
    public var maximumEntries = 1_000_000
    /// Entries that a partition keeps in use although nothing of theirs is near.
    public var residentEntries = 20_000
    /// Entries that a removal of everything a recipient has changes before a checkpoint may come between.
    package var entriesPerPiece = 1000
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
        kafkaProperties = settings.dictionary(
            "kafka.properties",
            about: """
                Any librdkafka property; wins over the service's own choices. In the variable a comma within a value is \
                written `\\,`.
                """,
            isName: KafkaClientConfiguration.isProperty
        )
        topics = settings.topicNames(["requests", "deliveries", "state", "deadLetters"])
        deployment = settings.deployment(
            default: defaults.deployment,
            about: "`ce_source` of what is published is `/carillon/<deployment>`."
        )
        groupID = settings.string(
            "consumer.group",
            default: defaults.groupID,
            about: "The consumer group that reads requests."
        )
        lanes = settings.int(
            "consumer.lanes",
            default: defaults.lanes,
            in: 1...64,
            about: "Threads with a consumer and a producer each."
        )
        start = settings.oneOf(
            "consumer.start",
            default: defaults.start,
            about: """
                Where to start when there is no marker and the topic is not empty. With `refuse` a partition that \
                nothing was ever done with is read from its first request on: `requests` begins at offset 0, its \
                part of `state` is empty, and the group has no offset for it.
                """
        )
        gap = settings.oneOf(
            "consumer.on-gap",
            default: defaults.gap,
            about: """
                What to do when requests after the marker are gone, or part of the changelog is. A topic of requests \
                that ends before its marker was made again: `continue` reads it from its beginning.
                """
        )
        guarantee = settings.deliveryGuarantee(
            about: """
                What is promised of events and state on Kafka. In `exactly-once` events, changelog and offsets \
                of a checkpoint are one transaction, so `read_committed` readers see no repeat. Not given, it is \
                `exactly-once`, and `at-least-once` on the embedded broker, which has no transactions to speak \
                of. `at-least-once` is for brokers without transactions: nothing fences `state` there, so an \
                instance that stood still for longer than the session timeout can overwrite what the next owner \
                of its partitions wrote, and a notification that was cancelled meanwhile can come back.
                """
        )
        if let name = settings.optionalString(
            "instance.id",
            about: """
                Tells instances of one group apart, for their transactions (without it the name of the host); \
                the same at each start of an instance, and never that of another that runs at the same time. \
                When it is given, the group keeps an instance's partitions for it while it restarts within the \
                session timeout (`session.timeout.ms` in `kafka.properties`).
                """
        ) {
            (instanceID, isInstanceNamed) = (name, true)
        }
        storeDirectory = settings.optionalString(
            "store.directory",
            about: """
                Where committed entries are kept on disk, a file a partition; a copy of the changelog that makes \
                restarts fast and memory small, and can be deleted at any time. Without it they are kept in \
                memory, and so they are while the disk is full or fails; a directory that may not be made or written \
                stops the start.
                """
        )
        deletionsKept = settings.duration(
            "store.deletions.kept",
            default: defaults.deletionsKept,
            in: .seconds(60) ... .seconds(365 * 24 * 3600),
            about: """
                A file that was written longer ago is not used, for it may have missed a deletion: below \
                `delete.retention.ms` of the topic `state`.
                """
        )
        unwrittenChanges = settings.int(
            "store.unwritten",
            default: defaults.unwrittenChanges,
            in: 1000...10_000_000,
            about: "Changes of a lane that the disk is behind; at the bound reading pauses, and timers fire on."
        )
        checkpointInterval = settings.duration(
            "consumer.checkpoint.interval",
            default: defaults.checkpointInterval,
            in: .milliseconds(10) ... .seconds(2),
            about: """
                How long work is collected before it is made durable; in `exactly-once` what readers of \
                `deliveries` wait for.
                """
        )
        checkpointEntries = settings.int(
            "consumer.checkpoint.entries",
            default: defaults.checkpointEntries,
            in: 100...1_000_000,
            about: """
                Changed entries of a lane after which a checkpoint does not wait for its time; at twice as many \
                reading pauses.
                """
        )
        outstandingRecords = settings.int(
            "consumer.outstanding.records",
            default: defaults.outstandingRecords,
            in: 100...1_000_000,
            about: "Events of a lane waiting for the broker; at the bound reading pauses."
        )
        retention = settings.duration(
            "center.retention",
            default: defaults.retention,
            in: .seconds(60) ... .seconds(365 * 24 * 3600),
            about: "How long delivered and closed ones are remembered."
        )
        maximumEntries = settings.int(
            "center.entries",
            default: defaults.maximumEntries,
            in: 1...100_000_000,
            about: """
                Entries of a partition; at the bound the longest unused are forgotten, and when all are pending \
                a new request is `suppressed` as `capped`.
                """
        )
        residentEntries = settings.int(
            "center.resident.entries",
            default: defaults.residentEntries,
            in: 100...100_000_000,
            about: """
                Entries of a partition that are kept in use although nothing of theirs is near; beyond it those \
                that were not touched for longest go to the store.
                """
        )
        drainTimeout = settings.duration(
            "drain.timeout",
            default: defaults.drainTimeout,
            in: .seconds(1) ... .seconds(3_600),
            about: "How long shutdown waits for acknowledgements."
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

    /// After so long without an answer the group gives partitions to another member.
    var sessionTimeout: Duration {
        .milliseconds(kafkaProperties["session.timeout.ms"].flatMap { Int64($0) } ?? 45_000)
    }

    /// After so long the broker aborts a transaction: an owner that stands still holds readers back no longer.
    var transactionTimeout: Duration { .seconds(10) }

    /// How long a commit is repeated before its outcome counts as unknown.
    var commitTimeout: Duration { .seconds(30) }

    /// For the lanes' consumers.
    func groupConsumer(lane: Int) -> KafkaConsumerConfiguration {
        var consumer = KafkaConsumerConfiguration(client: client, groupID: groupID)
        // The marker says where to start; an offset that the broker does not hold must not be replaced in silence.
        consumer.offsetReset = .error
        consumer.revokeTimeout = min(drainTimeout, sessionTimeout) / 2
        consumer.tellsEnd = true
        if isInstanceNamed { consumer.client.properties["group.instance.id"] = "\(instanceID)-\(lane)" }
        return consumer
    }

    /// For reading `state`.
    func stateConsumer(uncommitted: Bool) -> KafkaConsumerConfiguration {
        var consumer = KafkaConsumerConfiguration(client: client)
        consumer.readsUncommitted = uncommitted
        consumer.tellsEnd = true
        consumer.client.properties["isolation.level"] = nil
        return consumer
    }

    /// Bytes that a checkpoint of a lane may write at most. Twice as many, and what one record adds, fit librdkafka's queue, so
    /// that none waits for room without end; and in a transaction it is less than what a broker of some MB/s writes in time.
    func largestCheckpoint(_ guarantee: DeliveryGuarantee) -> Int {
        let own = kafkaProperties["queue.buffering.max.kbytes"].flatMap { Int($0) }
        let queue = min(own ?? .max, Self.queueKibibytes) * 1024
        return min(guarantee == .exactlyOnce ? 16 << 20 : 64 << 20, queue / 4)
    }

    private static let queueKibibytes = 256 * 1024

    /// For the lanes' producers: they wait for a broker that is away for as long as it takes, or as a transaction may.
    func laneProducer(_ guarantee: DeliveryGuarantee, lane: Int) -> KafkaProducerConfiguration {
        var producer = KafkaProducerConfiguration(client: client)
        // Beyond the lane's own bound there must be room for what one checkpoint, or one removal of all, can publish.
        producer.maximumBufferedRecords = outstandingRecords * 2 + checkpointEntries * 2
        producer.maximumBufferedKibibytes = Self.queueKibibytes
        if guarantee == .exactlyOnce {
            producer.transactionalID = "\(groupID)-\(instanceID)-\(lane)"
            producer.transactionTimeout = transactionTimeout
        }
        return producer
    }
}
