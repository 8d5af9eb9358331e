import Foundation

/// The settings of the consumer service.
///
/// `carillon-consumer --help-settings` lists them with defaults, ranges and effects, as ``init(settings:)`` declares them.
public struct ConsumerServiceConfiguration: ServiceConfiguration {
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

    /// How notifications leave.
    public enum Channel: String, CaseIterable, Sendable {
        /// In the `delivered` event.
        case events
        /// To nobody, as a channel that sends would: for trying out pipelines.
        case test
    }

    /// How the channel `test` answers.
    public struct TestAnswers: Sendable {
        /// From the begin of a send to its answer.
        public var latency = Duration.milliseconds(50)
        /// Of a thousand notifications.
        public var rejections = 0
        /// Of a thousand attempts.
        public var timeouts = 0
    }

    /// Those that both services have. Of the topics `requests`, `deliveries`, `state` and `deadLetters` are used.
    public var shared: SharedConfiguration
    /// The consumer group.
    public var groupID = "carillon-consumer"
    /// Threads, each with a consumer and a producer.
    public var lanes: Int
    /// Without a marker.
    public var start = Start.refuse
    /// When requests are gone.
    public var gap = Gap.refuse
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
    /// How notifications leave.
    public var channel = Channel.events
    /// For the channel `test`.
    public var testChannel = TestAnswers()
    /// Sends of a lane that may have no outcome.
    public var outstandingSends = 2000
    /// Those of them that the channel has.
    public var concurrentSends = 500
    /// How long a channel has to answer.
    public var sendTimeout = Duration.seconds(30)
    /// How long delivered and closed ones are remembered.
    public var retention = Duration.seconds(7 * 24 * 3600)
    /// Entries that a partition keeps.
    public var maximumEntries = 1_000_000
    /// Entries that a partition keeps in use although nothing of theirs is near.
    public var residentEntries = 20_000
    /// Entries that a removal of everything a recipient has changes before a checkpoint may come between.
    package var entriesPerPiece = 1000

    /// Everything at its default.
    ///
    /// - Parameter bootstrapServers: Brokers as `host:port`.
    public init(bootstrapServers: [String]) {
        shared = SharedConfiguration(bootstrapServers: bootstrapServers)
        lanes = max(1, min(64, ProcessInfo.processInfo.activeProcessorCount))
    }
}

extension ConsumerServiceConfiguration {
    /// Reads the settings. What is wrong is noted in them: use the result only after `settings.finish()`.
    public init(settings: inout ServiceSettings) {
        let defaults = ConsumerServiceConfiguration(bootstrapServers: [])
        self = defaults
        shared = SharedConfiguration(
            settings: &settings,
            topics: ["requests", "deliveries", "state", "deadLetters"],
            guarantee: """
                What is promised of events and state on Kafka. In `exactly-once` events, changelog and offsets \
                of a checkpoint are one transaction, so `read_committed` readers see no repeat. Not given, it is \
                `exactly-once`, and `at-least-once` on the embedded broker, which has no transactions to speak \
                of. `at-least-once` is for brokers without transactions: nothing fences `state` there, so an \
                instance that stood still for longer than the session timeout can overwrite what the next owner \
                of its partitions wrote, and a notification that was cancelled meanwhile can come back.
                """,
            instance: """
                When it is given, the group keeps an instance's partitions for it while it restarts within the \
                session timeout (`session.timeout.ms` in `kafka.properties`).
                """
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
        readChannel(&settings, defaults)
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
    }

    private mutating func readChannel(_ settings: inout ServiceSettings, _ defaults: ConsumerServiceConfiguration) {
        channel = settings.oneOf(
            "channel",
            default: defaults.channel,
            about: """
                How notifications leave. With `events` the `delivered` event carries the notification, for your own \
                gateway. `test` sends to nobody and answers as a channel to devices does: for trying out pipelines and \
                for load tests.
                """
        )
        outstandingSends = settings.int(
            "consumer.outstanding.sends",
            default: defaults.outstandingSends,
            in: 1...1_000_000,
            about: """
                Sends of a lane without an outcome; at the bound reading and timers pause. The channel `events` has none.
                """
        )
        concurrentSends = settings.int(
            "consumer.concurrent.sends",
            default: defaults.concurrentSends,
            in: 1...1_000_000,
            about: """
                Sends of a lane that the channel has at one time; the others wait, and a removal can still stop them.
                """
        )
        sendTimeout = settings.duration(
            "consumer.send.timeout",
            default: defaults.sendTimeout,
            in: .milliseconds(10) ... .seconds(600),
            about: "How long the channel has to answer a send; then it has failed, and is tried again after a pause."
        )
        testChannel.latency = settings.duration(
            "test-channel.latency",
            default: defaults.testChannel.latency,
            in: .zero ... .seconds(600),
            about: "After how long the channel `test` answers."
        )
        testChannel.rejections = settings.int(
            "test-channel.rejections",
            default: defaults.testChannel.rejections,
            in: 0...1000,
            about: """
                Of a thousand notifications, how many the channel `test` rejects: the same at every attempt and run.
                """
        )
        testChannel.timeouts = settings.int(
            "test-channel.timeouts",
            default: defaults.testChannel.timeouts,
            in: 0...1000,
            about: "Of a thousand attempts, how many the channel `test` does not answer: the same at every run."
        )
    }
}
