extension NotificationContent {
    /// Reads content from a JSON object. Throws as the scan of a request does, with paths relative to the content.
    public init(json: [UInt8]) throws(ModelError) {
        try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            var coherence = APNsCoherence()
            _ = try scanner.whole { scanner throws(ModelError) in try scanner.content(&coherence) }
        }
        self.init(valid: try JSONValue.parse(json))
    }

    /// Converts scanned content: the scan has validated it, and missing fields are nil.
    init(valid value: JSONValue) {
        self.init()
        for member in value.objectValue ?? [] {
            let value = member.value
            switch member.name {
            case "title": title = value.stringValue
            case "subtitle": subtitle = value.stringValue
            case "body": body = value.stringValue
            case "titleLocalization": titleLocalization = Localization(valid: value)
            case "subtitleLocalization": subtitleLocalization = Localization(valid: value)
            case "bodyLocalization": bodyLocalization = Localization(valid: value)
            case "badge": badge = value.integerValue
            case "badgeIncrement": badgeIncrement = value.integerValue
            case "sound": sound = NotificationSound(valid: value)
            case "categoryIdentifier": categoryIdentifier = value.stringValue
            case "threadIdentifier": threadIdentifier = value.stringValue
            case "launchImageName": launchImageName = value.stringValue
            case "targetContentIdentifier": targetContentIdentifier = value.stringValue
            case "interruptionLevel": interruptionLevel = value.stringValue.flatMap(InterruptionLevel.init(rawValue:))
            case "presentation": presentation = ForegroundPolicy(valid: value)
            case "relevanceScore": relevanceScore = value.doubleValue
            case "filterCriteria": filterCriteria = value.stringValue
            case "summaryArgument": summaryArgument = value.stringValue
            case "summaryArgumentCount": summaryArgumentCount = value.integerValue
            case "mutableContent": mutableContent = value.boolValue
            case "attachments": attachments = value.arrayValue?.map(NotificationAttachment.init(valid:))
            case "userInfo": userInfo = value
            case "liveActivity": liveActivity = LiveActivityContent(valid: value)
            case "localizations":
                localizations = Dictionary(
                    (value.objectValue ?? []).map { ($0.name, LocalizedTexts(valid: $0.value)) },
                    uniquingKeysWith: { $1 }
                )
            default: break
            }
        }
    }
}

extension ForegroundPolicy {
    init(valid value: JSONValue) {
        var options: PresentationOptions = []
        for name in value.arrayValue ?? [] {
            let text = Array((name.stringValue ?? "").utf8)
            options.formUnion(text.withUnsafeBytes { PresentationOptions.named(FieldName(bytes: $0)) } ?? [])
        }
        self = value == .null ? .unhandled : .options(options)
    }
}

extension LocalizedTexts {
    init(valid value: JSONValue) {
        self.init(
            title: value["title"]?.stringValue,
            subtitle: value["subtitle"]?.stringValue,
            body: value["body"]?.stringValue
        )
    }
}

extension Localization {
    init(valid value: JSONValue) {
        self.init(
            key: value["key"]?.stringValue ?? "",
            arguments: value["arguments"]?.arrayValue?.compactMap(\.stringValue)
        )
    }
}

extension NotificationSound {
    init(valid value: JSONValue) {
        self.init(
            name: value.stringValue ?? value["name"]?.stringValue ?? "default",
            critical: value["critical"]?.boolValue,
            volume: value["volume"]?.doubleValue
        )
    }
}

extension NotificationAttachment {
    init(valid value: JSONValue) {
        self.init(
            identifier: value["identifier"]?.stringValue ?? "",
            url: value["url"]?.stringValue ?? "",
            options: value["options"].map(Options.init(valid:))
        )
    }
}

extension NotificationAttachment.Options {
    init(valid value: JSONValue) {
        let rect = value["thumbnailClippingRect"].map { rect in
            NotificationAttachment.ClippingRect(
                x: rect["x"]?.doubleValue ?? 0,
                y: rect["y"]?.doubleValue ?? 0,
                width: rect["width"]?.doubleValue ?? 0,
                height: rect["height"]?.doubleValue ?? 0
            )
        }
        self.init(
            typeHint: value["typeHint"]?.stringValue,
            thumbnailHidden: value["thumbnailHidden"]?.boolValue,
            thumbnailClippingRect: rect,
            thumbnailTime: value["thumbnailTime"]?.doubleValue
        )
    }
}

extension NotificationTrigger {
    /// Reads a trigger from a JSON object. Throws as the scan of a request does, with paths relative to the trigger.
    public init(json: [UInt8]) throws(ModelError) {
        self = try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try scanner.trigger() }
        }
    }
}
