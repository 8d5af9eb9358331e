extension LegacyNotification {
    /// Reads an APNs payload of any age: a string alert is the body, a dictionary has its parts.
    ///
    /// Custom keys, the peers of `aps`, become `userInfo`; `aps` itself does not, since it is rebuilt for each channel.
    /// The trigger is `push`. A badge of 0 stays: in a payload it removes the badge.
    ///
    /// Throws ``ModelError``: `unknown-field` with the path for unknown keys inside `aps`, `invalid` for wrong types
    /// (a badge that is a string), and when nothing is left to show or carry.
    public static func payload(_ json: [UInt8]) throws(ModelError) -> Parts {
        let object = try LegacyObject(json)
        var content = NotificationContent()
        var custom: [JSONValue.Member] = []
        var metadata: [JSONValue.Member] = []
        for member in object.members {
            if member.name == "aps" {
                try read(aps: LegacyField("aps", member.value), into: &content, metadata: &metadata)
            } else {
                custom.append(member)
            }
        }
        if !custom.isEmpty { content.userInfo = .object(custom) }
        keep(metadata, in: &content)
        return try checked(Parts(content: content, trigger: .push))
    }

    private static func read(
        aps: LegacyField,
        into content: inout NotificationContent,
        metadata: inout [JSONValue.Member]
    ) throws(ModelError) {
        for member in try aps.members() {
            let value = LegacyField("aps." + member.name, member.value)
            switch member.name {
            case "alert":
                if let text = member.value.stringValue {
                    content.body = text
                } else {
                    try read(alert: value, into: &content, metadata: &metadata)
                }
            case "badge": content.badge = try value.integer()
            case "sound": content.sound = try sound(value)
            case "category": content.categoryIdentifier = try value.text()
            case "thread-id": content.threadIdentifier = try value.text()
            case "target-content-id": content.targetContentIdentifier = try value.text()
            case "filter-criteria": content.filterCriteria = try value.text()
            case "interruption-level": content.interruptionLevel = try level(value)
            case "relevance-score": content.relevanceScore = try value.number()
            case "mutable-content": content.mutableContent = try value.flag()
            case "summary-arg": content.summaryArgument = try value.text()
            case "summary-arg-count": content.summaryArgumentCount = try value.integer()
            case "content-available", "url-args": metadata.append(member)
            default: throw ModelError(.unknownField, field: value.path, "is no key of aps for an alert")
            }
        }
    }

    private static func read(
        alert: LegacyField,
        into content: inout NotificationContent,
        metadata: inout [JSONValue.Member]
    ) throws(ModelError) {
        var keys: [String: String] = [:]
        var arguments: [String: [String]] = [:]
        for member in try alert.members() {
            let value = LegacyField(alert.path + "." + member.name, member.value)
            switch member.name {
            case "title": content.title = try value.text()
            case "subtitle": content.subtitle = try value.text()
            case "body": content.body = try value.text()
            case "launch-image": content.launchImageName = try value.text()
            case "title-loc-key", "subtitle-loc-key", "loc-key": keys[member.name] = try value.text()
            case "title-loc-args", "subtitle-loc-args", "loc-args": arguments[member.name] = try value.texts()
            case "summary-arg": content.summaryArgument = try value.text()
            case "summary-arg-count": content.summaryArgumentCount = try value.integer()
            case "action", "action-loc-key": metadata.append(member)
            default: throw ModelError(.unknownField, field: value.path, "is no key of an alert")
            }
        }
        func localization(_ prefix: String) throws(ModelError) -> Localization? {
            let given = arguments[prefix + "loc-args"]
            guard let key = keys[prefix + "loc-key"] else {
                guard given == nil else {
                    throw ModelError(.invalid, field: "\(alert.path).\(prefix)loc-args", "needs \(prefix)loc-key")
                }
                return nil
            }
            return Localization(key: key, arguments: given)
        }
        content.titleLocalization = try localization("title-")
        content.subtitleLocalization = try localization("subtitle-")
        content.bodyLocalization = try localization("")
    }

    private static func sound(_ field: LegacyField) throws(ModelError) -> NotificationSound {
        if let name = field.value.stringValue { return soundNamed(name) }
        var sound = NotificationSound()
        for member in try field.members() {
            let value = LegacyField(field.path + "." + member.name, member.value)
            switch member.name {
            case "name": sound.name = try value.text()
            case "critical": sound.critical = try value.flag()
            case "volume": sound.volume = try value.number()
            default: throw ModelError(.unknownField, field: value.path, "is no key of a sound")
            }
        }
        return sound
    }

    private static func level(_ field: LegacyField) throws(ModelError) -> InterruptionLevel {
        switch try field.text() {
        case "passive": return .passive
        case "active": return .active
        case "time-sensitive": return .timeSensitive
        case "critical": return .critical
        default:
            throw ModelError(.invalid, field: field.path, "must be passive, active, time-sensitive or critical")
        }
    }
}
