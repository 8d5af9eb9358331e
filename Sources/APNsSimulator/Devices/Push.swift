public import NotificationModel

/// A push that APNs has accepted, on its way to a device.
struct Push: Sendable {
    /// Given by the sender, or by APNs.
    var id: String
    var headers: PushHeaders
    var environment: DeviceRegistration.Environment
    var payload: [UInt8]
    var facts: PayloadFacts
    var acceptedAt: Timestamp
    /// The Live Activity that it is for; nil for other pushes, and for what starts one.
    var activity: String?
}

/// A push that reached a device, and what the device did with it.
public struct ReceivedPush: Sendable, Hashable {
    /// `apns-id`.
    public let id: String
    /// `apns-push-type`, else alert.
    public let pushType: PushType
    /// `apns-topic`.
    public let topic: String
    /// `apns-priority`, else 10.
    public let priority: PushPriority
    /// `apns-collapse-id`.
    public let collapseID: String?
    /// The JSON as it came.
    public let payload: [UInt8]
    /// When APNs accepted it.
    public let acceptedAt: Timestamp
    /// When it reached the device: later if that was offline.
    public let receivedAt: Timestamp
    /// What the device did with it.
    public let effect: Effect

    /// What a device did with a push.
    public enum Effect: Sendable, Hashable {
        /// Shows it as a further notification.
        case shown
        /// Shows it in the place of the one with the same identifier.
        case replaced
        /// Gave it to the app, the extension or the system: nothing more is seen of it.
        case handed
        /// The app removed this many notifications, as Carillon told it.
        case removed(Int)
        /// A Live Activity began, changed or ended.
        case activity
        /// Nothing, and why: APNs accepts much that a device then ignores.
        case ignored(String)
    }

    init(_ push: Push, at now: Timestamp, effect: Effect) {
        (id, pushType, topic, priority) = (push.id, push.headers.type, push.headers.topic, push.headers.priority)
        (collapseID, payload, acceptedAt) = (push.headers.collapseID, push.payload, push.acceptedAt)
        (receivedAt, self.effect) = (now, effect)
    }
}

/// A notification that a device shows.
public struct ShownNotification: Sendable, Hashable {
    /// `apns-collapse-id`, else `apns-id`: what the app removes it by.
    public let identifier: String
    /// `apns-id` of the push that it is from.
    public let id: String
    /// The JSON as it came.
    public let payload: [UInt8]
    /// When the device showed it.
    public let shownAt: Timestamp
    /// How many notifications the device showed before it.
    let position: Int
    /// ``CarillonMember/sequence``
    let sequence: String?
}

/// A Live Activity on a device.
public struct LiveActivity: Sendable, Hashable {
    /// Made by the device, or given when the app registered its token.
    public let id: String
    /// The topic of its pushes.
    public let topic: String
    /// Nil for one that the app started.
    public let attributesType: String?
    /// The token for its updates.
    public let token: String
    /// The channel whose broadcasts it gets.
    public let channel: String?
    /// The newest `timestamp`, in seconds since 1970; nil before the first push.
    public internal(set) var timestamp: Int64?
    /// The newest `content-state`, as JSON.
    public internal(set) var contentState: [UInt8]?
    /// `stale-date`, in seconds since 1970.
    public internal(set) var staleDate: Int64?
    /// `dismissal-date`, in seconds since 1970.
    public internal(set) var dismissalDate: Int64?
    /// Whether it has ended: its token is dead.
    public internal(set) var hasEnded = false
}
