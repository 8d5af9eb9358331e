package import NotificationDelivery
package import NotificationModel

/// A message of Web Push before its encryption: the body, and what its header fields say.
package struct WebPushMessage: Hashable, Sendable {
    /// The field `urgency` (RFC 8030, 5.3): what a device with little power still receives.
    package enum Urgency: String, CaseIterable, Hashable, Sendable {
        case veryLow = "very-low"
        case low, normal, high
    }

    /// The longest time that all known push services keep a message, in seconds: 28 days.
    package static let longestLife: Int64 = 28 * 86_400

    /// JSON, at most ``WebPushEncryption/maximumPlaintextBytes``.
    package var body: [UInt8]
    /// What it lacks of what was asked for.
    package var changes: [PayloadChange] = []
    package var urgency: Urgency
    /// The field `ttl`, in seconds: 0 to 28 days.
    package var timeToLive: Int64
    /// The field `topic`: 32 characters of Base64url. What a push service has not delivered under it yet is replaced.
    package var topic: String?

    /// A notification for a device.
    ///
    /// Throws `payload-too-large` when it does not fit in spite of the policy, `unsupported-form` when it has texts that only
    /// an app can put together, and `invalid` for JSON that is no content.
    ///
    /// - Parameters:
    ///   - delivery: what the device is given.
    ///   - application: whose page and policy it has.
    ///   - actions: of the notification's category, a JSON array; nil without a category.
    ///   - now: what the life of the message is counted from.
    package init(
        _ delivery: DeviceDelivery,
        of application: WebPushApplication,
        actions: ArraySlice<UInt8>? = nil,
        at now: Timestamp
    ) throws(ModelError) {
        let offered = try actions.map { list throws(ModelError) in try OfferedAction.list(list) } ?? []
        let (body, changes, urgency) = try delivery.content.borrowed { bytes throws(ModelError) in
            // An enriched content may be nested deeper than a request.
            var scanner = JSONScanner(bytes, maximumDepth: ModelLimits.depth + 4)
            let parts = try scanner.whole { scanner throws(ModelError) in
                try ContentParts(&scanner, localization: delivery.localization)
            }
            let writer = WebPushMessageWriter(
                scanner: scanner,
                parts: parts,
                delivery: delivery,
                application: application,
                actions: offered
            )
            let (body, changes) = try writer.message()
            return (body, changes, writer.urgency)
        }
        (self.body, self.changes, self.urgency) = (body, changes, urgency)
        timeToLive = delivery.expiration.map { Self.timeToLive(until: $0, at: now) } ?? Self.longestLife
        topic = delivery.collapseID
    }

    /// Asks the service worker to close a notification: `{"carillon":{"remove":{"<tag>":"<sequence>"}}}`. With the topic of the
    /// notification it takes its place where that was not delivered yet.
    ///
    /// - Parameters:
    ///   - key: of the notification.
    ///   - sequence: of the removal: the worker keeps what has a higher one, which was delivered after it.
    package static func removal(of key: NotificationKey, sequence: OperationSequence) -> WebPushMessage {
        let topic = CollapseID(key).text
        let remove = JSONValue.object([
            .init("carillon", .object([.init("remove", .object([.init(topic, .string(sequence.text))]))]))
        ])
        return WebPushMessage(body: remove.json, urgency: .normal, timeToLive: longestLife, topic: topic)
    }

    private init(body: [UInt8], urgency: Urgency, timeToLive: Int64, topic: String?) {
        (self.body, self.urgency, self.timeToLive, self.topic) = (body, urgency, timeToLive, topic)
    }

    /// Whole seconds, rounded down, 0 to 28 days.
    static func timeToLive(until expiration: Timestamp, at now: Timestamp) -> Int64 {
        max(0, min(longestLife, (expiration.rawValue - now.rawValue) / 1000))
    }
}

/// An action of a category as a browser offers it.
struct OfferedAction: Hashable {
    var identifier: String
    var title: String
    /// It opens the page; else the service worker acts.
    var opensPage: Bool

    static func list(_ json: ArraySlice<UInt8>) throws(ModelError) -> [OfferedAction] {
        let parsed = try JSONValue.parse(json)
        return (parsed.arrayValue ?? []).compactMap { action in
            guard let identifier = action["identifier"]?.stringValue, let title = action["title"]?.stringValue else {
                return nil
            }
            let options = action["options"]?.arrayValue?.compactMap(\.stringValue) ?? []
            // A browser asks for no text: the page does.
            let opensPage = options.contains("foreground") || action["textInput"] != nil
            return OfferedAction(identifier: identifier, title: title, opensPage: opensPage)
        }
    }
}
