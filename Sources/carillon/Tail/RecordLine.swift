import Kafka
import NotificationModel
import ServiceSupport

/// A record as one line for people, with times in UTC.
///
///     08:00:01.234  3/17  shop/user-42/order-1001  scheduled  "On its way" Order 1001 has shipped., due 08:00:06.234
enum RecordLine {
    private static let valueLength = 160
    /// Of what is told in words: each of them has a limit of its own.
    private static let summaryLength = 1_000

    /// - Parameter now: Instants of another day are shown with their date.
    static func text(_ record: KafkaConsumerRecord, colours: Bool, now: Timestamp = SystemClock.now()) -> String {
        func paint(_ text: String, _ code: String) -> String {
            colours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
        let time = record.timestamp.map { MomentText(now: now).text(Timestamp(rawValue: $0)) } ?? "--:--:--.---"
        let key = record.key.map { RecordText.safe(String(decoding: $0, as: UTF8.self)) } ?? "-"
        let name = RecordName(record).map { RecordText.safe($0.short) }
        var fields = [
            paint(time, "2"),
            paint("\(record.partition)/\(record.offset)", "2"),
            paint(key, "36"),
        ]
        if let letter = DeadLetterNote(record) {
            fields.append(paint("dead letter: \(letter.text)", "31"))
            if let name { fields.append(paint("(\(name))", "2")) }
        } else {
            fields.append(name.map { paint($0, colour(of: $0)) } ?? "-")
        }
        fields.append(summary(record, now: now))
        return fields.joined(separator: "  ") + "\n"
    }

    private static func colour(of name: String) -> String {
        switch name {
        case "delivered": "32"
        case "scheduled", "held", "request", "entry": "34"
        case "superseded", "digested", "removed", "cancelled", "removal", "marker", "tombstone": "33"
        default: name.hasPrefix("com.") ? "35" : "31"
        }
    }

    // MARK: - Summary of the value

    private static func summary(_ record: KafkaConsumerRecord, now: Timestamp) -> String {
        guard let bytes = record.value else { return "(no value: a tombstone)" }
        if let note = StateNote.pieces(record) { return RecordText.safe(note.joined(separator: ", ")) }
        let hasNames = record.key.flatMap { try? NotificationKey(encoded: $0) } != nil
        return summary(of: bytes, now: now, keyHasNames: hasNames)
    }

    /// What people want to know of a request, a removal, a signal or an event; the beginning of any other value.
    ///
    /// - Parameter keyHasNames: Whether application, recipient and identifier are shown already.
    static func summary(of bytes: [UInt8], now: Timestamp = SystemClock.now(), keyHasNames: Bool = true) -> String {
        guard let value = try? JSONValue.parse(bytes) else {
            let text = RecordText.readable(Array(bytes.prefix(valueLength * 4)))
            return text.map { shortened(RecordText.safe($0), valueLength) } ?? "(\(bytes.count) bytes)"
        }
        if let pieces = RecordSummary.pieces(value, MomentText(now: now), keyHasNames: keyHasNames) {
            return shortened(RecordText.safe(pieces.joined(separator: ", ")), summaryLength)
        }
        return shortened(RecordText.safe(String(decoding: value.json, as: UTF8.self)), valueLength)
    }

    /// The time of an instant.
    static func timeOfDay(_ rfc3339: String) -> String {
        guard rfc3339.count == 24 else { return rfc3339 }
        return String(rfc3339.dropFirst(11).dropLast())
    }

    private static func shortened(_ text: String, _ length: Int) -> String {
        text.count > length ? text.prefix(length) + "…" : text
    }
}
