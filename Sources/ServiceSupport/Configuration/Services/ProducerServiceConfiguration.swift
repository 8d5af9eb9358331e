import NotificationModel

/// The settings of the producer service.
///
/// `carillon-producer --help-settings` lists them with defaults, ranges and effects, as ``init(settings:)`` declares them.
public struct ProducerServiceConfiguration: ServiceConfiguration {
    /// The settings of both services. The service uses the topics `businessEvents`, `requests` and `deadLetters`.
    public var shared: SharedConfiguration
    /// The application of rules and calls without one.
    public var defaultApplication: String
    /// The YAML file of rules; nil leaves business events on their topic.
    public var rulesFile: String?
    /// The consumer group that reads business events.
    public var groupID: String
    /// How often offsets are committed.
    public var commitInterval: Duration
    /// Records derived from events that may wait for the broker.
    public var ingestBufferRecords: Int
    /// The address of the API.
    public var httpHost: String
    /// The port of the API; 0 takes a free one.
    public var httpPort: Int
    /// How long a call waits for the broker.
    public var httpDeadline: Duration
    /// Bytes of a body of `POST /v1/events`.
    public var eventsBodyBytes: Int
    /// Bytes of a body of `PUT` of a notification.
    public var notificationBodyBytes: Int
    /// The file of tokens and their roles; nil lets every client call that can connect.
    public var tokensFile: String?
    /// The PEM file of the certificate chain; nil for plain HTTP.
    public var tlsCertificate: String?
    /// The PEM file of the certificate's key.
    public var tlsKey: String?
    /// Bytes of a request's path and query.
    public var targetBytes: Int
    /// Bytes of the names and values of a request's header fields.
    public var headerBytes: Int
    /// Header fields of a request.
    public var headerCount: Int
    /// Bytes of bodies and unfinished heads of all calls at one time.
    public var callBytes: Int
    /// Notifications that one call may remove by their identifiers.
    public var removalIdentifiers: Int
    /// How long a request may take to arrive completely.
    public var httpReceiveTimeout: Duration
    /// Maximum number of concurrent connections.
    public var httpConnections: Int
    /// How long a connection may be idle.
    public var httpIdleTimeout: Duration
    /// Records of calls that may wait for the broker.
    public var httpBufferRecords: Int

    /// All settings at their defaults.
    ///
    /// - Parameter bootstrapServers: Brokers as `host:port`.
    public init(bootstrapServers: [String]) {
        shared = SharedConfiguration(bootstrapServers: bootstrapServers)
        defaultApplication = "default"
        rulesFile = nil
        groupID = "carillon-producer"
        commitInterval = .milliseconds(100)
        ingestBufferRecords = 50_000
        httpHost = "127.0.0.1"
        httpPort = 8080
        httpDeadline = .seconds(10)
        eventsBodyBytes = ModelLimits.businessEventBytes
        notificationBodyBytes = ModelLimits.requestBytes
        targetBytes = 256 << 10
        headerBytes = 32 << 10
        headerCount = 100
        callBytes = 256 << 20
        removalIdentifiers = 1_000
        httpReceiveTimeout = .seconds(10)
        httpConnections = 16_384
        httpIdleTimeout = .seconds(60)
        httpBufferRecords = 10_000
    }
}

extension ProducerServiceConfiguration {
    /// Reads the settings. Problems are recorded in `settings`: use the result only after `settings.finish()`.
    public init(settings: inout ServiceSettings) {
        let defaults = ProducerServiceConfiguration(bootstrapServers: [])
        self = defaults
        shared = SharedConfiguration(
            settings: &settings,
            topics: ["businessEvents", "requests", "deadLetters"],
            guarantee: """
                The guarantee for what business events become on `requests` and `dead-letters`. With \
                `exactly-once` an event's records and its offset are one transaction, so `read_committed` \
                readers see them once whatever fails; with `at-least-once` a failure can repeat them with \
                the same ids. The default is `exactly-once`, and `at-least-once` on the embedded broker, \
                which has no usable transactions. Calls over HTTP are at least once, with ids that identify repeats.
                """
        )
        defaultApplication = settings.string(
            "application.default",
            default: defaults.defaultApplication,
            about: "The application of rules and calls without one."
        )
        do throws(ModelError) {
            _ = try NotificationKey(application: defaultApplication, recipient: "r", identifier: "i")
        } catch {
            settings.reject("application.default", error.detail)
        }
        rulesFile = settings.optionalString(
            "rules.file",
            about: """
                The YAML file of rules, at most 1 MiB; reloaded on SIGHUP. Without it business events are \
                accepted over HTTP and left on their topic.
                """
        )
        groupID = settings.string(
            "ingest.group",
            default: defaults.groupID,
            about: "The consumer group that reads business events."
        )
        commitInterval = settings.duration(
            "ingest.commit.interval",
            default: defaults.commitInterval,
            in: .milliseconds(10) ... .seconds(60),
            about: """
                How often offsets are committed. With `exactly-once` it is how long a transaction is open, and \
                thus the delay for readers of `requests`; values above 2s then count as 2s.
                """
        )
        ingestBufferRecords = settings.int(
            "ingest.buffer.records",
            default: defaults.ingestBufferRecords,
            in: 1...1_000_000,
            about: "Records waiting for the broker; at the limit reading pauses."
        )
        httpHost = settings.string(
            "http.host",
            default: defaults.httpHost,
            about: "The address of the API. Without tokens only 127.0.0.0/8, `::1`, `localhost`; also as `Host`."
        )
        httpPort = settings.int(
            "http.port",
            default: defaults.httpPort,
            in: 0...65_535,
            about: "The port of the API; 0 takes a free one."
        )
        httpDeadline = settings.duration(
            "http.deadline",
            default: defaults.httpDeadline,
            in: .milliseconds(100) ... .seconds(300),
            about: """
                How long a complete call waits for the broker before it is answered 503 and its connection \
                closes.
                """
        )
        eventsBodyBytes = settings.int(
            "http.events.bytes",
            default: defaults.eventsBodyBytes,
            in: 1...ModelLimits.businessEventBytes,
            about: """
                Bytes of a body of `POST /v1/events`; above it, or for an event too large for a record, 413 \
                (`message.max.bytes` of `kafka.properties`, 1000000 if not given, at least 65536).
                """
        )
        notificationBodyBytes = settings.int(
            "http.notification.bytes",
            default: defaults.notificationBodyBytes,
            in: 1...ModelLimits.requestBytes,
            about: "Bytes of a body of a notification; above it 413."
        )
        readAccess(&settings)
        readBounds(&settings, defaults)
        httpConnections = settings.int(
            "http.connections",
            default: defaults.httpConnections,
            in: 1...1_000_000,
            about: """
                Maximum number of connections; further ones wait until one closes. Lowered when the process may not \
                open as many files.
                """
        )
        httpIdleTimeout = settings.duration(
            "http.idle.timeout",
            default: defaults.httpIdleTimeout,
            in: .seconds(1) ... .seconds(3_600),
            about: """
                Closes connections that are idle for this time, or whose client reads no response data.
                """
        )
        httpBufferRecords = settings.int(
            "http.buffer.records",
            default: defaults.httpBufferRecords,
            in: 1...1_000_000,
            about: "Records of calls waiting for the broker; at the limit a call waits, then 503."
        )
    }

    private mutating func readAccess(_ settings: inout ServiceSettings) {
        tokensFile = settings.optionalString(
            "http.tokens.file",
            about: """
                Who may call, one `role[,role] token` per line, read at the start. Roles are `publish` (all that \
                writes), `query` and `admin` (everything); a token is 16 to 1,024 characters, or `sha256:` and \
                the 64 hexadecimal digits of its digest. Without it every client that can connect may call.
                """
        )
        tlsCertificate = settings.optionalString(
            "http.tls.certificate",
            about: """
                The PEM file of the certificate and its intermediates. Requires `http.tls.key`; \
                without them the API speaks plain HTTP.
                """
        )
        tlsKey = settings.optionalString(
            "http.tls.key",
            about: "The PEM file of the certificate's key."
        )
    }

    private mutating func readBounds(_ settings: inout ServiceSettings, _ defaults: Self) {
        targetBytes = settings.int(
            "http.target.bytes",
            default: defaults.targetBytes,
            in: 1_024...1_048_576,
            about: "Bytes of the path and query of a request; above it 414."
        )
        headerBytes = settings.int(
            "http.headers.bytes",
            default: defaults.headerBytes,
            in: 1_024...1_048_576,
            about: "Bytes of the names and values of a request's header fields; above it 431."
        )
        headerCount = settings.int(
            "http.headers.count",
            default: defaults.headerCount,
            in: 8...1_000,
            about: "Header fields of a request; above it 431."
        )
        callBytes = settings.int(
            "http.calls.bytes",
            default: defaults.callBytes,
            in: 1_048_576...Int.max,
            about: "Bytes of bodies, heads and removals of all calls in memory; above it 503."
        )
        removalIdentifiers = settings.int(
            "http.removal.identifiers",
            default: defaults.removalIdentifiers,
            in: 1...10_000,
            about: "Notifications that one call may remove; above it 413."
        )
        httpReceiveTimeout = settings.duration(
            "http.receive.timeout",
            default: defaults.httpReceiveTimeout,
            in: .milliseconds(100) ... .seconds(600),
            about: """
                How long a request may take to arrive completely, from its first byte; then 408 and the end of the \
                connection.
                """
        )
    }
}
