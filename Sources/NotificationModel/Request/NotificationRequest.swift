/// A request to show a notification, as programs build it. Services read records with ``RequestRecord`` instead.
public struct NotificationRequest: Hashable, Sendable {
    /// The request's id; nil until the publisher gives it one.
    public var requestID: RequestID?
    /// Whose notification, and which. The identifier is not empty.
    public var key: NotificationKey
    /// Guards order: a request or removal with a smaller one arrives too late. At least 0.
    public var version: Int64?
    /// What is shown.
    public var content: NotificationContent
    /// When; `push` is now.
    public var trigger: NotificationTrigger
    /// Not to be delivered from this instant on.
    public var expiration: Timestamp?
    /// Seconds to wait for a newer one before it is sent, 0 to ``ModelLimits/collapseWindow``.
    public var collapseWindow: Double?

    /// A request.
    public init(
        requestID: RequestID? = nil,
        key: NotificationKey,
        version: Int64? = nil,
        content: NotificationContent,
        trigger: NotificationTrigger = .push,
        expiration: Timestamp? = nil,
        collapseWindow: Double? = nil
    ) {
        self.requestID = requestID
        self.key = key
        self.version = version
        self.content = content
        self.trigger = trigger
        self.expiration = expiration
        self.collapseWindow = collapseWindow
    }
}

/// Which of the two sets a removal empties.
public enum RemovalScope: String, CaseIterable, Hashable, Sendable, Codable {
    /// What is scheduled and not sent.
    case pending
    /// What was sent.
    case delivered
    /// Both.
    case all
}

/// A request to cancel or recall.
public struct NotificationRemoval: Hashable, Sendable {
    /// The request's id; nil until the publisher gives it one.
    public var requestID: RequestID?
    /// Whose notification, and which; an empty identifier means all of the recipient's.
    public var key: NotificationKey
    /// Guards order, as ``NotificationRequest/version``.
    public var version: Int64?
    /// What is removed.
    public var scope: RemovalScope

    /// A removal.
    public init(requestID: RequestID? = nil, key: NotificationKey, version: Int64? = nil, scope: RemovalScope) {
        self.requestID = requestID
        self.key = key
        self.version = version
        self.scope = scope
    }
}
