import CRDKafka

extension KafkaError {
    /// Codes after which the same call may succeed: network errors, timeouts, elections, moving coordinators. `_SSL` is
    /// included because librdkafka before 2.2 treats an unclean TLS shutdown as a permanent error.
    private static let retriable: Set<Int32> = [
        -195, -193, -192, -187, -185, -184, -181, -180, -166, -153, 3, 5, 6, 7, 8, 9, 13, 14, 15, 16, 19, 20, 27, 56,
    ]

    /// Built once: the hot path throws it often.
    static let queueIsFull = KafkaError(RD_KAFKA_RESP_ERR__QUEUE_FULL, doing: "publish")
    static let clientIsClosed = KafkaError(code: .destroyed, reason: "the client is closed: create a new one")

    static func unconfirmed(in topic: String) -> KafkaError {
        KafkaError(
            code: .unconfirmed,
            reason: "publish to \(topic): librdkafka reported success without an offset; check the topic or resend"
        )
    }

    /// librdkafka takes C strings: a zero byte would cut the name off and select another topic.
    static func checkName(_ topic: String) throws(KafkaError) {
        guard !topic.isEmpty, !topic.utf8.contains(0) else {
            throw KafkaError(code: .invalidArgument, reason: "a topic name must not be empty or contain a zero byte")
        }
    }

    /// An error from a code: the attempted operation, then librdkafka's text.
    init(_ code: rd_kafka_resp_err_t, doing what: String) {
        self.init(
            code: Code(rawValue: code.rawValue),
            reason: "\(what): \(String(cString: rd_kafka_err2str(code)))",
            isFatal: code == RD_KAFKA_RESP_ERR__FATAL,
            isRetriable: Self.retriable.contains(code.rawValue)
        )
    }

    /// Consumes an owned error: copies its contents and destroys it.
    ///
    /// - Parameter asFlagged: retriable only if the error is flagged so, whatever its code: inside a transaction a code
    ///   that is retriable elsewhere can mean that the transaction is lost.
    init(consuming error: OpaquePointer, doing what: String, asFlagged: Bool = false) {
        self.init(
            code: Code(rawValue: rd_kafka_error_code(error).rawValue),
            reason: "\(what): \(String(cString: rd_kafka_error_string(error)))",
            isFatal: rd_kafka_error_is_fatal(error) != 0,
            isRetriable: rd_kafka_error_is_retriable(error) != 0
                || (!asFlagged && Self.retriable.contains(rd_kafka_error_code(error).rawValue)),
            requiresAbort: rd_kafka_error_txn_requires_abort(error) != 0
        )
        rd_kafka_error_destroy(error)
    }

    static func check(_ code: rd_kafka_resp_err_t, doing what: @autoclosure () -> String) throws(KafkaError) {
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw KafkaError(code, doing: what())
    }
}
