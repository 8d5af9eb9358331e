package import NotificationDelivery
package import NotificationModel

/// The body of a request to `messages:send` of FCM HTTP v1.
package struct FCMMessage: Hashable, Sendable {
    /// What FCM allows for the texts of data and notification, with their names, in bytes.
    package static let maximumBytes = 4096
    /// The longest time that FCM keeps a message, in seconds: 28 days.
    package static let longestLife: Int64 = 28 * 86_400

    /// JSON: `{"message":{…}}`.
    package var body: [UInt8]
    /// What it lacks of what was asked for.
    package var changes: [PayloadChange] = []

    init(body: [UInt8], changes: [PayloadChange] = []) { (self.body, self.changes) = (body, changes) }

    /// A notification for a device.
    ///
    /// Throws `payload-too-large` when it does not fit in spite of the policy, and `invalid` for JSON that is no content.
    ///
    /// - Parameters:
    ///   - delivery: what the device is given.
    ///   - target: the device.
    ///   - package: the app's, which FCM compares with that of the token; nil compares nothing.
    ///   - application: whose policies it follows.
    ///   - actions: of the notification's category, a JSON array; nil without a category.
    ///   - now: what the life of the message is counted from.
    package init(
        _ delivery: DeviceDelivery,
        to target: FCMTarget,
        package name: String? = nil,
        of application: FCMApplication,
        actions: ArraySlice<UInt8>? = nil,
        at now: Timestamp
    ) throws(ModelError) {
        self = try delivery.content.borrowed { bytes throws(ModelError) in
            // An enriched content may be nested deeper than a request.
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            let parts = try scanner.whole { scanner throws(ModelError) in
                try ContentParts(&scanner, localization: delivery.localization)
            }
            let writer = FCMMessageWriter(
                scanner: scanner,
                parts: parts,
                delivery: delivery,
                application: application,
                actions: actions
            )
            let (content, changes) = try writer.content()
            let envelope = FCMEnvelope(
                target: target,
                package: name,
                isUrgent: writer.isUrgent,
                timeToLive: delivery.expiration.map { Self.timeToLive(until: $0, at: now) },
                collapseKey: application.collapsesThreads ? parts.threadIdentifier.map(scanner.materialise) : nil,
                isV2: application.display == .systemV2
            )
            return FCMMessage(body: envelope.body(content), changes: changes)
        }
    }

    /// Asks the app to cancel a notification that it shows: `data.carillon` is `{"remove":{"<tag>":"<sequence>"}}`.
    ///
    /// - Parameters:
    ///   - key: of the notification.
    ///   - sequence: of the removal: the app keeps what has a higher one, which was delivered after it.
    package static func removal(
        of key: NotificationKey,
        sequence: OperationSequence,
        to target: FCMTarget,
        package name: String? = nil,
        of application: FCMApplication
    ) -> FCMMessage {
        let remove = JSONValue.object([
            .init("remove", .object([.init(CollapseID(key).text, .string(sequence.text))]))
        ])
        var data = FCMObject()
        data.add(FCMDataKey.own, String(decoding: remove.json, as: UTF8.self))
        let envelope = FCMEnvelope(
            target: target,
            package: name,
            isUrgent: false,
            timeToLive: nil,
            collapseKey: nil,
            isV2: application.display == .systemV2
        )
        return FCMMessage(body: envelope.body(FCMContent(data: data, notification: nil, isMutable: false)))
    }

    /// Whole seconds, rounded down, 0 to 28 days.
    static func timeToLive(until expiration: Timestamp, at now: Timestamp) -> Int64 {
        max(0, min(longestLife, (expiration.rawValue - now.rawValue) / 1000))
    }
}

/// What a message carries.
struct FCMContent {
    /// The texts for the app.
    var data: FCMObject
    /// What the system shows; nil for a data message.
    var notification: FCMObject?
    /// Whether the app may change what the system shows.
    var isMutable: Bool

    /// What FCM counts, in bytes.
    var bytes: Int { data.bytes + (notification?.bytes ?? 0) }
}

/// How a message is sent: all but what it carries.
struct FCMEnvelope {
    var target: FCMTarget
    var package: String?
    /// Delivered at once, also to a device that sleeps.
    var isUrgent: Bool
    /// In seconds; nil for the 28 days of FCM.
    var timeToLive: Int64?
    var collapseKey: String?
    /// In the form `androidV2`.
    var isV2: Bool

    func body(_ content: FCMContent) -> [UInt8] {
        var message = FCMObject()
        message.add(target.member.name, target.member.value)
        if !content.data.isEmpty { message.add("data", raw: content.data.ended()) }
        message.add(isV2 ? "androidV2" : "android", raw: options(content))
        var request = FCMObject()
        request.add("message", raw: message.ended())
        return request.ended()
    }

    private func options(_ content: FCMContent) -> [UInt8] {
        var options = FCMObject()
        options.add("collapseKey", collapseKey)
        options.add("ttl", timeToLive.map { "\($0)s" })
        options.add("restrictedPackageName", package)
        guard isV2 else {
            options.add("priority", isUrgent ? "HIGH" : "NORMAL")
            if let notification = content.notification { options.add("notification", raw: notification.ended()) }
            return options.ended()
        }
        // The kind decides the priority.
        guard let notification = content.notification else {
            options.add("backgroundSync", raw: Array("{}".utf8))
            return options.ended()
        }
        var remote = FCMObject()
        remote.add("notification", raw: notification.ended())
        if content.isMutable { remote.add("mutableContent", raw: Array("true".utf8)) }
        options.add("remoteNotification", raw: remote.ended())
        return options.ended()
    }
}
