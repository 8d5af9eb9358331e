import NotificationModel
public import ServiceSupport

/// The settings of the producer service.
///
/// `carillon-producer --help-settings` lists them with defaults, ranges and effects, as ``init(settings:)`` declares them.
public struct ProducerServiceConfiguration: ServiceConfiguration {
    /// The settings of both services. The service uses the topics `businessEvents`, `requests`, `signals`, `devices`,
    /// `categories`, `responses`
    /// and `deadLetters`.
    public var shared: SharedConfiguration
    /// The application of rules and calls without one.
    public var defaultApplication = "default"
    /// The YAML file of rules; nil leaves business events on their topic.
    public var rulesFile: String?
    /// What happens to business events that neither the rules nor `ignore:` of their file are for.
    public var unmatchedEvents = UnmatchedEvents.deadLetter
    /// The consumer group that reads business events, and the responses that rules are for.
    public var groupID = "carillon-producer"
    /// How often offsets are committed.
    public var commitInterval = Duration.milliseconds(100)
    /// Records derived from events that may wait for the broker.
    public var ingestBufferRecords = 50_000
    /// The HTTP API.
    public var http = HTTPConfiguration(prefix: "http", port: 8080)
    /// Bytes of a body of `POST /v1/events`.
    public var eventsBodyBytes = ModelLimits.businessEventBytes
    /// Bytes of a body of `PUT` of a notification.
    public var notificationBodyBytes = ModelLimits.requestBytes
    /// Notifications that one call may remove by their identifiers.
    public var removalIdentifiers = 1_000
    /// Records of calls that may wait for the broker.
    public var httpBufferRecords = 10_000

    /// All settings at their defaults.
    ///
    /// - Parameter bootstrapServers: Brokers as `host:port`.
    public init(bootstrapServers: [String]) {
        shared = SharedConfiguration(bootstrapServers: bootstrapServers)
    }
}

extension ProducerServiceConfiguration {
    /// Reads the settings. Problems are recorded in `settings`: use the result only after `settings.finish()`.
    public init(settings: inout ServiceSettings) {
        self.init(bootstrapServers: [])
        shared = SharedConfiguration(
            settings: &settings,
            topics: ["businessEvents", "requests", "signals", "devices", "categories", "responses", "deadLetters"],
            guarantee: """
                The guarantee for what business events become on `requests` and `dead-letters`. With \
                `exactly-once` an event's records and its offset are one transaction, so `read_committed` \
                readers see them once whatever fails; with `at-least-once` a failure can repeat them with \
                the same ids. The default is `exactly-once`, and `at-least-once` on the embedded broker, \
                which has no usable transactions. Calls over HTTP are at least once, with ids that identify repeats.
                """
        )
        defaultApplication = settings.application(default: defaultApplication)
        rulesFile = settings.optionalString(
            "rules.file",
            about: """
                The YAML file of rules, at most 1 MiB; reloaded on SIGHUP. Without it business events are \
                accepted over HTTP and left on their topic.
                """
        )
        unmatchedEvents = UnmatchedEvents(settings: &settings)
        groupID = settings.string(
            "ingest.group",
            default: groupID,
            about: "The consumer group that reads business events, and the responses that rules are for."
        )
        commitInterval = settings.duration(
            "ingest.commit.interval",
            default: commitInterval,
            in: .milliseconds(10) ... .seconds(60),
            about: """
                How often offsets are committed. With `exactly-once` it is how long a transaction is open, and \
                thus the delay for readers of `requests`; values above 2s then count as 2s.
                """
        )
        ingestBufferRecords = settings.int(
            "ingest.buffer.records",
            default: ingestBufferRecords,
            in: 1...1_000_000,
            about: "Records waiting for the broker; at the limit reading pauses."
        )
        http.read(&settings)
        eventsBodyBytes = settings.int(
            "http.events.bytes",
            default: eventsBodyBytes,
            in: 1...ModelLimits.businessEventBytes,
            about: """
                Bytes of a body of `POST /v1/events`; above it, or for an event too large for a record, 413 \
                (`message.max.bytes` of `kafka.properties`, 1000000 if not given, at least 65536).
                """
        )
        notificationBodyBytes = settings.int(
            "http.notification.bytes",
            default: notificationBodyBytes,
            in: 1...ModelLimits.requestBytes,
            about: "Bytes of a body of a notification; above it 413."
        )
        removalIdentifiers = settings.int(
            "http.removal.identifiers",
            default: removalIdentifiers,
            in: 1...10_000,
            about: "Notifications that one call may remove; above it 413."
        )
        httpBufferRecords = settings.int(
            "http.buffer.records",
            default: httpBufferRecords,
            in: 1...1_000_000,
            about: "Records of calls waiting for the broker; at the limit a call waits, then 503."
        )
    }
}
