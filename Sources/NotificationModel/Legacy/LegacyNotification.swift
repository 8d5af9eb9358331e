/// Reads what older programs wrote: a `UILocalNotification`-style object, or an old APNs payload.
///
/// Both are pure functions: the same bytes give the same result, and no clock is read. What has no counterpart but
/// may matter to a bridge (`alertAction`, `hasAction`, `action-loc-key`, `content-available`, `url-args`) is kept in
/// `userInfo` under ``metadataName``.
public enum LegacyNotification {
    /// Member of `userInfo` that keeps what has no counterpart.
    public static let metadataName = "carillonLegacy"

    /// What a legacy object becomes; the caller adds the key.
    public struct Parts: Hashable, Sendable {
        /// What is shown.
        public var content: NotificationContent
        /// When.
        public var trigger: NotificationTrigger

        /// Parts of a request.
        public init(content: NotificationContent, trigger: NotificationTrigger) {
            self.content = content
            self.trigger = trigger
        }
    }

    /// Reads a `UILocalNotification`-style object: its property names as members, dates in RFC 3339,
    /// `repeatInterval` as a unit's name (`day`, `weekOfYear`…) or as the number of its `NSCalendarUnit`.
    ///
    /// - A badge number of 0 meant "no change" and becomes nil, since 0 would now remove the badge.
    /// - No `fireDate` and no `region`: now. A `region`: a location trigger that repeats unless `regionTriggersOnce`
    ///   (default true). A `fireDate`: a calendar trigger, see ``LegacySchedule``.
    ///
    /// Throws ``ModelError``: `unknown-field` for other members, `invalid` for wrong types and for repeat units and
    /// calendars that cannot be mapped.
    public static func localNotification(_ json: [UInt8]) throws(ModelError) -> Parts {
        let object = try LegacyObject(json)
        var content = NotificationContent()
        var schedule = LegacySchedule()
        var metadata: [JSONValue.Member] = []
        for member in object.members {
            let name = member.name
            let value = LegacyField(name, member.value)
            switch name {
            case "alertBody": content.body = try value.text()
            case "alertTitle": content.title = try value.text()
            case "alertLaunchImage": content.launchImageName = try value.text()
            case "alertAction": metadata.append(JSONValue.Member(name, .string(try value.text())))
            case "hasAction": metadata.append(JSONValue.Member(name, .bool(try value.flag())))
            case "applicationIconBadgeNumber":
                let badge = try value.integer()
                content.badge = badge == 0 ? nil : badge
            case "soundName": content.sound = soundNamed(try value.text())
            case "category": content.categoryIdentifier = try value.text()
            case "userInfo": content.userInfo = try value.object()
            case "fireDate": schedule.fireDate = try value.timestamp()
            case "timeZone": schedule.timeZone = try value.timeZone()
            case "repeatInterval": schedule.unit = try LegacySchedule.Unit.read(value)
            case "repeatCalendar": try LegacySchedule.checkCalendar(value)
            case "region": schedule.region = try LegacySchedule.region(value)
            case "regionTriggersOnce": schedule.regionTriggersOnce = try value.flag()
            default: throw ModelError(.unknownField, field: name, "is no property of UILocalNotification")
            }
        }
        keep(metadata, in: &content)
        return try checked(Parts(content: content, trigger: try schedule.trigger()))
    }

    /// Puts aside what has no counterpart, unless the name is taken.
    static func keep(_ metadata: [JSONValue.Member], in content: inout NotificationContent) {
        guard !metadata.isEmpty, content.userInfo?[metadataName] == nil else { return }
        content.userInfo = .object(
            (content.userInfo?.objectValue ?? []) + [JSONValue.Member(metadataName, .object(metadata))]
        )
    }

    static func soundNamed(_ name: String) -> NotificationSound {
        name == "UILocalNotificationDefaultSoundName" ? .default : NotificationSound(name: name)
    }

    /// What comes out must be a request's; errors then speak of the new fields.
    static func checked(_ parts: Parts) throws(ModelError) -> Parts {
        do throws(ModelError) {
            _ = try NotificationContent(json: parts.content.json)
        } catch {
            throw error.field == nil
                ? ModelError(error.reason, field: "content", error.detail) : error.inside("content")
        }
        do throws(ModelError) {
            _ = try NotificationTrigger(json: parts.trigger.json)
        } catch {
            throw error.field == nil
                ? ModelError(error.reason, field: "trigger", error.detail) : error.inside("trigger")
        }
        return parts
    }
}

/// A legacy JSON object, its names unique.
struct LegacyObject {
    let members: [JSONValue.Member]

    init(_ json: [UInt8]) throws(ModelError) {
        guard json.count <= ModelLimits.requestBytes else {
            throw ModelError(.tooLarge, "has \(json.count) bytes, at most \(ModelLimits.requestBytes) are allowed")
        }
        guard case .object(let members) = try JSONValue.parse(json) else {
            throw ModelError(.invalid, "must be an object")
        }
        try self.init(members, path: nil)
    }

    init(_ members: [JSONValue.Member], path: String?) throws(ModelError) {
        var names: Set<String> = []
        for member in members where !names.insert(member.name).inserted {
            throw ModelError(.invalid, field: path.map { $0 + "." + member.name } ?? member.name, "is given twice")
        }
        self.members = members
    }
}

/// A legacy field with its path, read as a type.
struct LegacyField {
    let path: String
    let value: JSONValue

    init(_ path: String, _ value: JSONValue) {
        self.path = path
        self.value = value
    }

    private func wrong(_ expected: String) -> ModelError {
        ModelError(.invalid, field: path, "must be \(expected)")
    }

    func text() throws(ModelError) -> String {
        guard let text = value.stringValue else { throw wrong("a string") }
        return text
    }

    func integer() throws(ModelError) -> Int64 {
        guard let number = value.integerValue else { throw wrong("an integer") }
        return number
    }

    func number() throws(ModelError) -> Double {
        guard let number = value.doubleValue else { throw wrong("a number") }
        return number
    }

    /// A boolean, or the 0 and 1 of older encoders.
    func flag() throws(ModelError) -> Bool {
        if let flag = value.boolValue { return flag }
        switch value.integerValue {
        case 0: return false
        case 1: return true
        default: throw wrong("a boolean")
        }
    }

    func object() throws(ModelError) -> JSONValue {
        guard case .object = value else { throw wrong("an object") }
        return value
    }

    func members() throws(ModelError) -> [JSONValue.Member] {
        guard let members = value.objectValue else { throw wrong("an object") }
        return try LegacyObject(members, path: path).members
    }

    func texts() throws(ModelError) -> [String] {
        guard let elements = value.arrayValue else { throw wrong("an array of strings") }
        let texts = elements.compactMap(\.stringValue)
        guard texts.count == elements.count else { throw wrong("an array of strings") }
        return texts
    }

    func timestamp() throws(ModelError) -> Timestamp {
        guard let timestamp = value.stringValue.flatMap({ Timestamp(rfc3339: $0) }) else {
            throw wrong("an RFC 3339 date and time")
        }
        return timestamp
    }

    func timeZone() throws(ModelError) -> String {
        guard let name = value.stringValue, TimeZoneNames.isKnown(name) else {
            throw wrong("a name of the IANA time zone database")
        }
        return name
    }
}
