import Foundation
import NotificationModel

/// What people want to know of a request, a removal, a signal, a registration or an event, in words. What no words are for
/// follows by its name: two records that differ have different lines.
struct RecordSummary {
    private static let devicesShown = 3
    private static let wordsLength = 120
    private static let otherLength = 80
    private static let shortNames = ["categoryIdentifier": "category", "threadIdentifier": "thread"]
    /// Whoever reads a log of a terminal must not get a device's token.
    private static let secrets: Set<String> = ["token"]

    private let value: JSONValue
    private let moments: MomentText
    /// Members that have words, or that the key has.
    private var told: Set<String>
    private var pieces: [String] = []
    /// The members of the content that are no words of it.
    private var restOfContent: [JSONValue.Member] = []

    /// Nil for JSON that is none of these.
    ///
    /// - Parameter keyHasNames: Whether application, recipient and identifier are in the record's key.
    static func pieces(_ value: JSONValue, _ moments: MomentText, keyHasNames: Bool) -> [String]? {
        guard value.objectValue != nil else { return nil }
        var summary = RecordSummary(value: value, moments: moments, keyHasNames: keyHasNames)
        summary.tellContent()
        summary.tellTimes()
        summary.tellDevices()
        summary.tellSignals()
        summary.tellOutcome()
        summary.tellEnrichment()
        let isKnown = !summary.pieces.isEmpty || value["requestId"] != nil && value["closes"] != nil
        guard isKnown else { return nil }
        summary.tellOthers()
        return summary.pieces
    }

    private init(value: JSONValue, moments: MomentText, keyHasNames: Bool) {
        (self.value, self.moments) = (value, moments)
        told = Self.secrets.union(["requestId", "closes"])
        if keyHasNames { told.formUnion(["application", "recipient", "identifier"]) }
    }

    // MARK: Members

    private mutating func take(_ name: String) -> JSONValue? {
        told.insert(name)
        return value[name]
    }

    private mutating func text(_ name: String) -> String? { take(name)?.stringValue }

    private mutating func tell(_ name: String, _ words: (String) -> String) {
        if let text = text(name) { pieces.append(words(text)) }
    }

    private mutating func tellMoment(_ name: String, _ word: String) {
        if let text = text(name) { pieces.append("\(word) \(moments.text(text))") }
    }

    /// The beginning of an id: enough of a random one, all of another.
    private static func short(_ id: String) -> String {
        UUID(uuidString: id) == nil ? String(id.prefix(60)) : String(id.prefix(8))
    }

    private static func shortened(_ text: String, _ length: Int) -> String {
        text.count > length ? text.prefix(length) + "…" : text
    }

    // MARK: Words

    private mutating func tellContent() {
        if let action = text("actionIdentifier") {
            let typed = text("userText").map { " \"\($0)\"" } ?? ""
            let device = text("device").map { " on \($0)" } ?? ""
            pieces.append("\(action)\(typed)\(device)")
        }
        guard let content = take("content") else { return }
        // An existing payload of APNs has the texts in its alert.
        let alert = content["apns"]?["aps"]?["alert"]
        let texts = alert ?? content
        let title = (alert?.stringValue ?? texts["title"]?.stringValue).map { "\"\($0)\"" }
        let words = [title, texts["body"]?.stringValue].compactMap(\.self).joined(separator: " ")
        if !words.isEmpty { pieces.append(Self.shortened(words, Self.wordsLength)) }
        restOfContent = (content.objectValue ?? []).filter { !["title", "body", "apns"].contains($0.name) }
        if content["apns"] != nil { pieces.append("a payload of APNs") }
    }

    private mutating func tellTimes() {
        if let trigger = take("trigger") { tell(trigger) }
        tell("remove") { "remove \($0)" }
        tellMoment("nextTriggerDate", "due")
        tellMoment("occurrence", "for")
        tellMoment("until", "until")
        if let count = take("count")?.integerValue { pieces.append("\(count) occurrences") }
        tellMoment("first", "from")
        tellMoment("last", "to")
        tellMoment("expiration", "expires")
    }

    private mutating func tell(_ trigger: JSONValue) {
        guard let type = trigger["type"]?.stringValue else { return }
        var words = ["trigger \(type)"]
        var others = (trigger.objectValue ?? []).filter { $0.name != "type" }
        if case .number(let seconds)? = trigger["timeInterval"] {
            words = ["in \(seconds) s"]
            others.removeAll { $0.name == "timeInterval" }
        }
        words += others.map(Self.other)
        pieces.append(Self.shortened(words.joined(separator: " "), Self.wordsLength))
    }

    private mutating func tellDevices() {
        let devices = take("devices")?.arrayValue ?? []
        pieces += devices.prefix(Self.devicesShown).map(Self.device)
        if devices.count > Self.devicesShown { pieces.append("and \(devices.count - Self.devicesShown) more devices") }
        if let actions = take("actions")?.arrayValue, !actions.isEmpty {
            pieces.append("actions \(actions.map { $0["identifier"]?.stringValue ?? "?" }.joined(separator: " "))")
        }
        guard value["platform"] != nil, let platform = text("platform") else { return }
        pieces.append([platform, text("environment")].compactMap(\.self).joined(separator: " "))
    }

    /// `to phone (banner list badge 1)`, `not to phone (denied)`, or `phone revoked`.
    private static func device(_ device: JSONValue) -> String {
        let name = device["device"]?.stringValue ?? "?"
        if let reason = device["reason"]?.stringValue {
            let isRemoval = device["outcome"]?.stringValue == RemovalOutcome.impossible.rawValue
            return "\(isRemoval ? "impossible" : "not to") \(name) (\(reason))"
        }
        guard device["presentation"] != nil || device["badge"] != nil else {
            return "\(device["outcome"]?.stringValue ?? "to") \(name)"
        }
        let options = device["presentation"]?.arrayValue?.compactMap(\.stringValue) ?? []
        let shown = options.filter { $0 != "badge" } + (device["badge"]?.integerValue.map { ["badge \($0)"] } ?? [])
        return "to \(name) (\(shown.joined(separator: " ")))"
    }

    private mutating func tellSignals() {
        if value["outcome"]?.stringValue != nil, let outcome = text("outcome") {
            // A report has the gateway's words as its reason, its event as the detail.
            let words = value["detail"]?.stringValue == nil ? text("reason") : text("detail")
            pieces.append("\(text("device") ?? "no device") \(outcome)\(words.map { ": \($0)" } ?? "")")
        }
        if value["receipt"]?.stringValue != nil, let receipt = text("receipt") {
            pieces.append("\(text("device") ?? "no device") \(receipt)")
        }
        if case .number(let latitude)? = take("latitude"), case .number(let longitude)? = take("longitude") {
            pieces.append("\(latitude), \(longitude)")
            if case .number(let accuracy)? = take("accuracy") { pieces.append("accuracy \(accuracy) m") }
        }
        tell("state") { $0 }
        tellMoment("gone", "gone since")
        if !told.contains("device") { tell("device") { "device \($0)" } }
        tellMoment("at", "at")
        if take("matched")?.boolValue == false { pieces.append("unmatched") }
        tell("responseId") { "response \(Self.short($0))" }
    }

    private mutating func tellOutcome() {
        tell("reason") { "reason \($0)" }
        tell("known") { $0 }
        tell("replaces") { "replaces \(Self.short($0))" }
        tell("by") { "by \(Self.short($0))" }
        tell("into") { "into \(Self.short($0))" }
        if take("late")?.boolValue == true { pieces.append("late") }
        if take("inDoubt")?.boolValue == true { pieces.append("in doubt") }
        if value["closes"]?.boolValue == false, value["content"] != nil { pieces.append("goes on") }
    }

    /// `enriched in 412 ms (photo attached, map timed-out)`
    private mutating func tellEnrichment() {
        guard let enrichment = take("enrichment") else { return }
        let time = enrichment["milliseconds"]?.integerValue.map { " in \($0) ms" } ?? ""
        let attachments = (enrichment["attachments"]?.arrayValue ?? []).map { attachment in
            let outcome = attachment["reason"]?.stringValue ?? attachment["outcome"]?.stringValue ?? "?"
            return "\(attachment["identifier"]?.stringValue ?? "?") \(outcome)"
        }
        let list = attachments.isEmpty ? "" : " (\(attachments.joined(separator: ", ")))"
        pieces.append("enriched\(time)\(Self.shortened(list, Self.wordsLength))")
    }

    /// What there are no words for, and at the end the request.
    private mutating func tellOthers() {
        if let thread = take("thread"), let identifier = thread["identifier"]?.stringValue {
            let count = thread["count"]?.integerValue.map { ", \($0) in it" } ?? ""
            pieces.append("thread \(identifier)\(count)\(thread["update"]?.boolValue == true ? ", an update" : "")")
            restOfContent.removeAll { $0.name == "threadIdentifier" }
        }
        // A response has the category of the notification, and its content.
        restOfContent.removeAll { $0.name == "categoryIdentifier" && $0.value == value["categoryIdentifier"] }
        let content = restOfContent.map(Self.other).joined(separator: " ")
        if !content.isEmpty { pieces.append(Self.shortened(content, Self.wordsLength)) }
        for member in value.objectValue ?? [] where !told.contains(member.name) { pieces.append(Self.other(member)) }
        if let id = value["requestId"]?.stringValue { pieces.append("request \(Self.short(id))") }
    }

    private static func other(_ member: JSONValue.Member) -> String {
        let text = member.value.stringValue ?? String(decoding: member.value.json, as: UTF8.self)
        return "\(shortNames[member.name] ?? member.name) \(shortened(text, otherLength))"
    }
}
