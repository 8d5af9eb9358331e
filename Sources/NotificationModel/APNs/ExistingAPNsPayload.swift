/// A payload of APNs as a team has it today, `{"aps":{…},…}`, as content.
///
/// It reads the forms of all systems: `alert` as a text or an object, `sound` as a name or an object. Members beside `aps` become
/// `userInfo`, except those of Carillon's own member: its attachments become attachments again.
package struct ExistingAPNsPayload: Hashable, Sendable {
    package private(set) var content: NotificationContent
    /// The paths of members that a content cannot say, in the order of the payload: `aps.alert.action-loc-key`.
    package private(set) var unsaid: [String] = []

    /// Bytes of a payload; APNs takes no more of any kind.
    package static let maximumBytes = 5120

    /// Reads a payload.
    ///
    /// Throws `invalid` with the path of a member that has the wrong type, or is too long for a content, `too-large`, `not-utf8`.
    package init(json: [UInt8]) throws(ModelError) {
        guard json.count <= Self.maximumBytes else {
            throw ModelError(.tooLarge, "has \(json.count) bytes, at most \(Self.maximumBytes) are allowed")
        }
        let payload = try JSONValue.parse(json)
        guard let members = payload.objectValue else {
            throw ModelError(.invalid, "must be a payload of APNs: an object with the member aps")
        }
        var reader = PayloadReader()
        var own: JSONValue?
        for member in members {
            switch member.name {
            case "aps": try reader.readAPS(member.value)
            case "carillon": own = member.value
            default: reader.userInfo.append(member)
            }
        }
        guard reader.hasAPS else { throw ModelError(.invalid, field: "aps", "is missing") }
        if !reader.userInfo.isEmpty { reader.content.userInfo = .object(reader.userInfo) }
        try reader.readAttachments(own)
        (content, unsaid) = (reader.content, reader.unsaid)
        try check()
    }

    /// The limits of a content.
    private func check() throws(ModelError) {
        do throws(ModelError) {
            _ = try NotificationContent(json: content.json)
        } catch {
            let field = error.field.map { field in
                // The first component is a field of the content; what follows it stays.
                let parts = field.split(separator: ".", maxSplits: 1)
                let name = parts.first.map { PayloadReader.path(of: String($0)) } ?? ""
                return parts.count > 1 ? "\(name).\(parts[1])" : name
            }
            throw ModelError(error.reason, field: field, error.detail)
        }
    }
}

private struct PayloadReader {
    var content = NotificationContent()
    var unsaid: [String] = []
    var userInfo: [JSONValue.Member] = []
    private(set) var hasAPS = false

    /// Where in a payload a field of a content comes from.
    static func path(of field: String) -> String {
        switch field {
        case "title", "subtitle", "body": "aps.alert.\(field)"
        case "titleLocalization": "aps.alert.title-loc-key"
        case "subtitleLocalization": "aps.alert.subtitle-loc-key"
        case "bodyLocalization": "aps.alert.loc-key"
        case "launchImageName": "aps.alert.launch-image"
        case "badge", "sound": "aps.\(field)"
        case "categoryIdentifier": "aps.category"
        case "threadIdentifier": "aps.thread-id"
        case "targetContentIdentifier": "aps.target-content-id"
        case "interruptionLevel": "aps.interruption-level"
        case "relevanceScore": "aps.relevance-score"
        case "filterCriteria": "aps.filter-criteria"
        case "summaryArgument": "aps.alert.summary-arg"
        case "summaryArgumentCount": "aps.alert.summary-arg-count"
        case "attachments": "carillon.attachments"
        default: "payload"
        }
    }

    // MARK: - aps

    mutating func readAPS(_ aps: JSONValue) throws(ModelError) {
        guard !hasAPS else { throw ModelError(.invalid, field: "aps", "appears twice") }
        hasAPS = true
        guard let members = aps.objectValue else { throw Self.wrong("aps", "an object") }
        for member in members {
            let (value, path) = (member.value, "aps.\(member.name)")
            switch member.name {
            case "alert": try readAlert(value)
            case "badge":
                guard let badge = value.integerValue else { throw Self.wrong(path, "a whole number") }
                content.badge = badge
            case "sound": try readSound(value)
            case "category": content.categoryIdentifier = try Self.text(value, path)
            case "thread-id": content.threadIdentifier = try Self.text(value, path)
            case "target-content-id": content.targetContentIdentifier = try Self.text(value, path)
            case "filter-criteria": content.filterCriteria = try Self.text(value, path)
            case "relevance-score":
                guard let score = value.doubleValue else { throw Self.wrong(path, "a number") }
                content.relevanceScore = score
            case "interruption-level":
                let name = try Self.text(value, path)
                guard let level = InterruptionLevel(apnsName: name) else {
                    let known = InterruptionLevel.allCases.map(\.apnsName).joined(separator: ", ")
                    throw Self.wrong(path, "one of \(known)")
                }
                content.interruptionLevel = level
            case "mutable-content": content.mutableContent = try Self.flag(value, path) ? true : nil
            case "summary-arg": content.summaryArgument = try Self.text(value, path)
            case "summary-arg-count": content.summaryArgumentCount = try Self.count(value, path)
            default: unsaid.append(path)
            }
        }
        // A content without anything to show is a push in the background by itself.
        let shows = content.hasAlertText || content.badge != nil || content.sound != nil
        if !shows { unsaid.removeAll { $0 == "aps.content-available" } }
    }

    private mutating func readAlert(_ alert: JSONValue) throws(ModelError) {
        if let body = alert.stringValue {
            content.body = body
            return
        }
        guard let members = alert.objectValue else { throw Self.wrong("aps.alert", "a text or an object") }
        var arguments: [String: [String]] = [:]
        var keys: [String: String] = [:]
        for member in members {
            let (value, path) = (member.value, "aps.alert.\(member.name)")
            switch member.name {
            case "title": content.title = try Self.text(value, path)
            case "subtitle": content.subtitle = try Self.text(value, path)
            case "body": content.body = try Self.text(value, path)
            case "launch-image": content.launchImageName = try Self.text(value, path)
            case "summary-arg": content.summaryArgument = try Self.text(value, path)
            case "summary-arg-count": content.summaryArgumentCount = try Self.count(value, path)
            case "title-loc-key", "subtitle-loc-key", "loc-key": keys[member.name] = try Self.text(value, path)
            case "title-loc-args", "subtitle-loc-args", "loc-args": arguments[member.name] = try Self.texts(value, path)
            default: unsaid.append(path)
            }
        }
        func localization(_ prefix: String) -> Localization? {
            keys["\(prefix)loc-key"].map { Localization(key: $0, arguments: arguments["\(prefix)loc-args"]) }
        }
        content.titleLocalization = localization("title-")
        content.subtitleLocalization = localization("subtitle-")
        content.bodyLocalization = localization("")
        for prefix in ["title-", "subtitle-", ""] where keys["\(prefix)loc-key"] == nil {
            if arguments["\(prefix)loc-args"] != nil { unsaid.append("aps.alert.\(prefix)loc-args") }
        }
    }

    private mutating func readSound(_ sound: JSONValue) throws(ModelError) {
        if let name = sound.stringValue {
            // An empty name was the way to play nothing.
            content.sound = name.isEmpty ? nil : NotificationSound(name: name)
            return
        }
        guard let members = sound.objectValue else { throw Self.wrong("aps.sound", "a text or an object") }
        var result = NotificationSound()
        for member in members {
            let (value, path) = (member.value, "aps.sound.\(member.name)")
            switch member.name {
            case "name": result.name = try Self.text(value, path)
            case "critical": result.critical = try Self.flag(value, path) ? true : nil
            case "volume":
                guard let volume = value.doubleValue else { throw Self.wrong(path, "a number") }
                result.volume = volume
            default: unsaid.append(path)
            }
        }
        content.sound = result
    }

    // MARK: - Beside aps

    /// - Parameter own: Carillon's member.
    mutating func readAttachments(_ own: JSONValue?) throws(ModelError) {
        guard let attachments = own?["attachments"] else { return }
        do throws(ModelError) {
            // Content that has only them is scanned as any other.
            let json = JSONValue.object([.init("attachments", attachments)]).json
            content.attachments = try NotificationContent(json: json).attachments
        } catch {
            throw ModelError(error.reason, field: "carillon.\(error.field ?? "attachments")", error.detail)
        }
    }

    // MARK: - Values

    private static func wrong(_ path: String, _ expected: String) -> ModelError {
        ModelError(.invalid, field: path, "must be \(expected)")
    }

    private static func text(_ value: JSONValue, _ path: String) throws(ModelError) -> String {
        guard let text = value.stringValue else { throw wrong(path, "a text") }
        return text
    }

    private static func texts(_ value: JSONValue, _ path: String) throws(ModelError) -> [String] {
        guard let elements = value.arrayValue else { throw wrong(path, "an array of texts") }
        var texts: [String] = []
        for element in elements { texts.append(try text(element, path)) }
        return texts
    }

    private static func count(_ value: JSONValue, _ path: String) throws(ModelError) -> Int64 {
        guard let count = value.integerValue else { throw wrong(path, "a whole number") }
        return count
    }

    private static func flag(_ value: JSONValue, _ path: String) throws(ModelError) -> Bool {
        switch value {
        case .number("1"), .bool(true): true
        case .number("0"), .bool(false): false
        default: throw wrong(path, "1, or left out")
        }
    }
}

extension NotificationContent {
    fileprivate var hasAlertText: Bool {
        [title, subtitle, body].contains { $0?.isEmpty == false } || titleLocalization != nil
            || subtitleLocalization != nil || bodyLocalization != nil
    }
}

extension InterruptionLevel {
    /// The value of `interruption-level` in a payload of APNs.
    package var apnsName: String { self == .timeSensitive ? "time-sensitive" : rawValue }

    /// - Parameter apnsName: A value of `interruption-level` in a payload of APNs.
    package init?(apnsName: String) {
        guard let level = Self.allCases.first(where: { $0.apnsName.hasSameUTF8(as: apnsName) }) else { return nil }
        self = level
    }
}
