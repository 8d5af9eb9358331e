import Kafka
import NotificationModel

/// A record as one line for people.
///
///     08:00:01.234  3/17  shop/user-42/order-1001  scheduled  "On its way" Order 1001 has shipped., due 08:00:06.234
enum RecordLine {
    private static let valueLength = 160
    private static let devicesShown = 3

    static func text(_ record: KafkaConsumerRecord, colours: Bool) -> String {
        func paint(_ text: String, _ code: String) -> String {
            colours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
        }
        let time = record.timestamp.map { timeOfDay(Timestamp(rawValue: $0).rfc3339) } ?? "--:--:--.---"
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
        fields.append(summary(record))
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

    private static func summary(_ record: KafkaConsumerRecord) -> String {
        guard let bytes = record.value else { return "(no value: a tombstone)" }
        if let note = StateNote.pieces(record) { return RecordText.safe(note.joined(separator: ", ")) }
        return summary(of: bytes)
    }

    /// What people want to know of a request, a removal or an event; the beginning of any other value.
    static func summary(of bytes: [UInt8]) -> String {
        guard let value = try? JSONValue.parse(bytes) else {
            let text = RecordText.readable(Array(bytes.prefix(valueLength * 4)))
            return text.map { shortened(RecordText.safe($0)) } ?? "(\(bytes.count) bytes)"
        }
        let pieces = notification(value)
        let text = pieces.isEmpty ? String(decoding: value.json, as: UTF8.self) : pieces.joined(separator: ", ")
        return shortened(RecordText.safe(text))
    }

    /// The fields of requests, removals and events; empty for any other JSON.
    private static func notification(_ value: JSONValue) -> [String] {
        var pieces: [String] = []
        if let action = value["actionIdentifier"]?.stringValue {
            let text = value["userText"]?.stringValue.map { " \"\($0)\"" } ?? ""
            let device = value["device"]?.stringValue.map { " on \($0)" } ?? ""
            pieces.append("\(action)\(text)\(device)")
        }
        if let content = value["content"] {
            let title = content["title"]?.stringValue.map { "\"\($0)\"" }
            let words = [title, content["body"]?.stringValue].compactMap(\.self)
            if !words.isEmpty { pieces.append(words.joined(separator: " ")) }
        }
        pieces += (value["devices"]?.arrayValue ?? []).prefix(devicesShown).map(device)
        if let actions = value["actions"]?.arrayValue, !actions.isEmpty {
            pieces.append("actions \(actions.map { $0["identifier"]?.stringValue ?? "?" }.joined(separator: " "))")
        }
        if let trigger = value["trigger"], let type = trigger["type"]?.stringValue {
            if case .number(let seconds)? = trigger["timeInterval"] {
                pieces.append("in \(seconds) s")
            } else {
                pieces.append("trigger \(type)")
            }
        }
        if let scope = value["remove"]?.stringValue { pieces.append("remove \(scope)") }
        if let due = value["nextTriggerDate"]?.stringValue { pieces.append("due \(timeOfDay(due))") }
        if let until = value["until"]?.stringValue { pieces.append("until \(timeOfDay(until))") }
        if let reason = value["reason"]?.stringValue { pieces.append("reason \(reason)") }
        if let known = value["known"]?.stringValue { pieces.append("\(known)") }
        if let count = value["count"]?.integerValue { pieces.append("\(count) occurrences") }
        if let old = value["replaces"]?.stringValue { pieces.append("replaces \(old.prefix(8))") }
        if let new = value["by"]?.stringValue { pieces.append("by \(new.prefix(8))") }
        if let other = value["into"]?.stringValue { pieces.append("into \(other.prefix(8))") }
        if value["inDoubt"]?.boolValue == true { pieces.append("in doubt") }
        // An event may have nothing else to say: one of a notification that waits for a region has no date.
        if !pieces.isEmpty || value["closes"] != nil, let id = value["requestId"]?.stringValue {
            pieces.append("request \(id.prefix(8))")
        }
        return pieces
    }

    /// `to phone (banner list badge 1)`, or `not to phone (denied)`.
    private static func device(_ device: JSONValue) -> String {
        let name = device["device"]?.stringValue ?? "?"
        if let reason = device["reason"]?.stringValue { return "not to \(name) (\(reason))" }
        let options = device["presentation"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let shown = options.filter { $0 != "badge" } + (device["badge"]?.integerValue.map { ["badge \($0)"] } ?? [])
        return "to \(name) (\(shown.joined(separator: " ")))"
    }

    /// For an instant of today only the time is shown.
    static func timeOfDay(_ rfc3339: String) -> String {
        guard rfc3339.count == 24 else { return rfc3339 }
        return String(rfc3339.dropFirst(11).dropLast())
    }

    private static func shortened(_ text: String) -> String {
        text.count > valueLength ? text.prefix(valueLength) + "…" : text
    }
}
