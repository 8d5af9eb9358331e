import Foundation
import Kafka
import NotificationModel

/// A line of `carillon tail --json`, to be published again: see ``RecordJSON``.
struct TailLine {
    var key: [UInt8]?
    var value: [UInt8]?
    var headers: [(name: String, value: [UInt8]?)] = []
    /// Milliseconds since 1970; the base of an interval.
    var timestamp: Int64?
    /// Where the record is.
    var place: RecordPlace?

    init(
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [(name: String, value: [UInt8]?)],
        timestamp: Int64?
    ) {
        (self.key, self.value, self.headers, self.timestamp) = (key, value, headers, timestamp)
    }

    /// Nil for other JSON: neither a request nor an event has a topic, a partition, an offset and headers.
    ///
    /// - Parameters:
    ///   - json: The line.
    ///   - takesDeadLetters: Whether dead letters are wanted, and nothing else.
    /// - Throws: The error in such a line, and `invalid` for a topic that the command cannot send to.
    init?(json: [UInt8], takesDeadLetters: Bool = false) throws(ModelError) {
        // The line adds one level to its value's nesting.
        guard let line = try? JSONValue.parse(json, maximumDepth: ModelLimits.depth + 1),
            line["topic"] != nil, line["partition"] != nil, line["offset"] != nil, line["specversion"] == nil,
            let headers = line["headers"]?.objectValue
        else { return nil }
        for header in headers {
            self.headers.append((header.name, try Self.bytes(header.value, of: "headers.\(header.name)")))
        }
        let type = line["headers"]?["ce_type"]?.stringValue
        guard !takesDeadLetters else {
            guard line["deadLetter"] != nil else {
                throw ModelError(.invalid, field: "topic", "is not that of dead letters")
            }
            try self.read(line)
            return
        }
        guard line["deadLetter"] == nil, type.flatMap({ DeliveryEventName(type: $0) }) == nil else {
            let what =
                line["deadLetter"] == nil
                ? "a delivery event cannot be sent: only requests and business events can"
                : "a dead letter is sent again by 'carillon dead-letters send --file -'"
            throw ModelError(.invalid, field: "topic", what)
        }
        try read(line)
    }

    private mutating func read(_ line: JSONValue) throws(ModelError) {
        place = line["partition"]?.integerValue.flatMap(Int32.init(exactly:)).flatMap { partition in
            line["offset"]?.integerValue.map { RecordPlace(partition: partition, offset: $0) }
        }
        key = try Self.bytes(line["key"] ?? .null, of: "key")
        if let base64 = line["valueBase64"] {
            value = try Self.decoded(base64, of: "valueBase64")
        } else {
            guard let value = line["value"] else { throw ModelError(.invalid, field: "value", "is missing") }
            if value != .null { self.value = value.json }
        }
        if let time = line["timestamp"], time != .null {
            guard let instant = time.stringValue.flatMap({ Timestamp(rfc3339: $0) }) else {
                throw ModelError(.invalid, field: "timestamp", "must be an RFC 3339 date and time, or null")
            }
            timestamp = instant.rawValue
        }
    }

    var headerBuffer: KafkaHeaderBuffer {
        var buffer = KafkaHeaderBuffer()
        for header in headers { buffer.append(KafkaHeader(name: header.name, value: header.value)) }
        return buffer
    }

    /// Text, null, or `{"base64": …}`.
    private static func bytes(_ value: JSONValue, of field: String) throws(ModelError) -> [UInt8]? {
        switch value {
        case .null: return nil
        case .string(let text): return Array(text.utf8)
        default: return try decoded(value["base64"] ?? .null, of: field)
        }
    }

    private static func decoded(_ value: JSONValue, of field: String) throws(ModelError) -> [UInt8] {
        guard let bytes = value.stringValue.flatMap({ Data(base64Encoded: $0) }) else {
            throw ModelError(.invalid, field: field, "must be text, null or base64")
        }
        return Array(bytes)
    }
}
