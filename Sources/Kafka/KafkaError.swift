/// An error of librdkafka or of a broker, or a mistake in a configuration.
public struct KafkaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// librdkafka's error number: negative ones are the client's own, positive ones the broker's.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: Int32
        /// Any number, known to librdkafka or not.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The local queue of the producer is full: backpressure, not a failure.
        public static let queueFull = Code(rawValue: -184)
        /// No answer in time.
        public static let timedOut = Code(rawValue: -185)
        /// A record was not acknowledged within the delivery timeout.
        public static let messageTimedOut = Code(rawValue: -192)
        /// The connection broke or could not be opened.
        public static let transport = Code(rawValue: -195)
        /// No broker can be reached.
        public static let allBrokersDown = Code(rawValue: -187)
        /// The client does not know the topic or partition.
        public static let unknownPartition = Code(rawValue: -190)
        /// The client does not know the topic.
        public static let unknownTopic = Code(rawValue: -188)
        /// The broker does not know the topic or partition.
        public static let unknownTopicOrPartition = Code(rawValue: 3)
        /// Another broker leads the partition; the client retries.
        public static let notLeader = Code(rawValue: 6)
        /// The group is rebalancing: commit again afterwards, or leave the records to their next owner.
        public static let rebalanceInProgress = Code(rawValue: 27)
        /// Larger than the broker or the client allows.
        public static let messageTooLarge = Code(rawValue: 10)
        /// The client is not authorized for the topic.
        public static let topicAuthorizationFailed = Code(rawValue: 29)
        /// A topic of this name exists already.
        public static let topicAlreadyExists = Code(rawValue: 36)
        /// The brokers do not have a request that is needed.
        public static let unsupportedFeature = Code(rawValue: -165)
        /// A property or argument is wrong.
        public static let invalidArgument = Code(rawValue: -186)
        /// A newer producer uses the same transactional id, or the coordinator aborted this producer's transaction.
        public static let fenced = Code(rawValue: -144)
        /// The client cannot continue; create a new one.
        public static let fatal = Code(rawValue: -150)
        /// Purged from the queue before it was sent.
        public static let purgedFromQueue = Code(rawValue: -152)
        /// Purged while its request was in flight: it may have been written.
        public static let purgedInFlight = Code(rawValue: -151)
        /// librdkafka reported success without an offset: the record may or may not have been written.
        public static let unconfirmed = Code(rawValue: -149)
        /// The name of a broker's host has no address; librdkafka tries again.
        static let resolve = Code(rawValue: -193)
        /// The reader reached the end of the partition; only with `enable.partition.eof`.
        static let partitionEnd = Code(rawValue: -191)
        /// The state of the client or its group does not allow the call.
        public static let state = Code(rawValue: -172)
        /// The offset is missing or out of the topic's range, with `auto.offset.reset=error`.
        public static let autoOffsetReset = Code(rawValue: -140)
        /// The client was shut down.
        public static let destroyed = Code(rawValue: -197)
    }

    /// The kind of error, for a program.
    public var code: Code
    /// What went wrong, where, and what to do, for a person; it contains no secrets.
    public var reason: String
    /// The client cannot continue.
    public var isFatal: Bool
    /// The same call may succeed later.
    public var isRetriable: Bool
    /// The current transaction can only be aborted; the client can begin another one.
    public var requiresAbort: Bool

    /// An error as a client would throw it, for substitutes of a client.
    public init(
        code: Code,
        reason: String,
        isFatal: Bool = false,
        isRetriable: Bool = false,
        requiresAbort: Bool = false
    ) {
        self.code = code
        self.reason = reason
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.requiresAbort = requiresAbort
    }

    /// The reason and the number.
    public var description: String { "\(reason) (\(code.rawValue))" }
}
