package import Kafka
public import NotificationModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The settings that both services have.
public struct SharedConfiguration: Sendable {
    /// Brokers as `host:port`.
    public var bootstrapServers: [String]
    /// librdkafka properties that override the service's own.
    public var kafkaProperties: [String: String] = [:]
    /// Only the topics that the service uses are read.
    public var topics = TopicNames()
    /// Part of `ce_source`.
    public var deployment = "default"
    /// The guarantee for derived records; nil for the strongest one that the cluster supports.
    public var guarantee: DeliveryGuarantee?
    /// Distinguishes this instance from concurrent ones, and stays the same at its next start.
    public var instanceID = Self.hostName
    /// Whether the id was set.
    public var isInstanceNamed = false
    /// How long shutdown waits for records in flight.
    public var drainTimeout = Duration.seconds(15)

    /// All settings at their defaults.
    public init(bootstrapServers: [String]) {
        self.bootstrapServers = bootstrapServers
    }

    /// `ce_source` of all published records.
    public var source: String { "/carillon/\(deployment)" }

    /// The system's host name, without a DNS lookup; `localhost` if it has none.
    static var hostName: String {
        var text = [CChar](repeating: 0, count: 256)
        guard gethostname(&text, text.count - 1) == 0, text[0] != 0 else { return "localhost" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// The common settings of the service's Kafka clients.
    package func client(_ id: String) -> KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: id, properties: kafkaProperties)
    }
}

extension KafkaClientConfiguration {
    /// Adds what makes a consumer fast on the embedded broker, if it is one, and what is not set.
    package mutating func adapt(toCluster id: String) {
        guard KafkaMockCluster.isMock(clusterID: id) else { return }
        properties.merge(KafkaMockCluster.consumerProperties) { own, _ in own }
    }
}

extension SharedConfiguration {
    /// The same for all clients of the service.
    package mutating func adapt(toCluster id: String) {
        var client = client("")
        client.adapt(toCluster: id)
        kafkaProperties = client.properties
    }

    /// Reads the settings. Problems are recorded in `settings`: use the result only after `settings.finish()`.
    ///
    /// - Parameters:
    ///   - topics: The topics that the service uses, as written in settings, for example `deadLetters`.
    ///   - guarantee: The effect of `delivery.guarantee` on the service.
    ///   - instance: An additional effect of `instance.id`.
    package init(
        settings: inout ServiceSettings,
        topics used: Set<String>,
        guarantee aboutGuarantee: String,
        instance aboutInstance: String? = nil
    ) {
        self.init(bootstrapServers: Self.bootstrapServers(&settings))
        kafkaProperties = Self.kafkaProperties(&settings)
        topics = Self.topicNames(&settings, used)
        let named = settings.string(
            "deployment",
            default: deployment,
            about: "Published records have the `ce_source` `/carillon/<deployment>`."
        )
        if named.utf8.count <= 256 {
            deployment = named
        } else {
            settings.reject("deployment", "must have at most 256 bytes")
        }
        guarantee = settings.optionalOneOf("delivery.guarantee", about: aboutGuarantee)
        let identity = """
            Identifies an instance of a group, for its transactions (default: the host name). Keep it the same at \
            each start. Two instances that run at the same time with the same id fence each other.
            """
        let aboutIdentity = [identity, aboutInstance].compactMap(\.self).joined(separator: " ")
        if let name = settings.optionalString("instance.id", about: aboutIdentity) {
            (instanceID, isInstanceNamed) = (name, true)
        }
        drainTimeout = settings.duration(
            "drain.timeout",
            default: drainTimeout,
            in: .seconds(1) ... .seconds(3_600),
            about: "How long shutdown waits for the acknowledgement of records in flight."
        )
    }

    // MARK: - Connection settings, which the command line reads too

    /// `kafka.bootstrap.servers`.
    package static func bootstrapServers(_ settings: inout ServiceSettings) -> [String] {
        let servers = settings.list("kafka.bootstrap.servers", default: [], about: "Brokers as host:port. Required.")
        if servers.isEmpty {
            settings.reject("kafka.bootstrap.servers", "is required: the brokers as host:port, separated by commas")
        } else if let problem = problem(ofServers: servers) {
            settings.reject("kafka.bootstrap.servers", problem)
        }
        return servers
    }

    /// Why a list of brokers cannot be used; nil when it can.
    package static func problem(ofServers servers: [String]) -> String? {
        guard let number = servers.firstIndex(where: { !isServer($0) }) else { return nil }
        // It is not quoted: it may be a URL with a password.
        return "has an entry, number \(number + 1), that is not host:port; separate the brokers by commas"
    }

    /// `host`, `host:port`, `[::1]:port`, each also after a protocol such as `SSL://`, as librdkafka takes them.
    private static func isServer(_ text: String) -> Bool {
        text.wholeMatch(of: /(?:[A-Za-z_]+:\/\/)?(?:[A-Za-z0-9._\-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?/)
            .map { match in match.1.map { (1...65_535).contains(Int($0) ?? 0) } ?? true } ?? false
    }

    /// `kafka.properties`.
    package static func kafkaProperties(_ settings: inout ServiceSettings) -> [String: String] {
        settings.dictionary(
            "kafka.properties",
            about: """
                Any librdkafka property; overrides the service's own. In the variable, write a comma in a value \
                as `\\,`.
                """,
            isName: KafkaClientConfiguration.isProperty
        )
    }

    /// `topics.prefix`, and `topics.<name>` of each used topic.
    package static func topicNames(_ settings: inout ServiceSettings, _ used: Set<String>) -> TopicNames {
        let prefix = settings.string(
            "topics.prefix",
            default: TopicNames.defaultPrefix,
            about: "Prefix of the topic names."
        )
        var own: [String: String] = [:]
        for name in used.sorted() {
            own[name] = settings.optionalString(
                "topics.\(name)",
                about: "The full name of the topic, if it is not the prefix and the topic's own name."
            )
        }
        let topics = TopicNames(
            prefix: prefix,
            businessEvents: own["businessEvents"],
            requests: own["requests"],
            signals: own["signals"],
            devices: own["devices"],
            tokens: own["tokens"],
            categories: own["categories"],
            deliveries: own["deliveries"],
            responses: own["responses"],
            state: own["state"],
            deadLetters: own["deadLetters"]
        )
        do throws(ModelError) {
            try topics.validate()
        } catch {
            settings.reject("topics.prefix", "gives an invalid name for \(error.field ?? "a topic"): \(error.detail)")
        }
        return topics
    }
}
