import NotificationModel

/// The rules of Apple's pages "Generating a remote notification", "Pushing background updates to your app", "Starting and updating
/// Live Activities with ActivityKit push notifications" and "Updating widgets with WidgetKit push notifications".
struct APNsPayloadCheck {
    private(set) var problems: [APNsProblem] = []
    private let type: APNsPushType

    private init(_ type: APNsPushType) { self.type = type }

    static func problems(_ payload: [UInt8], of type: APNsPushType) -> [APNsProblem] {
        var check = APNsPayloadCheck(type)
        let limit = type.maximumPayloadBytes
        if payload.count > limit {
            check.refuse("payload", "has \(payload.count) bytes, at most \(limit) are allowed for \(type.rawValue)")
        }
        do throws(ModelError) {
            check.check(try JSONValue.parse(payload, maximumDepth: maximumDepth))
        } catch {
            check.refuse("payload", error.detail)
        }
        return check.problems
    }

    /// Levels of nested objects and arrays: `userInfo` of a content may have nearly as many as a request.
    static let maximumDepth = ModelLimits.depth + 4

    // MARK: - Findings

    mutating func refuse(_ field: String, _ detail: String) { problems.append(.init(.refused, field, detail)) }

    mutating func warn(_ field: String, _ detail: String) { problems.append(.init(.ineffective, field, detail)) }

    // MARK: - The payload

    private mutating func check(_ payload: JSONValue) {
        guard let members = payload.objectValue else { return refuse("payload", "must be an object") }
        guard !members.isEmpty else { return refuse("payload", "is empty") }
        let all = members.filter { $0.name == "aps" }
        guard all.count <= 1 else { return refuse("aps", "appears twice") }
        guard let aps = all.first?.value else {
            switch type {
            case .mdm, .fileprovider, .complication, .pushtotalk, .voip, .location: return
            case .alert, .background, .controls, .liveactivity, .widgets: return refuse("aps", "is missing")
            }
        }
        guard let inner = aps.objectValue else { return refuse("aps", "must be an object") }
        var seen: Set<ExactText> = []
        for member in inner {
            let field = "aps.\(ModelError.label(member.name))"
            guard seen.insert(ExactText(member.name)).inserted else {
                refuse(field, "appears twice")
                continue
            }
            check(member.name, member.value, field)
        }
        switch type {
        case .alert: checkAlertPush(aps)
        case .background: checkBackground(aps)
        case .widgets, .controls:
            if inner.count != 1 || members.count != 1 || aps["content-changed"] != .bool(true) {
                refuse("aps", "must be {\"content-changed\":true}, and nothing beside it, for \(type.rawValue)")
            }
        case .liveactivity: checkActivity(aps)
        case .complication, .fileprovider, .location, .mdm, .pushtotalk, .voip: break
        }
    }

    private mutating func checkAlertPush(_ aps: JSONValue) {
        if aps["alert"] == nil, aps["sound"] == nil, aps["badge"] == nil {
            refuse("aps", "has no alert, sound or badge: it would be a background push")
        }
        var coherence = APNsCoherence()
        coherence.isMutable = aps["mutable-content"] == .number("1")
        coherence.hasText = Self.hasAlertText(aps["alert"])
        coherence.level = aps["interruption-level"]?.stringValue.flatMap(InterruptionLevel.init(apnsName:))
        coherence.hasCriticalSound = aps["sound"]?["critical"] == .number("1")
        for problem in coherence.problems {
            switch problem {
            case .mutableWithoutText:
                warn("aps.mutable-content", "runs no service extension without the text of an alert")
            case .criticalLevelWithoutSound:
                warn(
                    "aps.interruption-level",
                    "critical needs a sound with \"critical\":1, and an entitlement of the app"
                )
            case .criticalSoundOfPassive, .criticalSoundOfOtherLevel:
                warn("aps.sound.critical", "is for the interruption level critical")
            }
        }
    }

    private mutating func checkBackground(_ aps: JSONValue) {
        for name in ["alert", "badge", "sound"] where aps[name] != nil {
            refuse("aps.\(name)", "must not be in a background push")
        }
        if aps["content-available"] != .number("1") { refuse("aps.content-available", "must be 1 in the background") }
        if aps["mutable-content"] != nil {
            warn("aps.mutable-content", "has no effect in the background")
        }
    }

    private static func hasAlertText(_ alert: JSONValue?) -> Bool {
        switch alert {
        case .string(let text)?: return !text.isEmpty
        case .object?:
            let texts = ["title", "subtitle", "body", "title-loc-key", "subtitle-loc-key", "loc-key"]
            return texts.contains { alert?[$0]?.stringValue?.isEmpty == false }
        default: return false
        }
    }

    // MARK: - Members of aps

    private mutating func check(_ name: String, _ value: JSONValue, _ field: String) {
        switch name {
        case "alert": checkAlert(value)
        case "badge":
            guard let number = value.integerValue, number >= 0 else {
                return refuse(field, "must be a whole number, 0 to remove it: neither a text nor a boolean")
            }
        case "sound": checkSound(value)
        case "thread-id", "category", "target-content-id", "filter-criteria", "summary-arg":
            if value.stringValue == nil { refuse(field, "must be a text") }
        case "content-available", "mutable-content":
            if value != .number("1") { refuse(field, "must be the number 1, or left out") }
        case "interruption-level":
            if value.stringValue.flatMap(InterruptionLevel.init(apnsName:)) == nil {
                let known = InterruptionLevel.allCases.map(\.apnsName).joined(separator: ", ")
                refuse(field, "must be one of \(known)")
            }
        case "relevance-score":
            guard let score = value.doubleValue else { return refuse(field, "must be a number") }
            if type != .liveactivity, !(0...1).contains(score) { refuse(field, "must be from 0 to 1") }
        case "summary-arg-count":
            if value.integerValue == nil { refuse(field, "must be a whole number") }
        case "url-args":
            if value.arrayValue?.allSatisfy({ $0.stringValue != nil }) != true { refuse(field, "must be texts") }
        case "content-changed":
            if type != .widgets, type != .controls { warn(field, "is for widgets and controls") }
        case "timestamp", "event", "content-state", "stale-date", "dismissal-date", "attributes-type", "attributes",
            "input-push-token", "input-push-channel":
            if type != .liveactivity { warn(field, "is for Live Activities") }
        default: warn(field, "is unknown: members of the app belong beside aps, not into it")
        }
    }

    private mutating func checkAlert(_ alert: JSONValue) {
        guard alert.stringValue == nil else { return }
        guard let members = alert.objectValue else { return refuse("aps.alert", "must be a text or an object") }
        for member in members {
            let field = "aps.alert.\(ModelError.label(member.name))"
            switch member.name {
            case "title", "body":
                // Of a Live Activity an object with a localization key.
                if member.value.stringValue == nil, type != .liveactivity || member.value.objectValue == nil {
                    refuse(field, "must be a text")
                }
            case "subtitle", "launch-image", "title-loc-key", "subtitle-loc-key", "loc-key", "summary-arg":
                if member.value.stringValue == nil { refuse(field, "must be a text") }
            case "title-loc-args", "subtitle-loc-args", "loc-args":
                if member.value.arrayValue?.allSatisfy({ $0.stringValue != nil }) != true {
                    refuse(field, "must be an array of texts")
                }
            case "summary-arg-count":
                if member.value.integerValue == nil { refuse(field, "must be a whole number") }
            case "sound" where type == .liveactivity:
                if member.value.stringValue == nil { refuse(field, "must be a text") }
            case "action", "action-loc-key":
                warn(field, "has had no effect since iOS 10: titles are those of the category's actions")
            default: warn(field, "is unknown")
            }
        }
        for (key, text) in [("title-loc-key", "title"), ("subtitle-loc-key", "subtitle"), ("loc-key", "body")]
        where alert[key] != nil && alert[text] != nil {
            warn("aps.alert.\(text)", "stands beside \(key): send one or the other")
        }
    }

    private mutating func checkSound(_ sound: JSONValue) {
        guard sound.stringValue == nil else { return }
        guard let members = sound.objectValue else { return refuse("aps.sound", "must be a text or an object") }
        for member in members {
            let field = "aps.sound.\(ModelError.label(member.name))"
            switch member.name {
            case "critical":
                if ![.number("1"), .number("0")].contains(member.value) { refuse(field, "must be 1 or 0") }
            case "name": if member.value.stringValue == nil { refuse(field, "must be a text") }
            case "volume":
                if member.value.doubleValue.map({ (0...1).contains($0) }) != true {
                    refuse(field, "must be a number from 0 to 1")
                }
            default: warn(field, "is unknown")
            }
        }
    }
}

extension ModelError {
    /// A member's name in a path: cut, because it is untrusted.
    fileprivate static func label(_ name: String) -> String {
        name.utf8.count <= 64 ? name : String(decoding: name.utf8.prefix(64), as: UTF8.self) + "…"
    }
}
