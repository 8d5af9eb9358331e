import Kafka
public import NotificationModel
public import ServiceSupport

/// The settings of the producer service.
///
/// ## Settings
/// - `kafka.bootstrap.servers` (list, required): brokers as `host:port`.
/// - `kafka.properties` (map): any librdkafka property; wins over the service's own choices.
/// - `topics.prefix` (text, default `carillon.`) and `topics.businessEvents`, `topics.requests`, `topics.deadLetters`
///   (text): names that differ from the prefix and the topic's own name.
/// - `deployment` (text, default `default`): `ce_source` of what is published is `/carillon/<deployment>`.
/// - `application.default` (text, default `default`): for rules and calls that name no application.
/// - `rules.file` (text): the YAML file of rules, at most 1 MiB; read again on SIGHUP. Without it business events are accepted over
///   HTTP and left on their topic.
/// - `ingest.group` (text, default `carillon-producer`): the consumer group that reads business events.
/// - `ingest.commit.interval` (duration, 10ms to 60s, default 100ms).
/// - `ingest.buffer.records` (integer, 1 to 1000000, default 50000): records waiting for the broker; at the bound reading pauses.
/// - `http.host` (text, default `127.0.0.1`), `http.port` (integer, default 8080; 0 takes a free one).
/// - `http.deadline` (duration, 100ms to 5m, default 10s): how long a call waits for the broker before it is answered 503.
/// - `http.events.bytes` (integer, default 1048576), `http.notification.bytes` (integer, default 262144): bodies.
/// - `http.connections` (integer, default 4096): at the bound no more are accepted until one closes.
/// - `http.idle.timeout` (duration, default 60s): connections without traffic are closed.
/// - `http.buffer.records` (integer, 1 to 1000000, default 10000): records of calls waiting for the broker.
/// - `drain.timeout` (duration, 1s to 1h, default 15s): how long shutdown waits for calls and acknowledgements.
public struct ProducerServiceConfiguration: Sendable {
    /// Brokers as `host:port`.
    public var bootstrapServers: [String]
    /// librdkafka properties that win over the service's own choices.
    public var kafkaProperties: [String: String]
    /// Only `businessEvents`, `requests` and `deadLetters` are used.
    public var topics: TopicNames
    /// Part of `ce_source`.
    public var deployment: String
    /// For rules and calls that name no application.
    public var defaultApplication: String
    /// The YAML file of rules; nil leaves business events on their topic.
    public var rulesFile: String?
    /// The consumer group that reads business events.
    public var groupID: String
    /// How often offsets are committed.
    public var commitInterval: Duration
    /// Records made of events that may wait for the broker.
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
    /// Connections at one time.
    public var httpConnections: Int
    /// How long a connection may be silent.
    public var httpIdleTimeout: Duration
    /// Records of calls that may wait for the broker.
    public var httpBufferRecords: Int
    /// How long shutdown waits.
    public var drainTimeout: Duration

    /// Everything at its default.
    ///
    /// - Parameter bootstrapServers: Brokers as `host:port`.
    public init(bootstrapServers: [String]) {
        self.bootstrapServers = bootstrapServers
        kafkaProperties = [:]
        topics = TopicNames()
        deployment = "default"
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
        httpConnections = 4_096
        httpIdleTimeout = .seconds(60)
        httpBufferRecords = 10_000
        drainTimeout = .seconds(15)
    }

    /// `ce_source` of everything the service publishes.
    public var source: String { "/carillon/\(deployment)" }
}

extension ProducerServiceConfiguration {
    /// Reads the settings. What is wrong is noted in them: use the result only after `settings.finish()`.
    public init(settings: inout ServiceSettings) {
        let defaults = ProducerServiceConfiguration(bootstrapServers: [])
        self = defaults
        bootstrapServers = settings.bootstrapServers()
        kafkaProperties = settings.dictionary("kafka.properties")
        topics = settings.topicNames(["businessEvents", "requests", "deadLetters"])
        deployment = settings.string("deployment", default: defaults.deployment)
        defaultApplication = settings.string("application.default", default: defaults.defaultApplication)
        do throws(ModelError) {
            _ = try NotificationKey(application: defaultApplication, recipient: "r", identifier: "i")
        } catch {
            settings.reject("application.default", error.detail)
        }
        rulesFile = settings.optionalString("rules.file")
        groupID = settings.string("ingest.group", default: defaults.groupID)
        commitInterval = settings.duration(
            "ingest.commit.interval",
            default: defaults.commitInterval,
            in: .milliseconds(10) ... .seconds(60)
        )
        ingestBufferRecords = settings.int(
            "ingest.buffer.records",
            default: defaults.ingestBufferRecords,
            in: 1...1_000_000
        )
        httpHost = settings.string("http.host", default: defaults.httpHost)
        httpPort = settings.int("http.port", default: defaults.httpPort, in: 0...65_535)
        httpDeadline = settings.duration(
            "http.deadline",
            default: defaults.httpDeadline,
            in: .milliseconds(100) ... .seconds(300)
        )
        eventsBodyBytes = settings.int(
            "http.events.bytes",
            default: defaults.eventsBodyBytes,
            in: 1...ModelLimits.businessEventBytes
        )
        notificationBodyBytes = settings.int(
            "http.notification.bytes",
            default: defaults.notificationBodyBytes,
            in: 1...ModelLimits.requestBytes
        )
        httpConnections = settings.int("http.connections", default: defaults.httpConnections, in: 1...1_000_000)
        httpIdleTimeout = settings.duration(
            "http.idle.timeout",
            default: defaults.httpIdleTimeout,
            in: .seconds(1) ... .seconds(3_600)
        )
        httpBufferRecords = settings.int("http.buffer.records", default: defaults.httpBufferRecords, in: 1...1_000_000)
        drainTimeout = settings.duration(
            "drain.timeout",
            default: defaults.drainTimeout,
            in: .seconds(1) ... .seconds(3_600)
        )
    }
}
