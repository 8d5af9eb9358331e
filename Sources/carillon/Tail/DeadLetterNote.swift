import Kafka
import NotificationModel

/// The reason and origin of a dead letter, from its headers.
struct DeadLetterNote: Hashable {
    var reason: String
    var field: String?
    var detail: String?
    /// The omitted parts of the original.
    var omitted: String?
    var topic: String?
    var partition: Int64?
    var offset: Int64?
    var timestamp: Timestamp?

    /// Nil for a record that is not a dead letter.
    init?(_ record: KafkaConsumerRecord) {
        guard let reason = record.header(DeadLetter.reasonHeader) else { return nil }
        self.reason = reason
        field = record.header(DeadLetter.fieldHeader)
        detail = record.header("kafka_dlt-exception-message")
        omitted = record.header(DeadLetter.omittedHeader)
        topic = record.header("kafka_dlt-original-topic")
        partition = Self.number(record, "kafka_dlt-original-partition")
        offset = Self.number(record, "kafka_dlt-original-offset")
        timestamp = Self.number(record, "kafka_dlt-original-timestamp").map { Timestamp(rawValue: $0) }
    }

    /// Spring writes 4 or 8 bytes, big-endian.
    private static func number(_ record: KafkaConsumerRecord, _ name: String) -> Int64? {
        guard let bytes = record.headers.last(where: { $0.name == name })?.value, [4, 8].contains(bytes.count) else {
            return nil
        }
        let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return bytes.count == 4 ? Int64(Int32(truncatingIfNeeded: bits)) : Int64(bitPattern: bits)
    }

    /// `invalid at content.title from carillon.requests 3/17: must not be empty`
    var text: String {
        var text = RecordText.safe(reason)
        if let field { text += " at \(RecordText.safe(field))" }
        if let topic {
            text += " from \(RecordText.safe(topic))"
            if let partition, let offset { text += " \(partition)/\(offset)" }
        }
        if let detail { text += ": \(RecordText.safe(detail))" }
        if let omitted { text += " (left out: \(RecordText.safe(omitted)))" }
        return text
    }

    var json: JSONValue {
        var members = [JSONValue.Member("reason", .string(reason))]
        if let field { members.append(.init("field", .string(field))) }
        if let detail { members.append(.init("detail", .string(detail))) }
        if let omitted { members.append(.init("omitted", .string(omitted))) }
        if let topic { members.append(.init("topic", .string(topic))) }
        if let partition { members.append(.init("partition", .number("\(partition)"))) }
        if let offset { members.append(.init("offset", .number("\(offset)"))) }
        if let timestamp { members.append(.init("timestamp", .string(timestamp.rfc3339))) }
        return .object(members)
    }
}
