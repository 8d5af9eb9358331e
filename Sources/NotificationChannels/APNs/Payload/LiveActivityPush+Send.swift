package import NotificationDelivery
package import NotificationModel

extension APNsPush {
    /// The push of a send for a Live Activity: the kind of its token decides between a start and an update.
    ///
    /// Throws `payload-too-large`, and `invalid` for JSON that is no content of a Live Activity.
    ///
    /// - Parameters:
    ///   - activity: of the send.
    ///   - device: one of the send's.
    ///   - registration: whose token gets it.
    ///   - bundle: the app's bundle identifier.
    package init(
        _ send: ChannelSend,
        _ activity: ChannelSend.Activity,
        to device: PresentedDevice,
        _ registration: DeviceRegistration,
        bundle: String
    ) throws(ModelError) {
        let push: LiveActivityPush
        var level: InterruptionLevel?
        switch send.kind {
        case .deliver(let content):
            level = InterruptionLevel(ofContent: content)
            let value = try JSONValue.parse(Array(content), maximumDepth: APNsPayloadCheck.maximumDepth)
            push = try LiveActivityPush(value, activity, to: device, registration.kind, isQuiet: send.isQuiet)
        case .remove:
            // In the past it disappears at once; nobody knows the clock of the device.
            let dismissal = activity.dismissalDate ?? Timestamp(rawValue: min(activity.timestamp, 9_999_999_999) * 1000)
            push = LiveActivityPush(.end(dismissal: dismissal), timestamp: activity.timestamp, contentState: nil)
        }
        // After the first attempt it may be the budget of the device that refuses it.
        self = push.push(id: send.id, bundle: bundle, isUrgent: push.isUrgent(send, level) && send.attempt == 1)
        self.level = level
        headers.expiration = send.expiration.map(APNsHeaders.expiration)
        if registration.kind == .broadcastChannel {
            headers.broadcastChannel = registration.token
            // A channel that stores nothing takes no other.
            headers.expiration = headers.expiration ?? 0
        }
        guard payload.count <= headers.maximumPayloadBytes else {
            throw ModelError(
                .payloadTooLarge,
                field: "payload",
                "has \(payload.count) bytes, at most \(headers.maximumPayloadBytes) are allowed for a Live Activity"
            )
        }
    }
}

extension LiveActivityPush {
    /// - Parameters:
    ///   - content: of the request.
    ///   - kind: of the token.
    fileprivate init(
        _ content: JSONValue,
        _ activity: ChannelSend.Activity,
        to device: PresentedDevice,
        _ kind: TokenKind,
        isQuiet: Bool
    ) throws(ModelError) {
        guard let own = content["liveActivity"], let state = own["contentState"] else {
            throw ModelError(.invalid, field: "liveActivity", "is missing")
        }
        var event = Event.update
        if kind == .liveActivityStart {
            guard let type = own["attributesType"]?.stringValue, let attributes = own["attributes"] else {
                throw ModelError(.invalid, field: "liveActivity.attributes", "is missing")
            }
            let updates = own["broadcastChannel"]?.stringValue.map(Updates.channel) ?? .token
            event = .start(attributesType: type, attributes: attributes, updates: updates)
        }
        let isShown = !isQuiet && !device.presentation.isDisjoint(with: [.banner, .list])
        self.init(
            event,
            timestamp: activity.timestamp,
            contentState: state,
            // Without one nothing starts.
            alert: isShown || event.name == .start ? Alert(content, device) : nil,
            staleDate: own["staleDate"]?.stringValue.flatMap { Timestamp(rfc3339: $0) },
            relevanceScore: own["relevanceScore"]?.doubleValue
        )
    }

    /// Whether it counts for the hourly budget of the device, so that it is shown at once.
    fileprivate func isUrgent(_ send: ChannelSend, _ level: InterruptionLevel?) -> Bool {
        guard case .deliver = send.kind else { return true }
        switch level {
        case .passive?: return false
        case .timeSensitive?, .critical?: return true
        case .active?, nil: return alert != nil
        }
    }
}

extension LiveActivityPush.Alert {
    /// The texts of a content for a device; nil without any.
    fileprivate init?(_ content: JSONValue, _ device: PresentedDevice) {
        let variant = device.localization.flatMap { content["localizations"]?[$0] }
        func text(_ name: String) -> Text? {
            if let text = variant?[name]?.stringValue { return .plain(text) }
            if let localization = content["\(name)Localization"], let key = localization["key"]?.stringValue {
                let arguments = localization["arguments"]?.arrayValue?.compactMap(\.stringValue)
                return .localized(Localization(key: key, arguments: arguments))
            }
            return content[name]?.stringValue.map { .plain($0) }
        }
        let (title, body) = (text("title"), text("body"))
        guard title != nil || body != nil else { return nil }
        var sound: String?
        if device.presentation.contains(.sound), let value = content["sound"] {
            sound = value.stringValue ?? value["name"]?.stringValue ?? "default"
        }
        self.init(title: title ?? .plain(""), body: body ?? .plain(""), sound: sound)
    }
}
