/// What librdkafka or a broker refused, or what a configuration got wrong.
public struct KafkaError: Error, Sendable, Hashable, CustomStringConvertible {
    /// librdkafka's error number: negative ones are the client's own, positive ones the broker's.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The number.
        public let rawValue: Int32
        /// Any number librdkafka knows, or one it does not.
        public init(rawValue: Int32) { self.rawValue = rawValue }

        /// The local queue of the producer is full: backpressure, not a failure.
        public static let queueFull = Code(rawValue: -184)
        /// Nothing answered in time.
        public static let timedOut = Code(rawValue: -185)
        /// A record was not acknowledged within the delivery timeout.
        public static let messageTimedOut = Code(rawValue: -192)
        /// The connection broke or could not be made.
        public static let transport = Code(rawValue: -195)
        /// No broker can be reached.
        public static let allBrokersDown = Code(rawValue: -187)
        /// The topic or partition is not there, says the client.
        public static let unknownPartition = Code(rawValue: -190)
        /// The topic is not there, says the client.
        public static let unknownTopic = Code(rawValue: -188)
        /// The topic or partition is not there, says the broker.
        public static let unknownTopicOrPartition = Code(rawValue: 3)
        /// The leader of a partition is elsewhere; retried by the client.
        public static let notLeader = Code(rawValue: 6)
        /// The group is being shared out anew: commit again after it, or leave the records to their next owner.
        public static let rebalanceInProgress = Code(rawValue: 27)
        /// Larger than the broker or the client allows.
        public static let messageTooLarge = Code(rawValue: 10)
        /// Not allowed to use the topic.
        public static let topicAuthorizationFailed = Code(rawValue: 29)
        /// A property or argument is wrong.
        public static let invalidArgument = Code(rawValue: -186)
        /// A newer producer uses the same transactional id, or the coordinator gave up on this one's transaction.
        public static let fenced = Code(rawValue: -144)
        /// The client cannot go on and must be made anew.
        public static let fatal = Code(rawValue: -150)
        /// Taken out of the queue before it was sent.
        public static let purgedFromQueue = Code(rawValue: -152)
        /// Given up while it was on its way: it may have been written.
        public static let purgedInFlight = Code(rawValue: -151)
        /// Nobody acknowledged it, and librdkafka took it for acknowledged: it is missing or was written.
        public static let unconfirmed = Code(rawValue: -149)
        /// Nothing more is in the partition for now; only with `enable.partition.eof`.
        static let partitionEnd = Code(rawValue: -191)
        /// The client or its group is not in a state for the call.
        public static let state = Code(rawValue: -172)
        /// No offset is stored where one was asked for.
        public static let noOffset = Code(rawValue: -168)
        /// An offset outside of what the topic holds, or none, with `auto.offset.reset=error`.
        public static let autoOffsetReset = Code(rawValue: -140)
        /// The client was shut down.
        public static let destroyed = Code(rawValue: -197)
    }

    /// What went wrong, for a program.
    public var code: Code
    /// What went wrong, where, and what to do, for a person; without secrets.
    public var reason: String
    /// The client cannot go on.
    public var isFatal: Bool
    /// The same call may succeed later.
    public var isRetriable: Bool
    /// The transaction at hand can only be aborted; the client can go on with another one.
    public var requiresAbort: Bool

    /// An error as a client would throw it; for what stands in for one.
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
