import Kafka
import NotificationModel

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

    /// What a step means for the notification: how it is coloured.
    enum Kind: String {
        case good, ahead, over, signal, bad

        /// - Parameter name: of a step, or of a part of one.
        init(of name: String) {
            self =
                switch name {
                case "delivered", "accepted", "answered", "device.presented", "device.opened", "device.received": .good
                case "requested", "scheduled", "held", "enriched", "removal": .ahead
                case "superseded", "digested", "removed", "cancelled", "tombstone": .over
                default: name.hasPrefix("signal") ? .signal : .bad
                }
        }

        /// Of a terminal.
        var colour: String {
            switch self {
            case .good: "32"
            case .ahead: "34"
            case .over: "33"
            case .signal: "36"
            case .bad: "31"
            }
        }
    }

    /// A part of a step that has a line of its own.
    struct Part {
        /// `enriched`, or what became of a device: `accepted`, `rejected`, …
        var name: String
        var words: String
        /// The device that it is about.
        var device: String?
    }

    /// What a `delivered` event says of the enrichment, and of each device. No device's token is in it.
    static func parts(of record: KafkaConsumerRecord) -> [Part] {
        guard name(of: record) == "delivered", let value = record.value.flatMap({ try? JSONValue.parse($0) }) else {
            return []
        }
        let devices = (value["devices"]?.arrayValue ?? []).compactMap { device -> Part? in
            guard let outcome = device["outcome"]?.stringValue, let name = device["device"]?.stringValue else {
                return nil
            }
            let presentation = (device["presentation"]?.arrayValue ?? []).compactMap(\.stringValue)
            let words = ([device["reason"]?.stringValue].compactMap(\.self) + presentation).joined(separator: " ")
            return Part(name: outcome, words: RecordText.safe("\(name) \(words)"), device: name)
        }
        return (enrichment(value).map { [Part(name: "enriched", words: $0)] } ?? []) + devices
    }

    /// `in 412 ms: photo attached, map timed-out`
    private static func enrichment(_ value: JSONValue) -> String? {
        guard let enrichment = value["enrichment"], enrichment.objectValue != nil else { return nil }
        let time = enrichment["milliseconds"]?.integerValue.map { "in \($0) ms" } ?? "done"
        let attachments = (enrichment["attachments"]?.arrayValue ?? []).map { attachment in
            let outcome = attachment["reason"]?.stringValue ?? attachment["outcome"]?.stringValue ?? "?"
            return "\(attachment["identifier"]?.stringValue ?? "?") \(outcome)"
        }
        return RecordText.safe(attachments.isEmpty ? time : "\(time): \(attachments.joined(separator: ", "))")
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
        var reasons: [String] = []
        for text in codes.compactMap(meaning) where !reasons.contains(text) { reasons.append(text) }
        if value["inDoubt"]?.boolValue == true {
            reasons.append("in doubt: an instance that ended before may have sent it already")
        }
        if value["matched"]?.boolValue == false { reasons.append("what it answers is not kept, or was never shown") }
        return reasons
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
