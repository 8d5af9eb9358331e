import CRDKafka

/// librdkafka's transactional calls. Each is one blocking attempt.
extension RDKafkaHandle {
    func initTransactions(within time: Duration) throws(KafkaError) {
        try Self.check(
            rd_kafka_init_transactions(pointer, time.transactionMilliseconds),
            doing: "initialize transactions"
        )
    }

    func beginTransaction() throws(KafkaError) {
        try Self.check(rd_kafka_begin_transaction(pointer), doing: "begin a transaction")
    }

    func commitTransaction(within time: Duration) throws(KafkaError) {
        try Self.check(
            rd_kafka_commit_transaction(pointer, time.transactionMilliseconds),
            doing: "commit a transaction"
        )
    }

    func abortTransaction(within time: Duration) throws(KafkaError) {
        try Self.check(rd_kafka_abort_transaction(pointer, time.transactionMilliseconds), doing: "abort a transaction")
    }

    func sendOffsets(
        _ offsets: borrowing RDKafkaTopicPartitionList,
        of consumer: OpaquePointer,
        within time: Duration
    ) throws(KafkaError) {
        let what = "add offsets to a transaction"
        guard let metadata = rd_kafka_consumer_group_metadata(consumer) else {
            throw KafkaError(code: .invalidArgument, reason: "\(what): the consumer has no group")
        }
        defer { rd_kafka_consumer_group_metadata_destroy(metadata) }
        let error = offsets.withPointer { list in
            rd_kafka_send_offsets_to_transaction(pointer, list, metadata, time.transactionMilliseconds)
        }
        try Self.check(error, doing: what)
    }

    private static func check(_ error: OpaquePointer?, doing what: String) throws(KafkaError) {
        guard let error else { return }
        throw KafkaError(consuming: error, doing: what, asFlagged: true)
    }
}

extension Duration {
    /// At least half a second: if a call times out before librdkafka's own thread has noticed it, the repeated call
    /// takes the late answer to its first step for the answer to the next step (2.0.2).
    fileprivate var transactionMilliseconds: Int32 { max(self, .milliseconds(500)).librdkafkaMilliseconds }
}
