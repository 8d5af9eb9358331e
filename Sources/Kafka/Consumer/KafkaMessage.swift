import CRDKafka
import Foundation

/// A polled record. It owns librdkafka's message and its bytes; the results of its methods are copies.
public struct KafkaMessage: ~Copyable {
    private let pointer: UnsafeMutablePointer<rd_kafka_message_t>

    init(_ pointer: UnsafeMutablePointer<rd_kafka_message_t>) { self.pointer = pointer }

    deinit { rd_kafka_message_destroy(pointer) }

    /// The topic's name, decoded on each call.
    public var topic: String { pointer.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) } ?? "" }
    /// Whether it is of the topic; decodes nothing.
    public func isOf(_ topic: String) -> Bool {
        guard let rkt = pointer.pointee.rkt else { return false }
        return topic.withCString { strcmp($0, rd_kafka_topic_name(rkt)) == 0 }
    }

    /// The partition's number, from 0.
    public var partition: Int32 { pointer.pointee.partition }
    /// The record's offset in the partition, from 0.
    public var offset: Int64 { pointer.pointee.offset }

    /// Milliseconds since 1970; nil when the record has none.
    public var timestamp: Int64? {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = rd_kafka_message_timestamp(pointer, &kind)
        return kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE || timestamp < 0 ? nil : timestamp
    }

    /// The key; nil when there is none.
    public func key() -> [UInt8]? { RDKafkaMessage.bytes(pointer.pointee.key, pointer.pointee.key_len) }

    /// The value; nil for a tombstone, empty for an empty value.
    public func value() -> [UInt8]? { RDKafkaMessage.bytes(pointer.pointee.payload, pointer.pointee.len) }

    /// The value of the last header with this name; nil when the header is missing or its value is null.
    public func headerValue(_ name: KafkaHeaderName) -> [UInt8]? {
        withHeaderValue(name) { $0.map { Array($0) } }
    }

    /// Calls the body with the value of the last header of this name, borrowed until the body returns; nil when the
    /// header is missing or its value is null.
    public func withHeaderValue<Result>(_ name: KafkaHeaderName, _ body: (UnsafeRawBufferPointer?) -> Result) -> Result
    {
        body(RDKafkaMessage.header(name, of: pointer))
    }

    /// Calls the body with each header in order; names and values are borrowed until the body returns. A null value is
    /// nil.
    public func forEachHeader(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer?) -> Void) {
        RDKafkaMessage.forEachHeader(of: pointer, body)
    }

    /// All headers, in order.
    public func headers() -> [KafkaHeader] { RDKafkaMessage.headers(of: pointer) }

    /// A copy of everything.
    public func record() -> KafkaConsumerRecord {
        KafkaConsumerRecord(
            topic: topic,
            partition: partition,
            offset: offset,
            timestamp: timestamp,
            key: key(),
            value: value(),
            headers: headers()
        )
    }
}
