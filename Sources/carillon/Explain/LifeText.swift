import Kafka
import NotificationModel
import ServiceSupport

/// What is told of a notification, for people: a line for each step, and why below it.
///
///     09:00:01.120  requested             "On its way" Order 1001 has shipped., request 0d8f31aa     requests 3/17
///     09:00:01.160  suppressed            reason not-authorized, request 0d8f31aa                    deliveries 3/44
///                   no device may show it: the person has not allowed notifications
enum LifeText {
    private static let nameWidth = 20

    static func text(_ part: LifePart, colours: Bool, now: Timestamp = SystemClock.now()) -> String {
        func paint(_ text: String, _ code: String) -> String { colours ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text }
        switch part {
        case .step(let record):
            let time = record.timestamp.map { MomentText(now: now).text(Timestamp(rawValue: $0)) } ?? "--:--:--.---"
            let name = LifeStep.name(of: record)
            let padding = String(repeating: " ", count: max(1, nameWidth - name.count))
            let place = "\(record.topic) \(record.partition)/\(record.offset)"
            var text = "\(paint(time, "2"))  \(paint(RecordText.safe(name), LifeStep.Kind(of: name).colour))\(padding)"
            text += "\(LifeStep.words(record, now: now))  \(paint(RecordText.safe(place), "2"))\n"
            for why in LifeStep.reasons(record) {
                text += String(repeating: " ", count: time.count + 2) + RecordText.safe(why) + "\n"
            }
            return text
        case .now(let record):
            let pieces = record.flatMap(StateNote.pieces) ?? ["nothing is kept of it"]
            return "\(paint("now", "1"))  \(RecordText.safe(pieces.joined(separator: ", ")))\n"
        case .gone(let topic, let before):
            let moment = before.map { " before \(MomentText(now: now).text($0))" } ?? ""
            return paint("Records of \(RecordText.safe(topic))\(moment) are gone, by retention or compaction.\n", "2")
        case .dropped(let count): return paint("\(count) older steps are not shown.\n", "2")
        }
    }
}

/// The same, for programs: one object a line.
enum LifeJSON {
    static func line(_ part: LifePart) -> [UInt8] {
        var members: [JSONValue.Member] = []
        switch part {
        case .step(let record):
            members.append(.init("what", .string(LifeStep.name(of: record))))
            let reasons = LifeStep.reasons(record)
            if !reasons.isEmpty { members.append(.init("why", .array(reasons.map { .string($0) }))) }
            if let record = try? JSONValue.parse(RecordJSON.line(record).dropLast()) {
                members.append(.init("record", record))
            }
        case .now(let record):
            let pieces = record.flatMap(StateNote.pieces) ?? []
            members.append(.init("now", .array(pieces.map { .string($0) })))
        case .gone(let topic, let before):
            let moment = before.map { JSONValue.string($0.rfc3339) } ?? .null
            members.append(.init("gone", .object([.init("topic", .string(topic)), .init("before", moment)])))
        case .dropped(let count): members.append(.init("dropped", .number("\(count)")))
        }
        return JSONValue.object(members).json + [0x0A]
    }
}
