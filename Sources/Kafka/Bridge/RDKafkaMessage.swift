import CRDKafka
import Foundation

/// Reads a `rd_kafka_message_t`.
enum RDKafkaMessage {
    /// A copy; nil for a null pointer, which differs from an empty value.
    static func bytes(_ start: UnsafeRawPointer?, _ count: Int) -> [UInt8]? {
        guard let start else { return nil }
        return Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    static func headers(of message: UnsafePointer<rd_kafka_message_t>) -> [KafkaHeader] {
        var headers: [KafkaHeader] = []
        forEachHeader(of: message) { name, value in
            headers.append(KafkaHeader(name: String(decoding: name, as: UTF8.self), value: value.map { Array($0) }))
        }
        return headers
    }

    static func forEachHeader(
        of message: UnsafePointer<rd_kafka_message_t>,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) -> Void
    ) {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        var index = 0
        var (name, value, size): (UnsafePointer<CChar>?, UnsafeRawPointer?, Int) = (nil, nil, 0)
        while rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR {
            body(
                UnsafeRawBufferPointer(start: name, count: name.map { strlen($0) } ?? 0),
                value.map { UnsafeRawBufferPointer(start: $0, count: size) }
            )
            index += 1
        }
    }

    /// Borrowed from the message.
    static func header(
        _ name: KafkaHeaderName,
        of message: UnsafePointer<rd_kafka_message_t>
    ) -> UnsafeRawBufferPointer? {
        var list: OpaquePointer?
        guard rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        var (value, size): (UnsafeRawPointer?, Int) = (nil, 0)
        let error = name.withCString { rd_kafka_header_get_last(list, $0, &value, &size) }
        guard error == RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
        return value.map { UnsafeRawBufferPointer(start: $0, count: size) }
    }
}
