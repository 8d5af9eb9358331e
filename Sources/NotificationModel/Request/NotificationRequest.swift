/// A request to show a notification, as programs build it. Services read records with ``RequestRecord`` instead.
public struct NotificationRequest: Hashable, Sendable {
    /// The request's id; nil until the publisher assigns one.
    public var requestID: RequestID?
    /// The notification's key. The identifier is not empty.
    public var key: NotificationKey
    /// Orders requests: a request or removal with a smaller version arrives too late. At least 0.
    public var version: Int64?
    /// The content to show.
    public var content: NotificationContent
    /// When to show it; `push` means now.
    public var trigger: NotificationTrigger
    /// Not delivered from this instant on.
    public var expiration: Timestamp?
    /// Seconds to wait for a newer request before sending, 0 to ``ModelLimits/collapseWindow``.
    public var collapseWindow: Double?
    /// How it leaves; nil for the default of the consumer service, which refuses a channel that it does not have.
    public var channel: ChannelName?
    /// Quiet hours, a cap and a digest; a digest needs a trigger that does not repeat.
    public var limits: DeliveryLimits?

    /// A request.
    public init(
        requestID: RequestID? = nil,
        key: NotificationKey,
        version: Int64? = nil,
        content: NotificationContent,
        trigger: NotificationTrigger = .push,
        expiration: Timestamp? = nil,
        collapseWindow: Double? = nil,
        channel: ChannelName? = nil,
        limits: DeliveryLimits? = nil
    ) {
        self.requestID = requestID
        self.key = key
        self.version = version
        self.content = content
        self.trigger = trigger
        self.expiration = expiration
        self.collapseWindow = collapseWindow
        self.channel = channel
        self.limits = limits
    }
}

/// Which notifications a removal covers.
public enum RemovalScope: String, CaseIterable, Hashable, Sendable, Codable {
    /// Scheduled and not sent yet.
    case pending
    /// Sent already.
    case delivered
    /// Both.
    case all
}

/// A request to cancel pending or withdraw delivered notifications.
public struct NotificationRemoval: Hashable, Sendable {
    /// The request's id; nil until the publisher assigns one.
    public var requestID: RequestID?
    /// The notification's key; an empty identifier means all of the recipient's.
    public var key: NotificationKey
    /// Orders requests, as ``NotificationRequest/version``.
    public var version: Int64?
    /// The notifications to remove.
    public var scope: RemovalScope

    /// A removal.
    public init(requestID: RequestID? = nil, key: NotificationKey, version: Int64? = nil, scope: RemovalScope) {
        self.requestID = requestID
        self.key = key
        self.version = version
        self.scope = scope
    }
}
