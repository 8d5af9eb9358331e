package import NotificationModel

/// The headers of a push, without those of its credentials.
package struct APNsHeaders: Hashable, Sendable {
    /// The longest `apns-collapse-id`, in bytes of UTF-8.
    package static let maximumCollapseIDBytes = 64

    /// `apns-push-type`.
    package var pushType: APNsPushType
    /// `apns-topic`.
    package var topic: String
    /// `apns-id`: of the operation, the same for each of its attempts; nil lets APNs choose.
    package var id: UUIDValue?
    /// `apns-priority`. Without the header it is 10 for every type.
    package var priority: APNsPriority
    /// `apns-expiration`, in whole seconds since 1970; 0 tries once and stores nothing, nil stores it for up to 30 days.
    package var expiration: Int64?
    /// `apns-collapse-id`: replaces what has the same, also when the device shows it already.
    package var collapseID: String?
    /// `apns-channel-id`: the push goes to all Live Activities that subscribe to the channel, in the place of a device.
    package var broadcastChannel: String?

    /// - Parameters:
    ///   - pushType: decides the topic's suffix and the priority.
    ///   - bundle: the app's bundle identifier.
    package init(
        _ pushType: APNsPushType,
        bundle: String,
        id: UUIDValue? = nil,
        priority: APNsPriority? = nil,
        expiration: Int64? = nil,
        collapseID: String? = nil
    ) {
        (self.pushType, topic, self.id) = (pushType, pushType.topic(of: bundle), id)
        self.priority = priority ?? pushType.defaultPriority
        (self.expiration, self.collapseID) = (expiration, collapseID)
    }

    /// Names and values in the order in which they are sent.
    package var fields: [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for isShared in [true, false] {
            forEachField(shared: isShared) { name, value in fields.append(("\(name)", value)) }
        }
        return fields
    }

    /// - Parameters:
    ///   - isShared: whether those that have the same value in many pushes, or the others.
    ///   - body: gets a name and its value.
    func forEachField(shared isShared: Bool, _ body: (_ name: StaticString, _ value: String) -> Void) {
        if isShared {
            // The app of a broadcast is in the path.
            if broadcastChannel == nil { body("apns-topic", topic) }
            body("apns-push-type", pushType.rawValue)
            return body("apns-priority", "\(priority.rawValue)")
        }
        if let broadcastChannel { body("apns-channel-id", broadcastChannel) }
        if let id { body(broadcastChannel == nil ? "apns-id" : "apns-request-id", id.description) }
        if let expiration { body("apns-expiration", "\(expiration)") }
        if let collapseID { body("apns-collapse-id", collapseID) }
    }

    /// The longest payload in bytes.
    package var maximumPayloadBytes: Int {
        broadcastChannel == nil ? pushType.maximumPayloadBytes : Self.broadcastPayloadBytes
    }

    private static let broadcastPayloadBytes = 5120

    /// `apns-expiration` for an instant from which on nothing may be delivered: rounded down.
    package static func expiration(_ instant: Timestamp) -> Int64 {
        // 0 would mean "once", and only now.
        max(1, instant.rawValue / 1000)
    }
}
