import Foundation
public import NotificationModel

/// The settings of the consumer service.
///
/// `carillon-consumer --help-settings` lists them with defaults, ranges and effects, as ``init(settings:)`` declares them.
public struct ConsumerServiceConfiguration: ServiceConfiguration {
    /// Where to start without a marker.
    public enum Start: String, CaseIterable, Sendable {
        /// Read every request of an unused partition; otherwise report an error and stop.
        case refuse
        /// Read every request in the topic.
        case earliest
        /// Read only new requests.
        case latest
    }

    /// What to do when the topic has lost requests after the marker.
    public enum Gap: String, CaseIterable, Sendable {
        /// Report an error and stop.
        case refuse
        /// Continue with the remaining requests.
        case `continue`
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

    /// The settings of both services. The service uses the topics `requests`, `signals`, `deliveries`,
    /// `state` and `deadLetters`.
    public var shared: SharedConfiguration
    /// The consumer group.
    public var groupID = "carillon-consumer"
    /// Threads, each with a consumer and a producer.
    public var lanes: Int
    /// Where to start without a marker.
    public var start = Start.refuse
    /// What to do when requests are lost.
    public var gap = Gap.refuse
    /// The directory for committed entries; nil keeps them in memory.
    public var storeDirectory: String?
    /// The maximum age of a usable file.
    public var deletionsKept = Duration.seconds(23 * 3600)
    /// Changes of a lane that may wait for the disk.
    public var unwrittenChanges = 100_000
    /// Time between two checkpoints.
    public var checkpointInterval = Duration.milliseconds(100)
    /// Changed entries of a lane that trigger a checkpoint early.
    public var checkpointEntries = 20_000
    /// Events of a lane that may wait for the broker.
    public var outstandingRecords = 50_000
    /// How notifications leave that name no channel.
    public var channel = ChannelName.events
    /// What else notifications may name.
    public var furtherChannels: Set<ChannelName> = []
    /// All channels of the service. With `devices` it has those of the platforms whose settings are there.
    public var channels: Set<ChannelName> {
        var all = furtherChannels.union([channel])
        guard all.contains(.devices) else { return all }
        if !apns.applicationsFile.isEmpty { all.insert(.apns) }
        if !fcm.applicationsFile.isEmpty { all.insert(.fcm) }
        if !webPush.applicationsFile.isEmpty { all.insert(.webpush) }
        return all
    }
    /// For the channel `test`.
    public var testChannel = TestAnswers()
    /// For the channel `webhook`.
    public var webhook = Webhook()
    /// For the channel `apns`.
    public var apns = APNs()
    /// For the channel `fcm`.
    public var fcm = FCM()
    /// For the channel `webpush`.
    public var webPush = WebPush()
    /// The enrichment of notifications.
    public var enrichment = Enrichment()
    /// Fetched media.
    public var media = Media()
    /// Which addresses the service may connect to.
    public var egress = Egress()
    /// When failed sends are tried again.
    public var retry = Retry()
    /// Sends of a lane that may have no outcome.
    public var outstandingSends = 2000
    /// Those of them that the channel has.
    public var concurrentSends = 500
    /// Sends of the process in a second; 0 for no limit.
    public var sendRate = 0
    /// Sends that may begin at once after a pause.
    public var sendBurst = 100
    /// How long a channel has to answer.
    public var sendTimeout = Duration.seconds(30)
    /// The application of queries that name none.
    public var defaultApplication = "default"
    /// Whether the service answers queries over HTTP.
    public var answersQueries = false
    /// The HTTP API for queries.
    public var queries = HTTPConfiguration(prefix: "queries", port: 8083)
    /// The time zone of calendar triggers that name none, by its IANA name.
    public var timeZone = "UTC"
    /// How long delivered and closed notifications are remembered.
    public var retention = Duration.seconds(7 * 24 * 3600)
    /// Maximum number of entries of a partition.
    public var maximumEntries = 1_000_000
    /// Maximum number of recipients with devices, regions or digests, and of owned tokens, of a partition.
    public var maximumRecipients = 10_000_000
    /// Entries of a partition that stay in memory without a timer that is due soon.
    public var residentEntries = 20_000
    /// Notifications of a recipient in an application that may wait for a region.
    public var regionsPerRecipient = 100
    /// Active devices of a recipient in an application.
    public var devicesPerRecipient = 16
    /// Whether events list how a gateway reaches each device: platform, token, environment and bundle identifier.
    public var listsRegistrations = true
    /// Whether a recipient without a registered device gets nothing.
    public var requiresDevice = false
    /// How long an app counts as being in the foreground after it said so.
    public var foregroundKept: Duration = .seconds(3600)
    /// Entries that a removal of all of a recipient's notifications changes before a checkpoint may interrupt it.
    package var entriesPerPiece = 1000
    /// Slots of entries of a partition whose memory is kept after a burst.
    package var keptSlots = 1024

    /// All settings at their defaults.
    ///
    /// - Parameter bootstrapServers: Brokers as `host:port`.
    public init(bootstrapServers: [String]) {
        shared = SharedConfiguration(bootstrapServers: bootstrapServers)
        lanes = max(1, min(64, ProcessInfo.processInfo.activeProcessorCount))
    }
}

extension ConsumerServiceConfiguration {
    /// Reads the settings. Problems are recorded in `settings`: use the result only after `settings.finish()`.
    public init(settings: inout ServiceSettings) {
        let defaults = ConsumerServiceConfiguration(bootstrapServers: [])
        self = defaults
        shared = SharedConfiguration(
            settings: &settings,
            topics: [
                "requests", "signals", "devices", "categories", "tokens", "deliveries", "responses", "state",
                "deadLetters",
            ],
            guarantee: """
                The guarantee for events and state on Kafka. With `exactly-once`, events, changelog and offsets \
                of a checkpoint are one transaction, so `read_committed` readers see no repeat. The default is \
                `exactly-once`, and `at-least-once` on the embedded broker, which has no usable \
                transactions. `at-least-once` is for brokers without transactions: `state` is not fenced there, so an \
                instance that paused for longer than the session timeout can overwrite changes of the next owner \
                of its partitions, and a notification cancelled meanwhile can reappear.
                """,
            instance: """
                If set, the group keeps the instance's partitions for it during a restart within the \
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
            about: "Threads, each with a consumer and a producer."
        )
        start = settings.oneOf(
            "consumer.start",
            default: defaults.start,
            about: """
                Where to start without a marker when the topic is not empty. With `refuse` an unused partition \
                is read from its first request: unused means that `requests` begins at offset 0, the partition's \
                part of `state` is empty, and the group has no offset for it.
                """
        )
        gap = settings.oneOf(
            "consumer.on-gap",
            default: defaults.gap,
            about: """
                What to do when requests after the marker, or parts of the changelog, are lost. If the requests topic \
                ends before the marker, it was recreated: `continue` reads it from its beginning.
                """
        )
        storeDirectory = settings.optionalString(
            "store.directory",
            about: """
                The directory for committed entries, one file per partition: a copy of the changelog that makes \
                restarts fast and saves memory, and can be deleted at any time. Without it entries are kept in \
                memory, and also while the disk is full or fails. A directory that cannot be created or written \
                prevents the start.
                """
        )
        deletionsKept = settings.duration(
            "store.deletions.kept",
            default: defaults.deletionsKept,
            in: .seconds(60) ... .seconds(365 * 24 * 3600),
            about: """
                An older file is not used, because it may have missed a deletion; must be below \
                `delete.retention.ms` of the topic `state`.
                """
        )
        unwrittenChanges = settings.int(
            "store.unwritten",
            default: defaults.unwrittenChanges,
            in: 1000...10_000_000,
            about: "Changes of a lane that wait for the disk; at the limit reading pauses, and timers keep firing."
        )
        checkpointInterval = settings.duration(
            "consumer.checkpoint.interval",
            default: defaults.checkpointInterval,
            in: .milliseconds(10) ... .seconds(2),
            about: """
                How long changes are collected before they are made durable; with `exactly-once` the delay for \
                readers of `deliveries`.
                """
        )
        checkpointEntries = settings.int(
            "consumer.checkpoint.entries",
            default: defaults.checkpointEntries,
            in: 100...1_000_000,
            about: """
                Changed entries of a lane that trigger a checkpoint before its interval ends; at twice as many \
                reading pauses.
                """
        )
        outstandingRecords = settings.int(
            "consumer.outstanding.records",
            default: defaults.outstandingRecords,
            in: 100...1_000_000,
            about: "Events of a lane waiting for the broker; at the limit reading pauses."
        )
        readChannel(&settings, defaults)
        readQueries(&settings)
        checkMediaAddress(&settings)
        timeZone = settings.timeZone(
            "schedule.time-zone",
            default: defaults.timeZone,
            about: """
                The time zone of calendar triggers and quiet hours that name none, of recipients without a device in a zone. \
                What is scheduled already keeps its zone.
                """
        )
        retention = settings.duration(
            "center.retention",
            default: defaults.retention,
            in: .seconds(60) ... .seconds(365 * 24 * 3600),
            about: "How long delivered and closed notifications are remembered."
        )
        maximumEntries = settings.int(
            "center.entries",
            default: defaults.maximumEntries,
            in: 1...100_000_000,
            about: """
                Entries of a partition; at the limit the least recently used are dropped, and when all are pending \
                a new request is `suppressed` as `capped`.
                """
        )
        maximumRecipients = settings.int(
            "center.recipients",
            default: defaults.maximumRecipients,
            in: 1...1_000_000_000,
            about: """
                Recipients of a partition with devices, regions or digests, and owners of tokens, beside \
                `center.entries`; at the limit the first device of another one is refused as `capped`.
                """
        )
        residentEntries = settings.int(
            "center.resident.entries",
            default: defaults.residentEntries,
            in: 100...100_000_000,
            about: """
                Entries of a partition that stay in memory without a timer that is due soon; beyond it the least \
                recently used go to the store.
                """
        )
        readRegions(&settings, defaults)
        readDevices(&settings, defaults)
    }

    private mutating func readDevices(_ settings: inout ServiceSettings, _ defaults: ConsumerServiceConfiguration) {
        devicesPerRecipient = settings.int(
            "center.devices",
            default: defaults.devicesPerRecipient,
            in: 1...1000,
            about: """
                Devices of a recipient in an application; at the limit a new one retires the one that was registered longest \
                ago. Each change of one rewrites what is kept of its recipient, about 400 bytes a device.
                """
        )
        listsRegistrations = settings.bool(
            "deliveries.registrations",
            default: defaults.listsRegistrations,
            about: """
                Whether events list the platform, token, environment and bundle identifier of each device, as a gateway \
                needs them. Without them who reads `deliveries` sees no tokens, and the gateway has its own table.
                """
        )
        requiresDevice = settings.bool(
            "devices.required",
            default: defaults.requiresDevice,
            about: """
                Whether a notification for a recipient without a registered device is `suppressed` as `no-device`. \
                Otherwise it is delivered without a list of devices, for a gateway that knows them.
                """
        )
        foregroundKept = settings.duration(
            "devices.foreground",
            default: defaults.foregroundKept,
            in: .seconds(10) ... .seconds(24 * 3600),
            about: "How long an app counts as being in the foreground after it said so: it may end without saying it."
        )
    }

    private mutating func readRegions(_ settings: inout ServiceSettings, _ defaults: ConsumerServiceConfiguration) {
        regionsPerRecipient = settings.int(
            "center.regions",
            default: defaults.regionsPerRecipient,
            in: 1...1000,
            about: """
                Notifications of a recipient, in an application, that wait for a region; at the limit a new request with a \
                location trigger is `suppressed` as `capped`. Each location of a device rewrites what is kept of its \
                recipient, about 250 bytes a region.
                """
        )
    }

    private mutating func readQueries(_ settings: inout ServiceSettings) {
        defaultApplication = settings.application(default: defaultApplication)
        answersQueries = settings.bool(
            "queries.enabled",
            default: answersQueries,
            about: "Whether the consumer service answers queries of what recipients have, over HTTP."
        )
        queries.read(&settings)
    }

    private mutating func readChannel(_ settings: inout ServiceSettings, _ defaults: ConsumerServiceConfiguration) {
        channel = settings.oneOf(
            "channel",
            default: defaults.channel,
            about: """
                How notifications leave whose request names no channel. With `events` the `delivered` event carries the notification, for your own \
                gateway. `webhook` posts it to a URL. `devices` sends it to each \
                device of the recipient by the channel of its platform, `apns` to Apple devices only, `fcm` to Android devices only, `webpush` to browsers only. `test` sends to nobody and answers as a channel to devices does: \
                for trying out pipelines and for load tests.
                """
        )
        furtherChannels = settings.choices(
            "channels",
            about: """
                Further channels that a request, or its rule, may name as its `channel`. What names one that the service \
                does not have goes to the dead letters.
                """
        )
        readRetry(&settings, defaults.retry)
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
                Sends of a lane that the channel has at one time; the others wait, and a removal can still stop them. \
                Time-sensitive and critical ones may exceed it by a tenth, unless the channel has a bound of its own.
                """
        )
        sendRate = settings.int(
            "consumer.send.rate",
            default: defaults.sendRate,
            in: 0...1_000_000,
            about: """
                Sends of the process in a second, which its lanes share equally; 0 for no limit. The others wait: \
                time-sensitive before active before passive ones.
                """
        )
        sendBurst = settings.int(
            "consumer.send.burst",
            default: defaults.sendBurst,
            in: 1...1_000_000,
            about: "With a rate, how many sends may begin at once after a pause."
        )
        sendTimeout = settings.duration(
            "consumer.send.timeout",
            default: defaults.sendTimeout,
            in: .milliseconds(10) ... .seconds(600),
            about: "How long the channel has to answer a send; then it has failed, and is tried again after a pause."
        )
        readEgress(&settings)
        readWebhook(&settings, defaults.webhook)
        readAPNs(&settings, defaults.apns)
        readFCM(&settings, defaults.fcm)
        readWebPush(&settings, defaults.webPush)
        checkDevices(&settings)
        readEnrichment(&settings, defaults.enrichment)
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
