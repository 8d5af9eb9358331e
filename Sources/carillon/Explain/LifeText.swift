import Kafka
import NotificationModel
import NotificationState
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
            var text = "\(paint(time, "2"))  \(paint(RecordText.safe(name), LifeStep.colour(of: name)))\(padding)"
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

/// A record as a step of a notification's life.
enum LifeStep {
    /// `requested`, `removal`, `delivered`, `answered`, …
    static func name(of record: KafkaConsumerRecord) -> String {
        if DeadLetterNote(record) != nil { return "dead letter" }
        guard let name = RecordName(record) else { return record.value == nil ? "tombstone" : "record" }
        guard record.header("ce_type")?.hasPrefix("carillon.signal.") != true else { return "signal \(name.short)" }
        return switch name.short {
        case "request": "requested"
        case "response": "answered"
        default: name.short
        }
    }

    static func colour(of name: String) -> String {
        switch name {
        case "delivered", "answered", "device.presented", "device.opened", "device.received": "32"
        case "requested", "scheduled", "held", "removal": "34"
        case "superseded", "digested", "removed", "cancelled", "tombstone": "33"
        default: name.hasPrefix("signal") ? "36" : "31"
        }
    }

    static func words(_ record: KafkaConsumerRecord, now: Timestamp) -> String {
        if let letter = DeadLetterNote(record) { return RecordText.safe(letter.text) }
        guard let value = record.value else { return "a null: all of this identifier is removed" }
        return RecordLine.summary(of: value, now: now)
    }

    /// What the reasons of a record mean, each once: of the record, and of each of its devices.
    static func reasons(_ record: KafkaConsumerRecord) -> [String] {
        if let letter = DeadLetterNote(record) { return [letter.reason].compactMap(meaning) }
        guard let value = record.value.flatMap({ try? JSONValue.parse($0) }), value.objectValue != nil else {
            return []
        }
        var codes = [value["reason"]].compactMap { $0?.stringValue }
        codes += (value["devices"]?.arrayValue ?? []).compactMap { $0["reason"]?.stringValue }
        var told: [String] = []
        for text in codes.compactMap(meaning) where !told.contains(text) { told.append(text) }
        if value["inDoubt"]?.boolValue == true {
            told.append("in doubt: an instance that ended before may have sent it already")
        }
        if value["matched"]?.boolValue == false { told.append("what it answers is not kept, or was never shown") }
        return told
    }

    private static func meaning(_ code: String) -> String? {
        ReasonCode(rawValue: code).flatMap { reason in reason.meaning.map { "\(code): \($0)" } }
    }
}

extension ReasonCode {
    /// What it means for a notification, and what to do; nil for reasons of HTTP, which no record has.
    fileprivate var meaning: String? {
        switch self {
        case .invalid: "the record breaks the contract at the field that is named: correct its sender"
        case .unknownField: "the contract does not know the field: correct its sender"
        case .unknownTrigger: "the contract does not know the type of the trigger: correct its sender"
        case .tooLarge: "it is larger than the model allows"
        case .notUTF8: "the bytes are not UTF-8"
        case .misrouted:
            "the record is in another partition than its recipient's: partition by murmur2 of the recipient"
        case .inFuture: "its timestamp is ahead of the clock of the service: compare the clocks"
        case .noRule: "no rule matches the type of the event: add one, or list the type under ignore"
        case .missingVariable: "the rule's template names a variable that the event does not have"
        case .gap: "the clock of its zone skips the time, and its policy is to skip it"
        case .unsupportedForm: "no channel of this service can carry it to that device"
        case .notAuthorized: "the person has not allowed notifications"
        case .disabled: "the device's settings allow nothing of it"
        case .noDevice: "no device of the recipient is registered, or none is left"
        case .capped: "a limit is reached: the cap of its category, or the number of pending notifications"
        case .unregistered: "the platform does not know the token any more: the app is gone from the device"
        case .payloadTooLarge: "it is larger than the channel can carry"
        case .rejected: "the channel refused it for good: see the metrics and the log of the channel"
        case .gaveUp: "all attempts, or their time, are used up (retry.*)"
        case .notEnriched: "an enricher failed whose failure forbids the delivery"
        case .moved: "the token of the device belongs to another recipient now"
        case .replaced: "the token of the device has another name now"
        case .unknownAction: "the category does not have the action"
        case .collapseWindow: "it waits for newer requests until its collapse window ends"
        case .quietHours: "quiet hours hold it back, or end it by their policy"
        case .digest: "it waits for the end of its digest's window"
        case .tooManyRecipients: "the rule's list of recipients is longer than the rule allows"
        case .forbidden: "the token of the event's sender is not good for the application"
        case .notFound, .methodNotAllowed, .unsupportedMediaType, .unauthenticated, .receiveTimeout, .overloaded,
            .unavailable, .internalError:
            nil
        }
    }
}
