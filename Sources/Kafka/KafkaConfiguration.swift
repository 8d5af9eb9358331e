import Foundation

/// How to reach a cluster; the same for producers and consumers.
public struct KafkaClientConfiguration: Sendable, Hashable {
    /// `host:port` of some brokers.
    public var bootstrapServers: [String]
    /// What brokers show in their logs and quotas go by.
    public var clientID: String
    /// Any property of librdkafka, by its name; wins over every default and every field here, under each of its names. A
    /// property of the other kind of client, as `session.timeout.ms` for a producer, is left out. A name that librdkafka
    /// does not know, or a value that it does not take, is an error of the client's initializer that names the property.
    /// So is `transactional.id`: see `KafkaProducerConfiguration.transactionalID`.
    public var properties: [String: String]

    /// Defaults for all but the brokers.
    public init(bootstrapServers: [String], clientID: String = "carillon", properties: [String: String] = [:]) {
        self.bootstrapServers = bootstrapServers
        self.clientID = clientID
        self.properties = properties
    }

    /// Whether librdkafka knows a property of this name, of a producer or a consumer.
    public static func isProperty(_ name: String) -> Bool { RDKafkaConf.knows(name) }

    var base: [String: String] {
        [
            "bootstrap.servers": bootstrapServers.map(Self.withoutTrailingDot).joined(separator: ","),
            "client.id": clientID,
            // Nagle's algorithm is on by default in librdkafka before 2.10.
            "socket.nagle.disable": "true",
            // Planned and idle disconnects are no news.
            "log.connection.close": "false",
        ]
    }

    /// `broker.example.:9092` fails the verification of the host name in librdkafka before 2.13.
    static func withoutTrailingDot(_ server: String) -> String {
        if server.hasSuffix(".") { return String(server.dropLast()) }
        guard let dot = server.range(of: ".:", options: .backwards) else { return server }
        return server.replacingCharacters(in: dot, with: ":")
    }

    /// Defaults first and what the user set after them: the last of several names of one property counts.
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

/// Properties are shown by their names only: a value may be a password.
extension KafkaClientConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Client, brokers and the names of the properties.
    public var description: String {
        "\(clientID) at \(bootstrapServers.joined(separator: ",")), properties \(properties.keys.sorted())"
    }
    /// The same; it is what a printed struct shows of what it contains.
    public var debugDescription: String { description }
    /// The same, for `dump` and for loggers that look inside.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// How a producer works: always idempotent, acknowledged by all in-sync replicas.
public struct KafkaProducerConfiguration: Sendable, Hashable {
    /// How to reach the cluster.
    public var client: KafkaClientConfiguration
    /// How long records are collected into a batch; whole milliseconds, rounded up, 0 to 900,000.
    public var linger: Duration = .milliseconds(5)
    /// Records that may wait in the local queue, 1 to 10,000,000; beyond it is backpressure.
    public var maximumBufferedRecords = 200_000
    /// Kibibytes that may wait in the local queue, 1 or more; beyond it is backpressure.
    public var maximumBufferedKibibytes = 256 * 1024
    /// How long a record may take until it fails, from when librdkafka took it; nil to wait for ever. A record that is
    /// published again after a fatal error gets that time once more.
    public var deliveryTimeout: Duration?
    /// Requests that may be under way to one broker, 1 to 5. With 1 no record is ever ``KafkaError/Code/unconfirmed``, and
    /// partitions wait for each other.
    public var maximumRequestsInFlight = 5
    /// How long `KafkaProducer.send` may wait for room in the queue.
    public var queueFullTimeout: Duration = .seconds(30)
    /// Makes a `KafkaLaneProducer` transactional. The same at each start of one instance, so that the next one ends what
    /// the last one left; another one in each instance that runs at the same time, or they fence each other.
    public var transactionalID: String?
    /// How long a transaction may take from its first record to its commit, 1 s or more, at most what the broker allows
    /// (15 minutes); then the coordinator aborts it. As long does an abandoned transaction hold up readers. A record of a
    /// transaction fails when it takes longer than this, or than `deliveryTimeout` if that is shorter.
    public var transactionTimeout: Duration = .seconds(10)

    /// Defaults for all but the client.
    public init(client: KafkaClientConfiguration, deliveryTimeout: Duration? = nil) {
        self.client = client
        self.deliveryTimeout = deliveryTimeout
    }

    /// What librdkafka is told, in order.
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
            // The calls of a transaction wait for the request under way however short their time is.
            properties["socket.timeout.ms"] = "\(max(timeout / 2, 10))"
            // librdkafka takes none that is longer.
            properties["message.timeout.ms"] = "\(min(deliveryTimeout?.librdkafkaMilliseconds ?? timeout, timeout))"
        } else {
            properties["message.timeout.ms"] = "\(deliveryTimeout?.librdkafkaMilliseconds ?? 0)"
        }
        return client.properties(over: properties, except: Self.consumerOnly)
    }

    /// What librdkafka counts of a record at most, and of a batch (`message.max.bytes`, 1,000 to 1,000,000,000).
    public var maximumRecordBytes: Int {
        get {
            let own = client.properties[Self.recordBytesProperty]?.trimmingCharacters(in: .whitespaces)
            return own.flatMap { Int($0) } ?? Self.usualRecordBytes
        }
        set { client.properties[Self.recordBytesProperty] = "\(newValue)" }
    }

    private static let recordBytesProperty = "message.max.bytes"
    /// librdkafka's own.
    static let usualRecordBytes = 1_000_000

    /// A property may say otherwise.
    var isIdempotent: Bool {
        let own = client.properties["enable.idempotence"]?.lowercased()
        return own.map { !["false", "f", "0"].contains($0) } ?? true
    }

    /// One set of properties configures both kinds; librdkafka would warn at each start.
    static let consumerOnly: Set<String> = [
        "fetch.wait.max.ms", "fetch.min.bytes", "fetch.max.bytes", "max.partition.fetch.bytes",
        "fetch.error.backoff.ms",
        "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "partition.assignment.strategy",
        "group.id", "group.instance.id", "auto.offset.reset", "isolation.level", "queued.min.messages",
        "queued.max.messages.kbytes", "enable.auto.commit", "enable.auto.offset.store", "check.crcs",
    ]
}

/// How a consumer works: it commits only what it is told to.
public struct KafkaConsumerConfiguration: Sendable, Hashable {
    /// What to do where no offset is known, or the known one is gone.
    public enum OffsetReset: String, Sendable {
        /// Read from the first record that is there.
        case earliest
        /// Read what comes from now on.
        case latest
        /// `poll` throws.
        case error
    }

    /// How to reach the cluster.
    public var client: KafkaClientConfiguration
    /// The group; nil when partitions are assigned by hand.
    public var groupID: String?
    /// What to do without a usable offset.
    public var offsetReset: OffsetReset = .earliest
    /// See records of open and aborted transactions too.
    public var readsUncommitted = false
    /// Where a partition ends is told, even when its last records are markers of transactions: for `lag` and `endPosition`.
    public var tellsEnd = false
    /// How long the revoke hook may take; what it is told as its deadline. Stay well below `session.timeout.ms`.
    public var revokeTimeout: Duration = .seconds(10)

    /// Defaults for all but the client.
    public init(client: KafkaClientConfiguration, groupID: String? = nil) {
        self.client = client
        self.groupID = groupID
    }

    /// What librdkafka is told, in order.
    var properties: [(name: String, value: String)] {
        var properties = client.base
        // librdkafka wants a group even where none is used.
        properties["group.id"] = groupID ?? "\(client.clientID)-ungrouped"
        properties["enable.auto.commit"] = "false"
        properties["enable.auto.offset.store"] = "false"
        properties["auto.offset.reset"] = offsetReset.rawValue
        properties["isolation.level"] = readsUncommitted ? "read_uncommitted" : "read_committed"
        // Equal partition numbers of several topics meet in one member; cooperative assignment has faults in 2.0.2.
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
    /// Asks librdkafka whether it takes every property, without making a client.
    ///
    /// - Parameter leastRecordBytes: what the records of the program need of `message.max.bytes`.
    /// - Throws: `KafkaError` that names the property.
    public func check(leastRecordBytes: Int = 0) throws(KafkaError) {
        try checkTransactions()
        try RDKafkaConf.check(properties)
        guard maximumRecordBytes >= leastRecordBytes else {
            let reason = "kafka property \(Self.recordBytesProperty): must be at least \(leastRecordBytes) here"
            throw KafkaError(code: .invalidArgument, reason: reason)
        }
    }

    /// As a property it would go to every producer that shares the properties, and each would fence the others.
    func checkTransactions() throws(KafkaError) {
        guard client.properties["transactional.id"] == nil else {
            let reason = "kafka property transactional.id: is not taken here; it belongs to one producer alone"
            throw KafkaError(code: .invalidArgument, reason: reason)
        }
        guard let transactionalID else { return }
        guard !transactionalID.isEmpty, !transactionalID.utf8.contains(0) else {
            throw KafkaError(code: .invalidArgument, reason: "a transactional id is not empty and has no zero byte")
        }
    }
}

extension KafkaConsumerConfiguration {
    /// Asks librdkafka whether it takes every property, without making a client.
    ///
    /// - Throws: `KafkaError` that names the property.
    public func check() throws(KafkaError) { try RDKafkaConf.check(properties) }
}
