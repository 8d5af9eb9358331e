import Kafka

/// What the simulated cluster and its clients answer, with the flags that librdkafka gives them.
extension KafkaError {
    /// The broker answered nothing in time: what was asked may have been done.
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
    /// librdkafka's own check, before anything is sent.
    static let notNow = KafkaError(code: .state, reason: "the client is not in a state for the call (simulated)")
    static let illegalGeneration = KafkaError(
        code: .init(rawValue: 22),
        reason: "the group has gone on without this member (simulated)",
        requiresAbort: true
    )
    static let unknownMember = KafkaError(
        code: .init(rawValue: 25),
        reason: "the group does not know this member (simulated)",
        requiresAbort: true
    )
    /// A record of the transaction was not written, or the broker refused part of it.
    static let transactionMustAbort = KafkaError(
        code: .init(rawValue: 29),
        reason: "the transaction cannot be committed (simulated)",
        requiresAbort: true
    )
    static let offsetOutOfRange = KafkaError(code: .autoOffsetReset, reason: "offset out of range (simulated)")
    static let fatalOfClient = KafkaError(code: .fatal, reason: "the client failed for good (simulated)", isFatal: true)
    static let recordIsTooLarge = KafkaError(code: .messageTooLarge, reason: "the record is too large (simulated)")
    static let queueIsFullHere = KafkaError(
        code: .queueFull,
        reason: "the queue is full (simulated)",
        isRetriable: true
    )
}
