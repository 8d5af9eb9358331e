import CRDKafka
public import Logging

/// Looks at topics and their settings, and creates topics. One thread owns it; all calls block.
public final class KafkaAdmin {
    /// A topic, as the brokers describe it.
    public struct Topic: Sendable, Hashable {
        /// The number of partitions.
        public var partitions: Int
        /// The number of replicas of the partition that has the fewest.
        public var replicas: Int

        /// A description.
        public init(partitions: Int, replicas: Int) { (self.partitions, self.replicas) = (partitions, replicas) }
    }

    /// A topic to create.
    public struct NewTopic: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The number of partitions, 1 or more.
        public var partitions: Int
        /// The number of replicas of each partition, 1 or more.
        public var replicas: Int
        /// Settings of the topic by their names in Kafka, such as `cleanup.policy`; the others are the brokers' defaults.
        public var settings: [String: String]

        /// A topic with settings.
        public init(name: String, partitions: Int, replicas: Int, settings: [String: String] = [:]) {
            (self.name, self.partitions, self.replicas, self.settings) = (name, partitions, replicas, settings)
        }
    }

    private let handle: RDKafkaHandle
    private var isOpen = true

    /// - Throws: `KafkaError` that names a property librdkafka rejects. It does not connect.
    public init(configuration: KafkaClientConfiguration, logger: Logger) throws(KafkaError) {
        try configuration.checkSecurity()
        let others = KafkaProducerConfiguration.consumerOnly.union(KafkaConsumerConfiguration.producerOnly)
        handle = try RDKafkaHandle(
            RD_KAFKA_PRODUCER,
            properties: configuration.properties(over: configuration.base, except: others),
            context: RDKafkaContext(logger: logger)
        ) { _ in }
    }

    deinit {
        if isOpen { handle.destroyElsewhere(within: .zero) }
    }

    /// The cluster id; nil when the broker did not report one in time.
    public func clusterID(within time: Duration) throws(KafkaError) -> String? {
        let handle = try open()
        guard let text = rd_kafka_clusterid(handle.pointer, time.librdkafkaMilliseconds) else { return nil }
        defer { rd_kafka_mem_free(handle.pointer, text) }
        return String(cString: text)
    }

    /// The topics that exist, and that the client may see, by name; creates none.
    ///
    /// - Throws: `KafkaError` when no broker answers in time.
    public func topics(within time: Duration) throws(KafkaError) -> [String: Topic] {
        try open().topics(within: time)
    }

    /// All settings of topics, defaults included, by topic and by their names in Kafka.
    ///
    /// - Throws: `KafkaError` when no broker answers in time, when they do not have this request
    ///   (``KafkaError/Code/unsupportedFeature``), or when one of the topics is missing or may not be described.
    public func settings(of topics: [String], within time: Duration) throws(KafkaError) -> [String: [String: String]] {
        for topic in topics { try KafkaError.checkName(topic) }
        return try open().settings(of: topics, within: time)
    }

    /// Creates topics.
    ///
    /// - Returns: What was wrong, by topic: ``KafkaError/Code/topicAlreadyExists``, or why it was refused. Those that were
    ///   created are not in it.
    /// - Throws: `KafkaError` when no broker answers in time, or they do not have this request.
    public func create(_ topics: [NewTopic], within time: Duration) throws(KafkaError) -> [String: KafkaError] {
        for topic in topics {
            try KafkaError.checkName(topic.name)
            guard topic.partitions > 0, topic.replicas > 0 else {
                let reason = "topic \(topic.name): needs at least one partition and one replica"
                throw KafkaError(code: .invalidArgument, reason: reason)
            }
        }
        return try open().create(topics, within: time)
    }

    /// Frees the client, waiting at most so long.
    public func close(within time: Duration) {
        guard isOpen else { return }
        isOpen = false
        handle.destroyElsewhere(within: time)
    }

    private func open() throws(KafkaError) -> RDKafkaHandle {
        guard isOpen else { throw .clientIsClosed }
        return handle
    }
}
