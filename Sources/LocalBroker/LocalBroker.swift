import CRDKafka
import Foundation
public import Kafka
import Synchronization

/// A Kafka cluster inside this process, for development and tests: librdkafka's mock cluster, which speaks the real
/// protocol on loopback to any client in any process.
///
/// ## Limits
/// - It keeps 5 MiB of batches per partition, as sent, and 100,000 batches. It drops older batches while it still
///   acknowledges them to the producer. `LocalBrokerWatch` logs this. A single larger record is acknowledged and cannot
///   be read.
/// - All data is lost when its process exits.
/// - It ignores isolation levels and stores no transactional offsets: it cannot demonstrate `exactly-once`. It does not
///   de-duplicate an idempotent producer after a lost acknowledgement.
/// - The first member joins a group in 3 s; a later one waits for the session timeout: keep that short. The services do so by
///   themselves. Two that join at once wait for it as well when the leader's `SyncGroup` comes before the other's: the
///   group is then complete for the broker, which refuses the other, and that one joins again.
/// - A topic that a client asks for and that does not exist is created, with 4 partitions.
/// - During a rebalance it refuses commits, also from revoke hooks: records not committed before are read again. A hook
///   that runs because its consumer closes can commit.
/// - Two members of a group with different first assignors crash the whole process: keep to `range`, this package's
///   default.
/// - It does not wake a waiting fetch: latency is `fetch.wait.max.ms`. It does not answer admin requests.
/// - It cannot look up offsets by time: it answers that no record is that new. `isEmbedded(clusterID:)` distinguishes
///   it from Kafka.
/// - The system chooses its ports.
/// - Starting a process at the very moment when a broker goes down can crash this one: see `whileNoBrokerGoesDown`.
public final class LocalBroker: Sendable {
    /// A protocol request that can be made to fail.
    public struct RequestKind: RawRepresentable, Sendable, Hashable {
        /// The protocol's API key.
        public let rawValue: Int16
        /// Any API key.
        public init(rawValue: Int16) { self.rawValue = rawValue }
        /// Records to write.
        public static let produce = RequestKind(rawValue: 0)
        /// Records to read.
        public static let fetch = RequestKind(rawValue: 1)
        /// First and last offsets.
        public static let listOffsets = RequestKind(rawValue: 2)
        /// Topics, partitions, leaders.
        public static let metadata = RequestKind(rawValue: 3)
        /// Offsets that a group commits.
        public static let offsetCommit = RequestKind(rawValue: 8)
        /// A member that is alive.
        public static let heartbeat = RequestKind(rawValue: 12)
        /// The id of an idempotent producer.
        public static let initProducerID = RequestKind(rawValue: 22)
        /// Partitions that a transaction is about to write to.
        public static let addPartitionsToTransaction = RequestKind(rawValue: 24)
        /// A group whose offsets a transaction is about to commit.
        public static let addOffsetsToTransaction = RequestKind(rawValue: 25)
        /// The commit or abort of a transaction.
        public static let endTransaction = RequestKind(rawValue: 26)
        /// Offsets of a group, as part of a transaction.
        public static let transactionOffsetCommit = RequestKind(rawValue: 28)
    }

    /// Properties that make a consumer fast on this broker.
    public static let recommendedConsumerProperties = KafkaMockCluster.consumerProperties

    /// The mock cluster, and the client that carries it and has no other purpose.
    private struct Cluster: @unchecked Sendable {
        // librdkafka's handles may be used from any thread; the surrounding lock prevents use after free.
        let pointer: OpaquePointer
        let host: OpaquePointer
        /// Brokers that were set down; -1 for all.
        var down: Set<Int> = []
        /// Replies still to be lost.
        var losses: [Loss: Int] = [:]

        /// Blocking.
        func destroy() {
            rd_kafka_mock_cluster_destroy(pointer)
            rd_kafka_destroy(host)
        }
    }

    private struct Loss: Hashable {
        var broker: Int32
        var request: Int16
    }

    /// nil after the shutdown.
    private let cluster: Mutex<Cluster?>

    /// `host:port` of its brokers, for `bootstrap.servers`.
    public let bootstrapServers: [String]
    /// The number of brokers; their ids are 1 to this number.
    public let brokers: Int

    /// Starts the cluster, in milliseconds.
    ///
    /// - Parameters:
    ///   - brokers: 1 to 100; each has a port.
    ///   - topics: names with partitions; any other topic is created with 4 partitions at its first metadata request.
    /// - Throws: `LocalBrokerError` when the system has no free ports, or a topic cannot be created.
    public init(brokers: Int = 1, topics: [String: Int] = [:]) throws {
        guard (1...100).contains(brokers) else {
            throw LocalBrokerError("the embedded cluster needs 1 to 100 brokers, not \(brokers)")
        }
        var text = [CChar](repeating: 0, count: 512)
        let conf = rd_kafka_conf_new()
        // Hides the warning about missing brokers: this client only carries the cluster.
        rd_kafka_conf_set(conf, "log_level", "3", &text, text.count)
        guard let host = rd_kafka_new(RD_KAFKA_PRODUCER, conf, &text, text.count) else {
            rd_kafka_conf_destroy(conf)
            throw LocalBrokerError("the embedded broker's host client could not be created")
        }
        guard let cluster = rd_kafka_mock_cluster_new(host, Int32(brokers)) else {
            rd_kafka_destroy(host)
            throw LocalBrokerError("the embedded broker did not start: are there free ports on loopback?")
        }
        self.cluster = Mutex(Cluster(pointer: cluster, host: host))
        self.brokers = brokers
        bootstrapServers = String(cString: rd_kafka_mock_cluster_bootstraps(cluster)).split(separator: ",").map(
            String.init
        )
        for (name, partitions) in topics.sorted(by: { $0.key < $1.key }) {
            try createTopic(name, partitions: partitions)
        }
    }

    deinit {
        guard let last = cluster.withLock({ $0 }) else { return }
        Thread.detachNewThread { last.destroy() }
    }

    /// Creates a topic. Replicas are not modelled except for the leaders, which are spread over the brokers.
    ///
    /// - Parameters:
    ///   - name: 1 to 249 letters, digits, `.`, `_` and `-`, as in Kafka.
    ///   - partitions: 1 to 10,000.
    /// - Throws: `LocalBrokerError` when the topic exists already, or an argument is out of its range.
    public func createTopic(_ name: String, partitions: Int) throws {
        let what = "topic \"\(name)\" with \(partitions) partitions could not be created"
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard isName, (1...249).contains(name.utf8.count), (1...10_000).contains(partitions) else {
            throw LocalBrokerError(
                "\(what): a name has 1 to 249 of a-z A-Z 0-9 . _ -, and a topic 1 to 10,000 partitions"
            )
        }
        try change(what) { rd_kafka_mock_topic_create($0.pointer, name, Int32(partitions), Int32(min(brokers, 3))) }
    }

    /// The connection settings for clients of this package.
    public func clientConfiguration(clientID: String = "carillon") -> KafkaClientConfiguration {
        KafkaClientConfiguration(
            bootstrapServers: bootstrapServers,
            clientID: clientID,
            properties: Self.recommendedConsumerProperties
        )
    }

    /// Whether a cluster with this id is an embedded one, of this process or another.
    public static func isEmbedded(clusterID: String) -> Bool { KafkaMockCluster.isMock(clusterID: clusterID) }

    // MARK: - Faults

    /// Answers the next requests of this kind, to any broker, with these errors, one each. A produce request that fails
    /// so has written nothing. `.transport` breaks the connection instead. After the shutdown it does nothing.
    public func inject(errors: [KafkaError.Code], on request: RequestKind) {
        let codes = errors.map { rd_kafka_resp_err_t(rawValue: $0.rawValue) }
        cluster.withLock { cluster in
            guard let cluster else { return }
            rd_kafka_mock_push_request_errors_array(cluster.pointer, request.rawValue, codes.count, codes)
        }
    }

    /// Removes injected errors that were not used yet.
    public func clearErrors(on request: RequestKind) {
        cluster.withLock { cluster in
            guard let cluster else { return }
            rd_kafka_mock_clear_request_errors(cluster.pointer, request.rawValue)
        }
    }

    /// Executes the next request of this kind, but breaks the broker's connections before the reply. The client
    /// retries: a record is then there twice, because this broker does not de-duplicate idempotent producers.
    ///
    /// - Parameters:
    ///   - broker: 1 to `brokers`.
    ///   - delay: how long after the request the connections break.
    /// - Throws: `LocalBrokerError` when there is no such broker, or after the shutdown.
    public func loseReply(of request: RequestKind, broker: Int = 1, after delay: Duration = .zero) throws {
        let loss = Loss(broker: Int32(clamping: broker), request: request.rawValue)
        // An injected error would prevent the request from taking effect; instead delay the reply by a day.
        try change("a lost reply could not be set up for broker \(broker)") { cluster in
            let code = carillon_mock_push_broker_error_rtt(
                cluster.pointer,
                loss.broker,
                loss.request,
                RD_KAFKA_RESP_ERR_NO_ERROR,
                86_400_000
            )
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return code }
            let isWatched = cluster.losses[loss] != nil
            cluster.losses[loss, default: 0] += 1
            if !isWatched {
                Thread.detachNewThread { [weak self] in
                    while let self, lose(loss, after: delay) { Thread.sleep(forTimeInterval: 0.002) }
                }
            }
            return code
        }
    }

    /// Breaks the broker's connections after a request whose reply is to be lost; false when no more losses are due.
    private func lose(_ loss: Loss, after delay: Duration) -> Bool {
        let came = cluster.withLock { cluster -> Int? in
            var left = 0
            guard let pending = cluster?.losses[loss], let pointer = cluster?.pointer,
                rd_kafka_mock_broker_error_stack_cnt(pointer, loss.broker, loss.request, &left)
                    == RD_KAFKA_RESP_ERR_NO_ERROR
            else { return nil }
            cluster?.losses[loss] = left > 0 ? left : nil
            return pending - left
        }
        guard let came else { return false }
        guard came > 0 else { return true }
        Thread.sleep(forTimeInterval: Double(delay.mockMilliseconds) / 1000)
        return cluster.withLock { cluster in
            guard let now = cluster else { return false }
            _ = Self.takeDown(now.pointer, loss.broker)
            if now.down.isDisjoint(with: [-1, Int(loss.broker)]) {
                rd_kafka_mock_broker_set_up(now.pointer, loss.broker)
            }
            return now.losses[loss] != nil
        }
    }

    /// Stops or starts a broker. A stopped broker refuses and breaks connections; it keeps its records.
    ///
    /// - Parameter broker: 1 to `brokers`, or -1 for all of them.
    /// - Throws: `LocalBrokerError` when there is no such broker, or after the shutdown.
    public func setBroker(_ broker: Int = 1, isUp: Bool) throws {
        try change("broker \(broker) could not be \(isUp ? "started" : "stopped")") { cluster in
            let code =
                isUp
                ? rd_kafka_mock_broker_set_up(cluster.pointer, Int32(clamping: broker))
                : Self.takeDown(cluster.pointer, Int32(clamping: broker))
            guard code == RD_KAFKA_RESP_ERR_NO_ERROR else { return code }
            if !isUp {
                cluster.down.insert(broker)
            } else if broker == -1 {
                cluster.down = []
            } else {
                if cluster.down.remove(-1) != nil { cluster.down.formUnion(1...brokers) }
                cluster.down.remove(broker)
            }
            return code
        }
    }

    private static let portsInMotion = Mutex(())

    /// Runs a closure that starts a process, in a program that also stops brokers.
    ///
    /// A broker that stops releases its port and binds it again at once. A child process holds all ports of its parent
    /// until exec; the port is then in use, and librdkafka aborts the parent.
    public static func whileNoBrokerGoesDown<Result>(_ start: () throws -> Result) rethrows -> Result {
        try portsInMotion.withLock { _ in try start() }
    }

    private static func takeDown(_ cluster: OpaquePointer, _ broker: Int32) -> rd_kafka_resp_err_t {
        portsInMotion.withLock { _ in rd_kafka_mock_broker_set_down(cluster, broker) }
    }

    /// Sets the response latency of a broker, in whole milliseconds.
    ///
    /// - Parameter broker: 1 to `brokers`, or -1 for all of them.
    /// - Throws: `LocalBrokerError` when there is no such broker, or after the shutdown.
    public func setLatency(_ latency: Duration, broker: Int = 1) throws {
        try change("the latency of broker \(broker) could not be set") {
            rd_kafka_mock_broker_set_rtt($0.pointer, Int32(clamping: broker), latency.mockMilliseconds)
        }
    }

    private func change(_ what: @autoclosure () -> String, _ call: (inout Cluster) -> rd_kafka_resp_err_t) throws {
        let code = try cluster.withLock { cluster in
            guard var changed = cluster else { throw LocalBrokerError("\(what()): the embedded broker is shut down") }
            defer { cluster = changed }
            return call(&changed)
        }
        guard code == RD_KAFKA_RESP_ERR_NO_ERROR else {
            throw LocalBrokerError("\(what()): \(String(cString: rd_kafka_err2str(code)))")
        }
    }

    // MARK: - The end

    /// Shuts the cluster down and drops all data; close clients before. Waits on a separate thread.
    public func shutDown() async {
        let last = cluster.withLock { cluster in
            defer { cluster = nil }
            return cluster
        }
        guard let last else { return }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                last.destroy()
                continuation.resume()
            }
        }
    }
}

extension Duration {
    /// Whole milliseconds, 0 to a day.
    fileprivate var mockMilliseconds: Int32 {
        let (seconds, attoseconds) = min(max(self, .zero), .seconds(86_400)).components
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

/// A failure of the embedded broker.
public struct LocalBrokerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What failed, and why.
    public var description: String

    init(_ description: String) { self.description = description }
}
