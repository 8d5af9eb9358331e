import NotificationDelivery
import NotificationModel

/// Writes the body of a message: Declarative Web Push, which Safari shows without a service worker and others with one.
struct WebPushMessageWriter {
    let scanner: JSONScanner
    let parts: ContentParts
    let delivery: DeviceDelivery
    let application: WebPushApplication
    let actions: [OfferedAction]

    /// What is left out or cut.
    private struct Cuts {
        var body: String?
        var dropsMedia = false
    }

    /// What is neither a banner nor heard is passive.
    private var level: InterruptionLevel {
        let disturbs = delivery.presentation.contains(.banner) || delivery.plays(parts)
        return disturbs ? delivery.interruptionLevel ?? parts.interruptionLevel ?? .active : .passive
    }

    private var isShown: Bool { delivery.shows(parts) }

    var urgency: WebPushMessage.Urgency {
        guard isShown || delivery.plays(parts) else { return .veryLow }
        return switch level {
        case .passive: .low
        case .active: .normal
        case .timeSensitive, .critical: .high
        }
    }

    /// Throws `payload-too-large`, and `unsupported-form` when a browser has no text to show.
    func message() throws(ModelError) -> ([UInt8], [PayloadChange]) {
        let texts = self.texts
        if isShown, texts == nil {
            throw ModelError(
                .unsupportedForm,
                field: "content",
                "has only texts that an app puts together: browsers need a title or a body"
            )
        }
        var (cuts, changes) = (Cuts(), isShown ? leftOut : [])
        var body = try write(texts, cuts)
        let most = WebPushEncryption.maximumPlaintextBytes
        for step in application.oversize.steps where body.count > most {
            switch step {
            case .dropMedia:
                guard isShown, try parts.secureImage(in: scanner) != nil else { continue }
                (cuts.dropsMedia, changes) = (true, changes + [.mediaDropped])
            case .shorten:
                guard isShown, let text = texts?.body else { continue }
                let limit = OversizePolicy.bytesInJSON(text.utf8) - (body.count - most)
                guard let shorter = OversizePolicy.shortened(text, toBytes: limit) else { continue }
                (cuts.body, changes) = (shorter, changes + [.bodyShortened])
            }
            body = try write(texts, cuts)
        }
        guard body.count <= most else {
            throw ModelError(.payloadTooLarge, field: "payload", "has \(body.count) bytes, at most \(most) are allowed")
        }
        return (body, changes)
    }

    // MARK: - Texts

    /// Title and body: a browser needs a title, so that what has none begins with the subtitle or the body.
    private var texts: (title: String, body: String?)? {
        var lines = [parts.subtitle, parts.body].compactMap(text)
        guard let title = text(parts.title) ?? (lines.isEmpty ? nil : lines.removeFirst()) else { return nil }
        return (title, lines.isEmpty ? nil : lines.joined(separator: "\n"))
    }

    /// A text that is there and not empty.
    private func text(_ token: JSONStringToken?) -> String? {
        token.flatMap { $0.count > 0 ? scanner.materialise($0) : nil }
    }

    /// Browsers have no texts of an app.
    private var leftOut: [PayloadChange] {
        [
            ("titleLocalization", parts.titleLocalization != nil),
            ("subtitleLocalization", parts.subtitleLocalization != nil),
            ("bodyLocalization", parts.bodyLocalization != nil),
        ].filter { $0.1 }.map { .memberLeftOut($0.0) }
    }

    // MARK: - The body

    private func write(_ texts: (title: String, body: String?)?, _ cuts: Cuts) throws(ModelError) -> [UInt8] {
        var (out, message) = ([UInt8](), JSONObjectWriter())
        let badge = delivery.presentation.contains(.badge) ? delivery.badge : nil
        guard isShown, let texts else {
            // Nothing to show: for the service worker.
            try writeData(&message, &out)
            message.member("app_badge", badge, &out)
            message.end(&out)
            return out
        }
        message.member("web_push", Int64(8030), &out)
        message.begin("notification", &out)
        var notification = JSONObjectWriter()
        let page = application.page.text(for: parts.targetContentIdentifier.map(scanner.materialise))
        notification.member("title", texts.title, &out)
        notification.member("body", cuts.body ?? texts.body, &out)
        notification.member("navigate", page, &out)
        notification.member("tag", delivery.collapseID, &out)
        if !cuts.dropsMedia { notification.member("image", try parts.secureImage(in: scanner), &out) }
        let isQuiet = !delivery.plays(parts)
        if isQuiet { notification.member("silent", true, &out) }
        // What takes the place of another one alerts again, as on a phone; without a tag browsers refuse it.
        if delivery.collapseID != nil, level != .passive { notification.member("renotify", true, &out) }
        if level == .timeSensitive || level == .critical { notification.member("requireInteraction", true, &out) }
        notification.member("timestamp", delivery.origin?.occurrence?.rawValue, &out)
        if !actions.isEmpty { write(actions, page, &notification, &out) }
        notification.begin("data", &out)
        var data = JSONObjectWriter()
        try writeData(&data, &out)
        data.end(&out)
        notification.end(&out)
        message.member("app_badge", badge, &out)
        if parts.isMutable { message.member("mutable", true, &out) }
        message.end(&out)
        return out
    }

    private func write(
        _ actions: [OfferedAction],
        _ page: String,
        _ notification: inout JSONObjectWriter,
        _ out: inout [UInt8]
    ) {
        notification.begin("actions", &out)
        for (index, action) in actions.enumerated() {
            out.append(index == 0 ? 0x5B : 0x2C)
            var object = JSONObjectWriter()
            object.member("action", action.identifier, &out)
            object.member("title", action.title, &out)
            if action.opensPage { object.member("navigate", page, &out) }
            object.end(&out)
        }
        out.append(0x5D)
    }

    /// The members `carillon`, for what the worker tells Carillon, and `userInfo`.
    private func writeData(_ data: inout JSONObjectWriter, _ out: inout [UInt8]) throws(ModelError) {
        if let origin = delivery.origin {
            data.begin("carillon", &out)
            var own = JSONObjectWriter()
            origin.write(to: &own, &out)
            own.end(&out)
        }
        guard let place = parts.userInfo else { return }
        var scanner = scanner
        scanner.position = place
        data.begin("userInfo", &out)
        try scanner.copyValue(to: &out)
    }
}
