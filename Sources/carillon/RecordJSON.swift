import Foundation
import Kafka
import NotificationModel

/// A record as one JSON object on one line, for other programs.
///
/// `key` and a header are text, or null, or `{"base64": …}` when the bytes are not readable text. `value` is the JSON itself when it
/// is JSON; everything else is in `valueBase64`. Of headers with one name the last counts, as with Kafka's own clients.
enum RecordJSON {
    static func line(_ record: KafkaConsumerRecord) -> [UInt8] {
        var members = [
            JSONValue.Member("topic", .string(record.topic)),
            JSONValue.Member("partition", .number("\(record.partition)")),
            JSONValue.Member("offset", .number("\(record.offset)")),
            JSONValue.Member(
                "timestamp",
                record.timestamp.map { .string(Timestamp(rawValue: $0).rfc3339) } ?? .null
            ),
            JSONValue.Member("key", text(record.key)),
            JSONValue.Member("headers", headers(record.headers)),
        ]
        members.append(value(record.value))
        return JSONValue.object(members).json + [0x0A]
    }

    private static func value(_ bytes: [UInt8]?) -> JSONValue.Member {
        guard let bytes else { return JSONValue.Member("value", .null) }
        if let parsed = try? JSONValue.parse(bytes) {
            return JSONValue.Member("value", parsed)
        }
        return JSONValue.Member("valueBase64", .string(Data(bytes).base64EncodedString()))
    }

    private static func headers(_ headers: [KafkaHeader]) -> JSONValue {
        var members: [JSONValue.Member] = []
        for header in headers {
            members.removeAll { $0.name == header.name }
            members.append(JSONValue.Member(header.name, text(header.value)))
        }
        return .object(members)
    }

    private static func text(_ bytes: [UInt8]?) -> JSONValue {
        guard let bytes else { return .null }
        if let text = RecordText.readable(bytes) {
            return .string(text)
        }
        return .object([JSONValue.Member("base64", .string(Data(bytes).base64EncodedString()))])
    }
}

/// Bytes of a record as text for people.
enum RecordText {
    /// The text of bytes that are UTF-8 without control characters, such as the big-endian numbers of dead letters.
    static func readable(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isControl)
        else {
            return nil
        }
        return text
    }

    /// Safe on a terminal: no control character of a record reaches it.
    static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// C0, DEL, C1, and the marks that turn the direction of text.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
