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
    /// librdkafka properties that win over the service's own choices.
    public var kafkaProperties: [String: String] = [:]
    /// Only those of the topics that the service uses are read.
    public var topics = TopicNames()
    /// Part of `ce_source`.
    public var deployment = "default"
    /// What is promised of the records that are made of others; nil for what the cluster can.
    public var guarantee: DeliveryGuarantee?
    /// Tells this instance from those that run at the same time, and is the same at its next start.
    public var instanceID = Self.hostName
    /// Whether the id was given.
    public var isInstanceNamed = false
    /// How long shutdown waits.
    public var drainTimeout = Duration.seconds(15)

    /// Everything at its default.
    public init(bootstrapServers: [String]) {
        self.bootstrapServers = bootstrapServers
    }

    /// `ce_source` of everything the service publishes.
    public var source: String { "/carillon/\(deployment)" }

    /// What the system calls itself, without asking a name server; `localhost` when it does not say.
    static var hostName: String {
        var text = [CChar](repeating: 0, count: 256)
        guard gethostname(&text, text.count - 1) == 0, text[0] != 0 else { return "localhost" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// What the service's Kafka clients share.
    package func client(_ id: String) -> KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: id, properties: kafkaProperties)
    }
}

extension SharedConfiguration {
    /// Reads the settings. What is wrong is noted in them: use the result only after `settings.finish()`.
    ///
    /// - Parameters:
    ///   - topics: Those that the service uses, as they are written in settings, such as `deadLetters`.
    ///   - guarantee: What `delivery.guarantee` means to the service.
    ///   - instance: What `instance.id` means to it besides.
    init(
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
            about: "`ce_source` of what is published is `/carillon/<deployment>`."
        )
        if named.utf8.count <= 256 {
            deployment = named
        } else {
            settings.reject("deployment", "must have at most 256 bytes")
        }
        guarantee = settings.optionalOneOf("delivery.guarantee", about: aboutGuarantee)
        let identity = """
            Tells instances of one group apart, for their transactions (without it the name of the host); the same at \
            each start of an instance, and never that of another that runs at the same time: they would fence each other.
            """
        let aboutIdentity = [identity, aboutInstance].compactMap(\.self).joined(separator: " ")
        if let name = settings.optionalString("instance.id", about: aboutIdentity) {
            (instanceID, isInstanceNamed) = (name, true)
        }
        drainTimeout = settings.duration(
            "drain.timeout",
            default: drainTimeout,
            in: .seconds(1) ... .seconds(3_600),
            about: "How long shutdown waits for what is under way to be acknowledged."
        )
    }

    // MARK: - Settings of a connection, which the command line reads, too

    /// `kafka.bootstrap.servers`.
    package static func bootstrapServers(_ settings: inout ServiceSettings) -> [String] {
        let servers = settings.list("kafka.bootstrap.servers", default: [], about: "Brokers as host:port. Required.")
        if servers.isEmpty {
            settings.reject("kafka.bootstrap.servers", "is required: the brokers as host:port, with commas between")
        }
        return servers
    }

    /// `kafka.properties`.
    package static func kafkaProperties(_ settings: inout ServiceSettings) -> [String: String] {
        settings.dictionary(
            "kafka.properties",
            about: """
                Any librdkafka property; wins over the service's own choices. In the variable a comma within a value is \
                written `\\,`.
                """,
            isName: KafkaClientConfiguration.isProperty
        )
    }

    /// `topics.prefix`, and `topics.<name>` of each topic that is used.
    package static func topicNames(_ settings: inout ServiceSettings, _ used: Set<String>) -> TopicNames {
        let prefix = settings.string(
            "topics.prefix",
            default: TopicNames.defaultPrefix,
            about: "What the topics' names begin with."
        )
        var own: [String: String] = [:]
        for name in used.sorted() {
            own[name] = settings.optionalString(
                "topics.\(name)",
                about: "The whole name of the topic, where it differs from prefix and own name."
            )
        }
        let topics = TopicNames(
            prefix: prefix,
            businessEvents: own["businessEvents"],
            requests: own["requests"],
            deliveries: own["deliveries"],
            state: own["state"],
            deadLetters: own["deadLetters"]
        )
        do throws(ModelError) {
            try topics.validate()
        } catch {
            settings.reject("topics.prefix", "gives a wrong name for \(error.field ?? "a topic"): \(error.detail)")
        }
        return topics
    }
}
