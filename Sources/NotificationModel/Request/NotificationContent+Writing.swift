extension NotificationContent {
    /// Appends the content as JSON.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("title", title, &out)
        object.member("subtitle", subtitle, &out)
        object.member("body", body, &out)
        object.member("titleLocalization", titleLocalization, &out)
        object.member("subtitleLocalization", subtitleLocalization, &out)
        object.member("bodyLocalization", bodyLocalization, &out)
        object.member("badge", badge, &out)
        object.member("badgeIncrement", badgeIncrement, &out)
        if let sound {
            object.begin("sound", &out)
            sound.write(to: &out)
        }
        object.member("categoryIdentifier", categoryIdentifier, &out)
        object.member("threadIdentifier", threadIdentifier, &out)
        object.member("launchImageName", launchImageName, &out)
        object.member("targetContentIdentifier", targetContentIdentifier, &out)
        object.member("interruptionLevel", interruptionLevel?.rawValue, &out)
        object.member("presentation", presentation, &out)
        object.member("relevanceScore", relevanceScore, &out)
        object.member("filterCriteria", filterCriteria, &out)
        object.member("summaryArgument", summaryArgument, &out)
        object.member("summaryArgumentCount", summaryArgumentCount, &out)
        object.member("mutableContent", mutableContent, &out)
        if let attachments {
            object.begin("attachments", &out)
            out.append(0x5B)
            for (index, attachment) in attachments.enumerated() {
                if index > 0 { out.append(0x2C) }
                attachment.write(to: &out)
            }
            out.append(0x5D)
        }
        if let userInfo {
            object.begin("userInfo", &out)
            userInfo.write(to: &out)
        }
        if let localizations {
            object.begin("localizations", &out)
            JSONValue.object(localizations.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.value) }).write(
                to: &out
            )
        }
        object.member("liveActivity", liveActivity, &out)
        object.end(&out)
    }

    /// The content as JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}

extension LocalizedTexts {
    fileprivate var value: JSONValue {
        let members = [("title", title), ("subtitle", subtitle), ("body", body)]
        return .object(members.compactMap { name, text in text.map { JSONValue.Member(name, .string($0)) } })
    }
}

extension Localization: JSONWritable {
    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("key", key, &out)
        if let arguments {
            object.begin("arguments", &out)
            JSONValue.array(arguments.map { .string($0) }).write(to: &out)
        }
        object.end(&out)
    }
}

extension NotificationSound {
    func write(to out: inout [UInt8]) {
        guard critical != nil || volume != nil else {
            JSONWriter.append(string: name, to: &out)
            return
        }
        var object = JSONObjectWriter()
        object.member("name", name, &out)
        object.member("critical", critical, &out)
        object.member("volume", volume, &out)
        object.end(&out)
    }
}

extension NotificationAttachment {
    func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("identifier", identifier, &out)
        object.member("url", url, &out)
        if let options {
            object.begin("options", &out)
            options.write(to: &out)
        }
        object.end(&out)
    }
}

extension NotificationAttachment.Options {
    func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member("typeHint", typeHint, &out)
        object.member("thumbnailHidden", thumbnailHidden, &out)
        if let rect = thumbnailClippingRect {
            object.begin("thumbnailClippingRect", &out)
            var inner = JSONObjectWriter()
            inner.member("x", rect.x, &out)
            inner.member("y", rect.y, &out)
            inner.member("width", rect.width, &out)
            inner.member("height", rect.height, &out)
            inner.end(&out)
        }
        object.member("thumbnailTime", thumbnailTime, &out)
        object.end(&out)
    }
}

extension NotificationTrigger {
    /// Appends the trigger as JSON.
    public func write(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        switch self {
        case .push:
            object.member("type", "push", &out)
        case .timeInterval(let trigger):
            object.member("type", "timeInterval", &out)
            object.member("timeInterval", trigger.timeInterval, &out)
            object.member("repeats", trigger.repeats, &out)
            object.member("misfire", trigger.misfire?.rawValue, &out)
            object.member("jitter", trigger.jitter, &out)
        case .calendar(let trigger):
            object.member("type", "calendar", &out)
            object.begin("dateComponents", &out)
            trigger.dateComponents.write(to: &out)
            object.member("timeZone", trigger.timeZone, &out)
            object.member("repeats", trigger.repeats, &out)
            object.member("notBefore", trigger.notBefore, &out)
            object.member("gap", trigger.gap?.rawValue, &out)
            object.member("overlap", trigger.overlap?.rawValue, &out)
            object.member("missingDay", trigger.missingDay?.rawValue, &out)
            object.member("misfire", trigger.misfire?.rawValue, &out)
            object.member("jitter", trigger.jitter, &out)
        case .location(let trigger):
            object.member("type", "location", &out)
            object.begin("region", &out)
            var region = JSONObjectWriter()
            region.member("latitude", trigger.region.latitude, &out)
            region.member("longitude", trigger.region.longitude, &out)
            region.member("radius", trigger.region.radius, &out)
            region.end(&out)
            object.member("notifyOnEntry", trigger.notifyOnEntry, &out)
            object.member("notifyOnExit", trigger.notifyOnExit, &out)
            object.member("repeats", trigger.repeats, &out)
        }
        object.end(&out)
    }

    /// The trigger as JSON.
    public var json: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }
}

extension CalendarComponents {
    func write(to out: inout [UInt8]) {
        var isFirst = true
        out.append(0x7B)
        for field in CalendarField.allCases {
            let values: [Int]
            switch field.place {
            case .one(let place): values = self[keyPath: place].map { [$0] } ?? []
            case .several(let place): values = self[keyPath: place]?.values ?? []
            }
            guard let first = values.first else { continue }
            if !isFirst { out.append(0x2C) }
            isFirst = false
            JSONWriter.append(string: field.name, to: &out)
            out.append(0x3A)
            if values.count > 1 { out.append(0x5B) }
            JSONWriter.append(number: first, to: &out)
            for value in values.dropFirst() {
                out.append(0x2C)
                JSONWriter.append(number: value, to: &out)
            }
            if values.count > 1 { out.append(0x5D) }
        }
        out.append(0x7D)
    }
}
