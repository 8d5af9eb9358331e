import CRDKafka

extension KafkaError {
    private static let retriable: Set<Int32> = [-185, -192, -195, -187, -184, 3, 5, 6, 7, 8, 13, 14, 15, 16, 19, 20, 22, 27]

    /// From a code, with librdkafka's text after what was attempted.
    init(_ code: rd_kafka_resp_err_t, doing what: String) {
        self.init(
            code: Code(rawValue: code.rawValue),
            reason: "\(what): \(String(cString: rd_kafka_err2str(code)))",
            isFatal: code == RD_KAFKA_RESP_ERR__FATAL,
            isRetriable: Self.retriable.contains(code.rawValue)
        )
    }

    /// Consumes an owned error: copies what it says and destroys it.
    init(consuming error: OpaquePointer, doing what: String) {
        self.init(
            code: Code(rawValue: rd_kafka_error_code(error).rawValue),
            reason: "\(what): \(String(cString: rd_kafka_error_string(error)))",
            isFatal: rd_kafka_error_is_fatal(error) != 0,
            isRetriable: rd_kafka_error_is_retriable(error) != 0
                || Self.retriable.contains(rd_kafka_error_code(error).rawValue)
        )
        rd_kafka_error_destroy(error)
    }

    static func check(_ code: rd_kafka_resp_err_t, doing what: @autoclosure () -> String) throws(KafkaError) {
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw KafkaError(code, doing: what())
    }
}
