import Foundation
import Kafka
import NotificationModel

/// A record as one JSON object on one line, for programs.
///
/// `key` and a header are text, or null, or `{"base64": …}` if the bytes are not readable text. `value` is the JSON
/// value itself if it is JSON, null for a null value. Bytes that cannot be reproduced from it are in `valueBase64`
/// (white space in JSON counts). Of headers with the same name the last counts, as in Kafka's own clients.
/// ``TailLine`` reads it. A dead letter also has `deadLetter`, with its headers as readable text.
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
        if let letter = DeadLetterNote(record) { members.append(.init("deadLetter", letter.json)) }
        members += value(record.value)
        return JSONValue.object(members).json + [0x0A]
    }

    private static func value(_ bytes: [UInt8]?) -> [JSONValue.Member] {
        guard let bytes else { return [JSONValue.Member("value", .null)] }
        let parsed = try? JSONValue.parse(bytes)
        var members = parsed.map { [JSONValue.Member("value", $0)] } ?? []
        if parsed == nil || parsed == .null || parsed?.json != bytes {
            members.append(JSONValue.Member("valueBase64", .string(Data(bytes).base64EncodedString())))
        }
        return members
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
