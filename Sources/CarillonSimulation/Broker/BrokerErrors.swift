import Kafka

/// The errors of the simulated cluster and its clients, with the flags that librdkafka sets.
extension KafkaError {
    /// The broker did not answer in time: it may have carried out the request.
    static let noReply = KafkaError(code: .timedOut, reason: "no reply in time (simulated)", isRetriable: true)
    static let connectionBroke = KafkaError(
        code: .transport,
        reason: "the connection broke (simulated)",
        isRetriable: true
    )
    static let coordinatorLoading = KafkaError(
        code: .init(rawValue: 14),
        reason: "the coordinator is loading (simulated)",
        isRetriable: true
    )
    /// Another producer has the transactional id.
    static let producerFenced = KafkaError(
        code: .init(rawValue: -144),
        reason: "a newer producer has the transactional id (simulated)",
        isFatal: true
    )
    static let wrongTransactionState = KafkaError(
        code: .init(rawValue: 48),
        reason: "the transaction is not in a state for this (simulated)",
        isFatal: true
    )
    /// librdkafka's own check, before it sends anything.
    static let notNow = KafkaError(code: .state, reason: "the client is not in a state for the call (simulated)")
    static let illegalGeneration = KafkaError(
        code: .init(rawValue: 22),
        reason: "the group has rebalanced without this member (simulated)",
        requiresAbort: true
    )
    static let unknownMember = KafkaError(
        code: .init(rawValue: 25),
        reason: "the group does not know this member (simulated)",
        requiresAbort: true
    )
    /// A record of the transaction was not written, or the broker refused a part of the transaction.
    static let transactionMustAbort = KafkaError(
        code: .init(rawValue: 29),
        reason: "the transaction cannot be committed (simulated)",
        requiresAbort: true
    )
    static let offsetOutOfRange = KafkaError(code: .autoOffsetReset, reason: "offset out of range (simulated)")
    static let fatalOfClient = KafkaError(
        code: .fatal,
        reason: "the client failed permanently (simulated)",
        isFatal: true
    )
    static let recordIsTooLarge = KafkaError(code: .messageTooLarge, reason: "the record is too large (simulated)")
    static let queueIsFullHere = KafkaError(
        code: .queueFull,
        reason: "the queue is full (simulated)",
        isRetriable: true
    )
}
