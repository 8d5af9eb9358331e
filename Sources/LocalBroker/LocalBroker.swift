import CRDKafka
import Foundation
public import Kafka
import Synchronization

/// A Kafka cluster inside this process, for development and tests: librdkafka's mock cluster, which speaks the real
/// protocol on loopback to any client in any process.
///
/// ## What it is not
/// - It keeps 5 MiB of batches a partition, as sent, and 100,000 batches; older ones vanish while the producer is told
///   success. `LocalBrokerWatch` says so when it happens. A single larger record is acknowledged and cannot be read.
/// - All is lost when its process ends.
/// - It ignores isolation levels and stores no transactional offsets: `exactly-once` cannot be shown on it. An idempotent
///   producer is not de-duplicated when an acknowledgement is lost.
/// - A first member joins a group in 3 s; a later one waits for the session timeout: keep that short.
/// - It does not wake a waiting fetch: latency is `fetch.wait.max.ms`. Admin requests are not answered.
/// - Its ports are chosen by the system.
public final class LocalBroker: Sendable {
    /// A request of the protocol that a fault can be injected into.
    public struct RequestKind: RawRepresentable, Sendable, Hashable {
        /// The protocol's API key.
        public let rawValue: Int16
        /// Any API key.
        public init(rawValue: Int16) { self.rawValue = rawValue }
        public static let produce = RequestKind(rawValue: 0)
        public static let fetch = RequestKind(rawValue: 1)
        public static let listOffsets = RequestKind(rawValue: 2)
        public static let metadata = RequestKind(rawValue: 3)
        public static let offsetCommit = RequestKind(rawValue: 8)
        public static let offsetFetch = RequestKind(rawValue: 9)
        public static let findCoordinator = RequestKind(rawValue: 10)
        public static let joinGroup = RequestKind(rawValue: 11)
        public static let heartbeat = RequestKind(rawValue: 12)
        public static let initProducerID = RequestKind(rawValue: 22)
    }

    /// Properties that a consumer needs to be quick on this broker.
    public static let recommendedConsumerProperties = [
        "fetch.wait.max.ms": "10",
        "session.timeout.ms": "6000",
        "heartbeat.interval.ms": "500",
    ]

    // The mock cluster locks itself; its host client does nothing else.
    private nonisolated(unsafe) let host: OpaquePointer
    private nonisolated(unsafe) let cluster: OpaquePointer
    private let isShutDown = Mutex(false)

    /// `host:port` of its brokers, for `bootstrap.servers`.
    public let bootstrapServers: [String]
    /// How many brokers it has; their ids are 1 to that.
    public let brokers: Int

    /// Starts it, in milliseconds.
    ///
    /// - Parameters:
    ///   - brokers: 1 or more.
    ///   - topics: names with partitions; any other topic is made with 4 when it is first asked for.
    /// - Throws: `KafkaError` when the system gives no ports, or a topic cannot be made.
    public init(brokers: Int = 1, topics: [String: Int] = [:]) throws {
        var text = [CChar](repeating: 0, count: 512)
        let conf = rd_kafka_conf_new()
        // It would warn that it has no brokers: it is there only to carry the cluster.
        rd_kafka_conf_set(conf, "log_level", "3", &text, text.count)
        guard let host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, &text, text.count) else {
            rd_kafka_conf_destroy(conf)
            throw LocalBrokerError("no host client for the embedded broker")
        }
        guard let cluster = rd_kafka_mock_cluster_new(host, Int32(clamping: max(1, brokers))) else {
            rd_kafka_destroy(host)
            throw LocalBrokerError("the embedded broker did not start: are there free ports on loopback?")
        }
        self.host = host
        self.cluster = cluster
        self.brokers = max(1, brokers)
        bootstrapServers = String(cString: rd_kafka_mock_cluster_bootstraps(cluster)).split(separator: ",").map(String.init)
        for (name, partitions) in topics.sorted(by: { $0.key < $1.key }) {
            try createTopic(name, partitions: partitions)
        }
    }

    deinit {
        guard !isShutDown.withLock({ $0 }) else { return }
        nonisolated(unsafe) let (host, cluster) = (host, cluster)
        Thread.detachNewThread { Self.destroy(host, cluster) }
    }

    /// Makes a topic. - Throws: when it is there already, or the number of partitions is not 1 or more.
    public func createTopic(_ name: String, partitions: Int) throws {
        let code = rd_kafka_mock_topic_create(cluster, name, Int32(clamping: partitions), Int32(clamping: min(brokers, 3)))
        try Self.check(code, "topic \(name) with \(partitions) partitions could not be made")
    }

    /// Properties to reach it, for clients of this package.
    public func clientConfiguration(clientID: String = "carillon") -> KafkaClientConfiguration {
        KafkaClientConfiguration(
            bootstrapServers: bootstrapServers,
            clientID: clientID,
            properties: Self.recommendedConsumerProperties
        )
    }

    // MARK: - Faults

    /// The next requests of that kind are answered with these errors, one each. A produce request that fails so has written nothing.
    public func inject(errors: [KafkaError.Code], on request: RequestKind) {
        let codes = errors.map { rd_kafka_resp_err_t(rawValue: $0.rawValue) }
        rd_kafka_mock_push_request_errors_array(cluster, request.rawValue, codes.count, codes)
    }

    /// Takes back what was injected and not yet used.
    public func clearErrors(on request: RequestKind) {
        rd_kafka_mock_clear_request_errors(cluster, request.rawValue)
    }

    /// The next request of that kind takes effect, and the connection breaks before its reply.
    public func loseReply(of request: RequestKind, broker: Int = 1, after delay: Duration = .zero) throws {
        let code = carillon_mock_push_broker_error_rtt(
            cluster,
            Int32(clamping: broker),
            request.rawValue,
            RD_KAFKA_RESP_ERR__TRANSPORT,
            Int32(clamping: delay.components.seconds * 1000 + delay.components.attoseconds / 1_000_000_000_000_000)
        )
        try Self.check(code, "a lost reply could not be set up for broker \(broker)")
    }

    /// A broker that is down refuses connections and breaks those it has; its records stay.
    public func setBroker(_ broker: Int = 1, isUp: Bool) throws {
        let code =
            isUp
            ? rd_kafka_mock_broker_set_up(cluster, Int32(clamping: broker))
            : rd_kafka_mock_broker_set_down(cluster, Int32(clamping: broker))
        try Self.check(code, "broker \(broker) could not be \(isUp ? "started" : "stopped")")
    }

    /// How long a broker takes to answer.
    public func setLatency(_ latency: Duration, broker: Int = 1) throws {
        let milliseconds = latency.components.seconds * 1000 + latency.components.attoseconds / 1_000_000_000_000_000
        let code = rd_kafka_mock_broker_set_rtt(cluster, Int32(clamping: broker), Int32(clamping: milliseconds))
        try Self.check(code, "the latency of broker \(broker) could not be set")
    }

    // MARK: - The end

    /// Ends it and forgets everything; clients should be closed before. Waits on a thread of its own.
    public func shutDown() async {
        let isFirst = isShutDown.withLock { isShutDown in
            defer { isShutDown = true }
            return !isShutDown
        }
        guard isFirst else { return }
        nonisolated(unsafe) let (host, cluster) = (host, cluster)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                Self.destroy(host, cluster)
                continuation.resume()
            }
        }
    }

    private static func destroy(_ host: OpaquePointer, _ cluster: OpaquePointer) {
        rd_kafka_mock_cluster_destroy(cluster)
        rd_kafka_destroy(host)
    }

    private static func check(_ code: rd_kafka_resp_err_t, _ what: String) throws {
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw LocalBrokerError("\(what): \(String(cString: rd_kafka_err2str(code)))")
        }
    }
}

/// What the embedded broker could not do.
public struct LocalBrokerError: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String

    init(_ description: String) { self.description = description }
}
