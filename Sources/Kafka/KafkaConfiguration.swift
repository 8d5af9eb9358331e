import CRDKafka
import Foundation

/// The connection to a cluster; the same for producers and consumers.
public struct KafkaClientConfiguration: Sendable, Hashable {
    /// `host:port` of some brokers.
    public var bootstrapServers: [String]
    /// The id that brokers log and apply quotas to.
    public var clientID: String
    /// Any librdkafka property, by its name. It overrides every default and every field here, under each of the
    /// property's names. A property of the other kind of client, such as `session.timeout.ms` for a producer, is left
    /// out. For a name that librdkafka does not know, or a value that it rejects, the client's initializer throws an
    /// error that names the property. `transactional.id` is rejected too: see
    /// `KafkaProducerConfiguration.transactionalID`.
    public var properties: [String: String]

    /// Default values for everything except the brokers.
    public init(bootstrapServers: [String], clientID: String = "carillon", properties: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.properties = properties
    }

    /// Whether librdkafka knows a property of this name, of a producer or a consumer.
    public static func isProperty(_ name: String) -> Bool { RDKafkaConf.knows(name) }

    /// Whether the value of a property is a secret, which no output may show.
    public static func isSecret(_ name: String) -> Bool { RDKafkaConf.isSecret(name) }

    var base: [String: String] {
        [
            "bootstrap.servers": bootstrapServers.map(Self.withoutTrailingDot).joined(separator: ","),
            "client.id": clientID,
            // Nagle's algorithm is on by default in librdkafka before 2.10.
            "socket.nagle.disable": "true",
            // Planned and idle disconnects are not worth a log line.
            "log.connection.close": "false",
        ]
    }

    /// `broker.example.:9092` fails host name verification in librdkafka before 2.13.
    static func withoutTrailingDot(_ server: String) -> String {
        if server.hasSuffix(".") { return String(server.dropLast()) }
        guard let dot = server.range(of: ".:", options: .backwards) else { return server }
        return server.replacingCharacters(in: dot, with: ":")
    }

    /// Defaults first, then the user's properties: of several names of one property the last counts.
    func properties(
        over defaults: [String: String],
        except others: Set<String>
    ) -> [(name: String, value: String)] {
        let own = properties.filter { !others.contains($0.key) }
        let kept = defaults.filter { own[$0.key] == nil }
        return [kept, own].flatMap { set in
            set.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        }
    }
}

/// Shows properties by name only: a value may be a password.
extension KafkaClientConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Client, brokers and the names of the properties.
    public var description: String {
        "\(clientID) at \(bootstrapServers.joined(separator: ",")), properties \(properties.keys.sorted())"
    }
    /// The same text, for printing a struct that contains this one.
    public var debugDescription: String { description }
    /// The same text, for `dump` and for loggers that use reflection.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// How a producer works: always idempotent, acknowledged by all in-sync replicas.
public struct KafkaProducerConfiguration: Sendable, Hashable {
    /// How to reach the cluster.
    public var client: KafkaClientConfiguration
    /// How long a batch collects records; whole milliseconds, rounded up, 0 to 900,000.
    public var linger: Duration = .milliseconds(5)
    /// Records that may wait in the local queue, 1 to 10,000,000. A full queue means backpressure.
    public var maximumBufferedRecords = 200_000
    /// Kibibytes that may wait in the local queue, 1 or more. A full queue means backpressure.
    public var maximumBufferedKibibytes = 256 * 1024
    /// Time for a record, from when librdkafka accepts it until it fails; nil to wait without limit. A record that is
    /// resent after a fatal error gets that time again.
    public var deliveryTimeout: Duration?
    /// Requests in flight per broker, 1 to 5. With 1, no record is ever ``KafkaError/Code/unconfirmed``, but partitions
    /// wait for each other.
    public var maximumRequestsInFlight = 5
    /// How long `KafkaProducer.send` may wait for room in the queue.
    public var queueFullTimeout: Duration = .seconds(30)
    /// Makes a `KafkaLaneProducer` transactional. Keep the id of an instance across restarts: the next start completes
    /// or aborts what the previous one left open. Instances that run at the same time need different ids, or they fence
    /// each other.
    public var transactionalID: String?
    /// The longest time from a transaction's first record to its commit: 1 s or more, at most what the broker allows
    /// (15 minutes). After it the coordinator aborts the transaction; an abandoned transaction blocks readers for as
    /// long. A record of a transaction fails after this time, or after `deliveryTimeout` if that is shorter.
    public var transactionTimeout: Duration = .seconds(10)

    /// Default values for everything except the client.
    public init(client: KafkaClientConfiguration, deliveryTimeout: Duration? = nil) {
        self.client = client
        self.deliveryTimeout = deliveryTimeout
    }

    /// librdkafka's properties, in the order in which they are set.
    var properties: [(name: String, value: String)] {
        var properties = client.base
        properties["enable.idempotence"] = "true"
        properties["acks"] = "all"
        properties["partitioner"] = "murmur2_random"
        properties["max.in.flight.requests.per.connection"] = "\(maximumRequestsInFlight)"
        properties["queue.buffering.max.ms"] = "\(linger.librdkafkaMilliseconds)"
        properties["queue.buffering.max.messages"] = "\(maximumBufferedRecords)"
        properties["queue.buffering.max.kbytes"] = "\(maximumBufferedKibibytes)"
        if let transactionalID {
            properties["transactional.id"] = transactionalID
            let own = client.properties["transaction.timeout.ms"].flatMap { Int32($0) }
            let timeout = own ?? transactionTimeout.librdkafkaMilliseconds
            properties["transaction.timeout.ms"] = "\(timeout)"
            // A transactional call waits for the request in flight, however short its own timeout is.
            properties["socket.timeout.ms"] = "\(max(timeout / 2, 10))"
            // librdkafka rejects a longer one.
            properties["message.timeout.ms"] = "\(min(deliveryTimeout?.librdkafkaMilliseconds ?? timeout, timeout))"
        } else {
            properties["message.timeout.ms"] = "\(deliveryTimeout?.librdkafkaMilliseconds ?? 0)"
        }
        return client.properties(over: properties, except: Self.consumerOnly)
    }

    /// The maximum size of a record, and of a batch, as librdkafka counts it (`message.max.bytes`, 1,000 to
    /// 1,000,000,000).
    public var maximumRecordBytes: Int {
        get {
            let own = client.properties[Self.recordBytesProperty]?.trimmingCharacters(in: .whitespaces)
            return own.flatMap { Int($0) } ?? Self.usualRecordBytes
        }
        set { client.properties[Self.recordBytesProperty] = "\(newValue)" }
    }

    private static let recordBytesProperty = "message.max.bytes"
    /// librdkafka's default.
    static let usualRecordBytes = 1_000_000

    /// A property may turn it off.
    var isIdempotent: Bool {
        let own = client.properties["enable.idempotence"]?.lowercased()
        return own.map { !["false", "f", "0"].contains($0) } ?? true
    }

    /// One set of properties configures both kinds of client; for these librdkafka would log a warning at each start.
    static let consumerOnly: Set<String> = [
        "fetch.wait.max.ms", "fetch.min.bytes", "fetch.max.bytes", "max.partition.fetch.bytes",
        "fetch.error.backoff.ms",
        "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "partition.assignment.strategy",
        "group.id", "group.instance.id", "auto.offset.reset", "isolation.level", "queued.min.messages",
        "queued.max.messages.kbytes", "enable.auto.commit", "enable.auto.offset.store", "check.crcs",
    ]
}

/// How a consumer works: it commits only the offsets it is given.
public struct KafkaConsumerConfiguration: Sendable, Hashable {
    /// What to do when no offset is known, or the known one no longer exists.
    public enum OffsetReset: String, Sendable {
        /// Read from the first record that exists.
        case earliest
        /// Read only records written from now on.
        case latest
        /// `poll` throws.
        case error
    }

    /// How to reach the cluster.
    public var client: KafkaClientConfiguration
    /// The group; nil when partitions are assigned by hand.
    public var groupID: String?
    /// What to do without a valid offset.
    public var offsetReset: OffsetReset = .earliest
    /// Return records of open and aborted transactions too.
    public var readsUncommitted = false
    /// Report where a partition ends, even when its last entries are transaction markers: `lag` and `endPosition` need
    /// it.
    public var tellsEnd = false
    /// Time budget of the revoke hook; the hook receives it as a deadline. Keep it well below `session.timeout.ms`.
    public var revokeTimeout: Duration = .seconds(10)

    /// Default values for everything except the client.
    public init(client: KafkaClientConfiguration, groupID: String? = nil) {
        self.client = client
        self.groupID = groupID
    }

    /// librdkafka's properties, in the order in which they are set.
    var properties: [(name: String, value: String)] {
        var properties = client.base
        // librdkafka requires a group id even without a group.
        properties["group.id"] = groupID ?? "\(client.clientID)-ungrouped"
        properties["enable.auto.commit"] = "false"
        properties["enable.auto.offset.store"] = "false"
        properties["auto.offset.reset"] = offsetReset.rawValue
        properties["isolation.level"] = readsUncommitted ? "read_uncommitted" : "read_committed"
        // Gives equal partition numbers of several topics to one member. Cooperative assignment has bugs in librdkafka
        // 2.0.2.
        properties["partition.assignment.strategy"] = "range"
        properties["enable.partition.eof"] = tellsEnd ? "true" : "false"
        return client.properties(over: properties, except: Self.producerOnly)
    }

    static let producerOnly: Set<String> = [
        "linger.ms", "queue.buffering.max.ms", "queue.buffering.max.messages", "queue.buffering.max.kbytes", "acks",
        "request.required.acks", "enable.idempotence", "compression.type", "compression.codec", "compression.level",
        "batch.size", "batch.num.messages", "message.timeout.ms", "delivery.timeout.ms", "retries",
        "message.send.max.retries", "transactional.id", "transaction.timeout.ms", "partitioner", "request.timeout.ms",
        "max.in.flight.requests.per.connection", "max.in.flight", "sticky.partitioning.linger.ms",
    ]
}

extension KafkaProducerConfiguration {
    /// Checks every property with librdkafka, without connecting.
    ///
    /// - Parameter leastRecordBytes: the smallest `message.max.bytes` that the program's records allow.
    /// - Throws: `KafkaError` that names the property.
    public func check(leastRecordBytes: Int = 0) throws(KafkaError) {
        try checkTransactions()
        try client.checkSecurity()
        try RDKafkaConf.check(properties, RD_KAFKA_PRODUCER)
        guard maximumRecordBytes >= leastRecordBytes else {
            let reason = "kafka property \(Self.recordBytesProperty): must be at least \(leastRecordBytes) here"
            throw KafkaError(code: .invalidArgument, reason: reason)
        }
    }

    /// As a property it would reach every producer that shares the properties, and each would fence the others.
    func checkTransactions() throws(KafkaError) {
        guard client.properties["transactional.id"] == nil else {
            let reason = "kafka property transactional.id: not allowed here; each producer needs its own"
            throw KafkaError(code: .invalidArgument, reason: reason)
        }
        guard let transactionalID else { return }
        guard !transactionalID.isEmpty, !transactionalID.utf8.contains(0) else {
            throw KafkaError(code: .invalidArgument, reason: "transactional id: must be nonempty, without zero bytes")
        }
    }
}

extension KafkaConsumerConfiguration {
    /// Checks every property with librdkafka, without connecting.
    ///
    /// - Throws: `KafkaError` that names the property.
    public func check() throws(KafkaError) {
        try client.checkSecurity()
        try RDKafkaConf.check(properties, RD_KAFKA_CONSUMER)
    }
}
