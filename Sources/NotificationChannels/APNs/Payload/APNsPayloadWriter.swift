import NotificationDelivery
import NotificationModel

/// Writes the payload of a content: `{"aps":{…},"carillon":{…},…}`, members of `userInfo` beside `aps`.
///
/// The shortest JSON: what was written with escapes or white space gets neither. The texts of the content are copied, not read.
struct APNsPayloadWriter {
    let pushType: APNsPushType
    private let scanner: JSONScanner
    private let parts: ContentParts
    private let delivery: DeviceDelivery

    /// - Parameters:
    ///   - scanner: of the content's bytes.
    ///   - parts: of the content.
    ///   - pushType: nil for `alert`, or `background` when nothing is shown, played or counted.
    init(_ scanner: JSONScanner, _ parts: ContentParts, _ delivery: DeviceDelivery, _ pushType: APNsPushType?) {
        (self.scanner, self.parts, self.delivery) = (scanner, parts, delivery)
        let counts = delivery.badge != nil && delivery.presentation.contains(.badge)
        self.pushType =
            pushType ?? (delivery.shows(parts) || delivery.plays(parts) || counts ? .alert : .background)
    }

    /// The level of the alert; nil for `active`, which nobody asked for.
    ///
    /// APNs has no word for "in the list, without a banner", but passive notifications are shown so. They play no sound: where one
    /// is wanted, the device's own settings keep the banner away.
    var level: InterruptionLevel? {
        let disturbs = delivery.presentation.contains(.banner) || delivery.plays(parts)
        return disturbs ? delivery.interruptionLevel ?? parts.interruptionLevel : .passive
    }

    /// Nothing that is heard or lights the screen may wait until it suits the battery.
    var isUrgent: Bool { (delivery.shows(parts) || delivery.plays(parts)) && level != .passive }

    /// Throws `payload-too-large`.
    func payload(_ policy: OversizePolicy) throws(ModelError) -> ([UInt8], [PayloadChange]) {
        var changes: [PayloadChange] = []
        var (body, dropsMedia) = (nil as String?, false)
        var payload = try write(body, dropsMedia: dropsMedia, &changes)
        let limit = pushType.maximumPayloadBytes
        for step in policy.steps where payload.count > limit {
            switch step {
            case .dropMedia:
                guard parts.attachments != nil, delivery.shows(parts) else { continue }
                (dropsMedia, changes) = (true, changes + [.mediaDropped])
            case .shorten:
                guard let shorter = shortenedBody(by: payload.count - limit) else { continue }
                (body, changes) = (shorter, changes + [.bodyShortened])
            }
            var ignored: [PayloadChange] = []
            payload = try write(body, dropsMedia: dropsMedia, &ignored)
        }
        guard payload.count <= limit else {
            throw ModelError(
                .payloadTooLarge,
                field: "payload",
                "has \(payload.count) bytes, at most \(limit) are allowed for \(pushType.rawValue)"
            )
        }
        return (payload, changes)
    }

    private func shortenedBody(by bytes: Int) -> String? {
        guard let body = parts.body, parts.bodyLocalization == nil, delivery.shows(parts) else { return nil }
        let text = scanner.materialise(body)
        return OversizePolicy.shortened(text, toBytes: OversizePolicy.bytesInJSON(text.utf8) - bytes)
    }

    // MARK: - The payload

    /// - Parameter body: in the place of the content's.
    private func write(
        _ body: String?,
        dropsMedia: Bool,
        _ changes: inout [PayloadChange]
    ) throws(ModelError) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(scanner.count + 512)
        var object = JSONObjectWriter()
        switch pushType {
        case .widgets, .controls:
            object.begin("aps", &out)
            JSONWriter.append("{\"content-changed\":true}", to: &out)
            object.end(&out)
            return out
        case .mdm, .fileprovider: break
        case .background:
            object.begin("aps", &out)
            JSONWriter.append("{\"content-available\":1}", to: &out)
        case .alert, .complication, .liveactivity, .location, .pushtotalk, .voip:
            object.begin("aps", &out)
            try writeAPS(body, to: &out)
        }
        try writeOrigin(withMedia: !dropsMedia, &object, to: &out)
        try writeUserInfo(&object, &changes, to: &out)
        object.end(&out)
        return out
    }

    private func writeAPS(_ body: String?, to out: inout [UInt8]) throws(ModelError) {
        var object = JSONObjectWriter()
        let shows = delivery.shows(parts)
        if shows {
            object.begin("alert", &out)
            try writeAlert(body, to: &out)
        }
        if delivery.presentation.contains(.badge) { object.member("badge", delivery.badge, &out) }
        if let sound = parts.sound, delivery.plays(parts) {
            object.begin("sound", &out)
            try write(sound, to: &out)
        }
        if shows, let level { object.member("interruption-level", level.apnsName, &out) }
        copy("thread-id", parts.threadIdentifier, &object, &out)
        copy("category", parts.categoryIdentifier, &object, &out)
        copy("target-content-id", parts.targetContentIdentifier, &object, &out)
        copy("filter-criteria", parts.filterCriteria, &object, &out)
        try copy("relevance-score", at: parts.relevanceScore, &object, &out)
        if parts.isMutable, shows {
            object.begin("mutable-content", &out)
            JSONWriter.append("1", to: &out)
        }
        object.end(&out)
    }

    /// A localization key takes the place of its text: APNs takes one or the other.
    private func writeAlert(_ body: String?, to out: inout [UInt8]) throws(ModelError) {
        var object = JSONObjectWriter()
        if let title = parts.titleLocalization {
            try write(title, "title-loc-key", "title-loc-args", &object, &out)
        } else {
            copy("title", parts.title, &object, &out)
        }
        if let subtitle = parts.subtitleLocalization {
            try write(subtitle, "subtitle-loc-key", "subtitle-loc-args", &object, &out)
        } else {
            copy("subtitle", parts.subtitle, &object, &out)
        }
        if let localization = parts.bodyLocalization {
            try write(localization, "loc-key", "loc-args", &object, &out)
        } else if let body {
            object.member("body", body, &out)
        } else {
            copy("body", parts.body, &object, &out)
        }
        copy("launch-image", parts.launchImageName, &object, &out)
        copy("summary-arg", parts.summaryArgument, &object, &out)
        try copy("summary-arg-count", at: parts.summaryArgumentCount, &object, &out)
        object.end(&out)
    }

    private func write(
        _ localization: ContentParts.LocalizationParts,
        _ key: FieldName,
        _ arguments: FieldName,
        _ object: inout JSONObjectWriter,
        _ out: inout [UInt8]
    ) throws(ModelError) {
        copy(key, localization.key, &object, &out)
        try copy(arguments, at: localization.arguments, &object, &out)
    }

    /// A name; an object for a critical sound, which alone has a volume.
    private func write(_ sound: ContentParts.SoundParts, to out: inout [UInt8]) throws(ModelError) {
        func name(_ out: inout [UInt8]) {
            if let name = sound.name {
                scanner.copy(name, to: &out)
            } else {
                JSONWriter.append("\"default\"", to: &out)
            }
        }
        guard sound.isCritical else { return name(&out) }
        var object = JSONObjectWriter()
        object.begin("critical", &out)
        JSONWriter.append("1", to: &out)
        object.begin("name", &out)
        name(&out)
        try copy("volume", at: sound.volume, &object, &out)
        object.end(&out)
    }

    // MARK: - Beside aps

    private func writeOrigin(
        withMedia: Bool,
        _ object: inout JSONObjectWriter,
        to out: inout [UInt8]
    ) throws(ModelError) {
        let media = withMedia && delivery.shows(parts) ? parts.attachments : nil
        guard delivery.origin != nil || media != nil else { return }
        object.begin(FieldName(stringLiteral: APNsCoherence.ownMember), &out)
        var own = JSONObjectWriter()
        delivery.origin?.write(to: &own, &out)
        try copy("attachments", at: media, &own, &out)
        own.end(&out)
    }

    private func writeUserInfo(
        _ object: inout JSONObjectWriter,
        _ changes: inout [PayloadChange],
        to out: inout [UInt8]
    ) throws(ModelError) {
        guard let place = parts.userInfo else { return }
        var scanner = scanner
        scanner.position = place
        try scanner.object { scanner, name throws(ModelError) in
            let reserved = try scanner.field(name) { name -> PayloadChange? in
                APNsCoherence.isReserved(name) ? .memberLeftOut("userInfo.\(name.text)") : nil
            }
            if let reserved {
                changes.append(reserved)
                return try scanner.skipValue()
            }
            object.separate(&out)
            scanner.copy(name, to: &out)
            out.append(0x3A)
            try scanner.copyValue(to: &out)
        }
    }

    // MARK: - Parts

    private func copy(
        _ name: FieldName,
        _ text: JSONStringToken?,
        _ object: inout JSONObjectWriter,
        _ out: inout [UInt8]
    ) {
        guard let text else { return }
        object.begin(name, &out)
        scanner.copy(text, to: &out)
    }

    /// - Parameter place: of the value.
    private func copy(
        _ name: FieldName,
        at place: Int?,
        _ object: inout JSONObjectWriter,
        _ out: inout [UInt8]
    ) throws(ModelError) {
        guard let place else { return }
        object.begin(name, &out)
        var scanner = scanner
        scanner.position = place
        try scanner.copyValue(to: &out)
    }
}
