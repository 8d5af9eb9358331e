/// What a person did with a notification: the value of a `carillon.signal.response.v1` record.
public struct ResponseSignal: Sendable, Hashable {
    /// The action of a tap on the notification itself.
    public static let defaultAction = "default"
    /// The action of dismissing the notification.
    public static let dismissAction = "dismiss"

    /// The application; nil for the service's default one.
    public var application: String?
    /// The notification.
    public var identifier: String
    /// The request that the person saw.
    public var requestID: RequestID
    /// The response: one that comes again has the same id.
    public var responseID: RequestID
    /// The device, when the gateway tells it.
    public var device: String?
    /// The action, 1 to 256 bytes: ``defaultAction``, ``dismissAction`` or one of the notification's category.
    public var actionIdentifier: String
    /// What the person typed, at most 8 KiB, for an action with text input; empty when nothing was typed.
    public var userText: String?

    /// A response.
    public init(
        application: String? = nil,
        identifier: String,
        requestID: RequestID,
        responseID: RequestID,
        device: String? = nil,
        actionIdentifier: String,
        userText: String? = nil
    ) {
        (self.application, self.identifier, self.device) = (application, identifier, device)
        (self.requestID, self.responseID) = (requestID, responseID)
        (self.actionIdentifier, self.userText) = (actionIdentifier, userText)
    }
}

extension ResponseSignal: SignalValue {
    static let fields: [SignalMembers.Field] = [
        .application, .identifier, .requestID, .responseID, .device, .actionIdentifier, .userText,
    ]

    init(_ members: SignalMembers) throws(ModelError) {
        application = members.application
        identifier = try SignalMembers.required(members.identifier, .identifier)
        requestID = try SignalMembers.required(members.requestID, .requestID)
        responseID = try SignalMembers.required(members.responseID, .responseID)
        device = members.device
        actionIdentifier = try SignalMembers.required(members.actionIdentifier, .actionIdentifier)
        userText = members.userText
    }

    var members: SignalMembers {
        var members = SignalMembers(
            application: application,
            identifier: identifier,
            requestID: requestID,
            device: device
        )
        (members.responseID, members.actionIdentifier, members.userText) = (responseID, actionIdentifier, userText)
        return members
    }
}
