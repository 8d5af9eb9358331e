import NotificationDelivery
import NotificationModel

/// Writes what a message carries of a content: the notification for Android's system, and the data for the app.
struct FCMMessageWriter {
    let scanner: JSONScanner
    let parts: ContentParts
    let delivery: DeviceDelivery
    let application: FCMApplication
    /// A JSON array.
    let actions: ArraySlice<UInt8>?

    /// What is left out or cut.
    private struct Cuts {
        var body: String?
        var dropsMedia = false
    }

    /// The level that decides the channel: what is neither a banner nor heard is passive.
    private var level: InterruptionLevel {
        let disturbs = delivery.presentation.contains(.banner) || delivery.plays(parts)
        return disturbs ? delivery.interruptionLevel ?? parts.interruptionLevel ?? .active : .passive
    }

    /// Nothing that is heard or lights the screen may wait until the device wakes up.
    var isUrgent: Bool { (delivery.shows(parts) || delivery.plays(parts)) && level != .passive }

    private var systemShows: Bool { application.display != .app && delivery.shows(parts) }

    /// Throws `payload-too-large`.
    func content() throws(ModelError) -> (FCMContent, [PayloadChange]) {
        var (cuts, changes) = (Cuts(), leftOut)
        var content = try write(cuts)
        for step in application.oversize.steps where content.bytes > FCMMessage.maximumBytes {
            switch step {
            case .dropMedia:
                guard parts.attachments != nil, delivery.shows(parts) else { continue }
                (cuts.dropsMedia, changes) = (true, changes + [.mediaDropped])
            case .shorten:
                guard let shorter = shortenedBody(by: content.bytes - FCMMessage.maximumBytes) else { continue }
                (cuts.body, changes) = (shorter, changes + [.bodyShortened])
            }
            content = try write(cuts)
        }
        guard content.bytes <= FCMMessage.maximumBytes else {
            throw ModelError(
                .payloadTooLarge,
                field: "payload",
                "has \(content.bytes) bytes, at most \(FCMMessage.maximumBytes) are allowed"
            )
        }
        return (content, changes)
    }

    private func shortenedBody(by bytes: Int) -> String? {
        guard let body = parts.body, parts.bodyLocalization == nil, delivery.shows(parts) else { return nil }
        let text = scanner.materialise(body)
        // Within the data of the app the body is in JSON, and its escapes count.
        let cost: (String.UTF8View) -> Int = systemShows ? { $0.count } : { OversizePolicy.bytesInJSON($0) }
        return OversizePolicy.shortened(text, toBytes: cost(text.utf8) - bytes, cost: cost)
    }

    private func write(_ cuts: Cuts) throws(ModelError) -> FCMContent {
        FCMContent(
            data: try data(cuts),
            notification: systemShows ? try notification(cuts) : nil,
            isMutable: parts.isMutable
        )
    }

    // MARK: - What the system shows

    /// Android has no subtitle: it is the first line of the body, unless the device puts the body together.
    private var leftOut: [PayloadChange] {
        let hasSubtitle = parts.subtitle.map { $0.count > 0 } ?? false
        guard systemShows, parts.subtitleLocalization != nil || hasSubtitle && parts.bodyLocalization != nil else {
            return []
        }
        return [.memberLeftOut("subtitle")]
    }

    private func notification(_ cuts: Cuts) throws(ModelError) -> FCMObject {
        var object = FCMObject()
        let title = text(parts.title)
        if let localization = parts.titleLocalization {
            try add(localization, "titleLocKey", "titleLocArgs", &object)
        } else {
            object.add("title", title)
        }
        if let localization = parts.bodyLocalization {
            try add(localization, "bodyLocKey", "bodyLocArgs", &object)
        } else {
            let subtitle = parts.subtitleLocalization == nil ? text(parts.subtitle) : nil
            let lines = [subtitle, cuts.body ?? text(parts.body)].compactMap { $0 }
            object.add("body", lines.isEmpty ? nil : lines.joined(separator: "\n"))
        }
        let tag = delivery.collapseID
        object.add("tag", tag)
        if application.display == .systemV2 { object.add("id", tag.map(Self.number)) }
        object.add("channelId", application.channel(for: level))
        object.add("notificationPriority", Self.priority(level))
        // What a screen reader says at once.
        if delivery.presentation.contains(.banner) { object.add("ticker", title) }
        if let sound = parts.sound, delivery.plays(parts) {
            object.add("sound", sound.name.map(scanner.materialise) ?? "default")
        }
        if !cuts.dropsMedia { object.add("image", try parts.secureImage(in: scanner)) }
        object.add("clickAction", application.clickAction)
        if let badge = delivery.badge, badge > 0, delivery.presentation.contains(.badge) {
            object.add("notificationCount", min(badge, Int64(Int32.max)))
        }
        return object
    }

    /// A text that is there and not empty.
    private func text(_ token: JSONStringToken?) -> String? {
        token.flatMap { $0.count > 0 ? scanner.materialise($0) : nil }
    }

    private func add(
        _ localization: ContentParts.LocalizationParts,
        _ key: String,
        _ arguments: String,
        _ object: inout FCMObject
    ) throws(ModelError) {
        object.add(key, scanner.materialise(localization.key))
        guard let place = localization.arguments else { return }
        var (scanner, texts) = (scanner, [String]())
        scanner.position = place
        try scanner.array { scanner, _ throws(ModelError) in texts.append(scanner.materialise(try scanner.string())) }
        object.add(arguments, texts)
    }

    /// For Android before 8; later the channel decides.
    private static func priority(_ level: InterruptionLevel) -> String? {
        switch level {
        case .passive: "PRIORITY_LOW"
        case .active: nil
        case .timeSensitive: "PRIORITY_HIGH"
        case .critical: "PRIORITY_MAX"
        }
    }

    /// A positive number of 31 bits that follows from a tag: `id` of the newer form is one.
    static func number(of tag: String) -> Int64 {
        // FNV-1a: the tag is a hash already.
        let hash = tag.utf8.reduce(UInt32(0x811C_9DC5)) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
        return Int64(max(1, hash & 0x7FFF_FFFF))
    }

    // MARK: - What the app gets

    private func data(_ cuts: Cuts) throws(ModelError) -> FCMObject {
        var data = FCMObject()
        if let own = try own(cuts) { data.add(FCMDataKey.own, own) }
        guard let place = parts.userInfo else { return data }
        var scanner = scanner
        scanner.position = place
        try scanner.object { scanner, name throws(ModelError) in
            let member = FCMDataKey.name(of: scanner.materialise(name))
            guard scanner.peek() != 0x22 else { return data.add(member, scanner.materialise(try scanner.string())) }
            // Data are texts: what is none is sent as its JSON.
            var json: [UInt8] = []
            try scanner.copyValue(to: &json)
            data.add(member, String(decoding: json, as: UTF8.self))
        }
        return data
    }

    /// The member `carillon`, as JSON.
    private func own(_ cuts: Cuts) throws(ModelError) -> String? {
        var (out, own) = ([UInt8](), JSONObjectWriter())
        delivery.origin?.write(to: &own, &out)
        if application.display == .app || !delivery.shows(parts) {
            own.member("tag", delivery.collapseID, &out)
            if delivery.presentation.contains(.badge) { own.member("badge", delivery.badge, &out) }
        }
        if application.display == .app {
            own.member("presentation", delivery.presentation, &out)
            own.member("interruptionLevel", level.rawValue, &out)
            if let channel = application.channel(for: level) { own.member("channel", channel, &out) }
            own.begin("content", &out)
            try writeContent(cuts, to: &out)
            if let actions {
                own.begin("actions", &out)
                JSONWriter.append(raw: actions, to: &out)
            }
        }
        guard !out.isEmpty else { return nil }
        own.end(&out)
        return String(decoding: out, as: UTF8.self)
    }

    private enum ContentField: FieldName {
        case body, badge, badgeIncrement, interruptionLevel, attachments, userInfo
    }

    /// The content without what the app gets elsewhere.
    private func writeContent(_ cuts: Cuts, to out: inout [UInt8]) throws(ModelError) {
        var (scanner, object) = (scanner, JSONObjectWriter())
        scanner.position = 0
        scanner.skipWhitespace()
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: ContentField.self) {
            case .badge, .badgeIncrement, .interruptionLevel, .userInfo: return try scanner.skipValue()
            case .attachments where cuts.dropsMedia: return try scanner.skipValue()
            case .body where cuts.body != nil:
                object.member("body", cuts.body, &out)
                return try scanner.skipValue()
            case .body, .attachments, nil: break
            }
            object.separate(&out)
            scanner.copy(name, to: &out)
            out.append(0x3A)
            try scanner.copyValue(to: &out)
        }
        object.end(&out)
    }
}
