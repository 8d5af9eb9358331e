import Foundation
public import NotificationModel
public import ServiceSupport

/// The settings of the consumer service.
///
/// `carillon-consumer --help-settings` lists them with defaults, ranges and effects, as ``init(settings:)`` declares them.
public struct ConsumerServiceConfiguration: ServiceConfiguration {
    /// The settings of both services. The service uses the topics `requests`, `signals`, `deliveries`,
    /// `state` and `deadLetters`.
    public var shared: SharedConfiguration
    /// The consumer group.
    public var groupID = "carillon-consumer"
    /// Threads, each with a consumer and a producer.
    public var lanes: Int
    /// Where a lane begins, and how much it has at one time.
    package var lane = LaneConfiguration()
    /// Where committed entries are kept.
    package var store = StoreConfiguration()
    /// What is remembered.
    package var center = CenterConfiguration()
    /// How notifications leave that name no channel.
    public var channel = ChannelName.events
    /// What else notifications may name. With `devices` it has the channels of the platforms that the program has settings of.
    public var furtherChannels: Set<ChannelName> = []
    /// All channels of the service.
    public var channels: Set<ChannelName> { furtherChannels.union([channel]) }
    /// When failed sends are tried again.
    package var retry = RetryPolicy()
    /// The times and bounds of enrichments.
    package var enrichment = LaneEnrichmentConfiguration()
    /// The application of queries that name none.
    public var defaultApplication = "default"
    /// Whether the service answers queries over HTTP.
    public var answersQueries = false
    /// The HTTP API for queries.
    public var queries = HTTPConfiguration(prefix: "queries", port: 8083)
    /// The time zone of calendar triggers that name none, by its IANA name.
    public var timeZone = "UTC"

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
        self.init(bootstrapServers: [])
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
            default: groupID,
            about: "The consumer group that reads requests."
        )
        lanes = settings.int(
            "consumer.lanes",
            default: lanes,
            in: 1...64,
            about: "Threads, each with a consumer and a producer."
        )
        lane = LaneConfiguration(settings: &settings)
        store = StoreConfiguration(settings: &settings)
        channel = settings.oneOf(
            "channel",
            default: channel,
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
        retry = RetryPolicy(settings: &settings)
        enrichment = LaneEnrichmentConfiguration(settings: &settings)
        defaultApplication = settings.application(default: defaultApplication)
        answersQueries = settings.bool(
            "queries.enabled",
            default: answersQueries,
            about: "Whether the consumer service answers queries of what recipients have, over HTTP."
        )
        queries.read(&settings)
        timeZone = settings.timeZone(
            "schedule.time-zone",
            default: timeZone,
            about: """
                The time zone of calendar triggers and quiet hours that name none, of recipients without a device in a zone. \
                What is scheduled already keeps its zone.
                """
        )
        center = CenterConfiguration(settings: &settings)
    }
}
