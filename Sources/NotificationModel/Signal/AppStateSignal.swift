/// Where an app is on a device: the value of a `carillon.signal.app-state.v1` record.
public struct AppStateSignal: Sendable, Hashable {
    /// Whether the person sees the app.
    public enum State: String, CaseIterable, Sendable, Hashable {
        /// On the screen: the app's policy decides how a notification is presented.
        case foreground
        /// Not on the screen.
        case background
    }

    /// The application; nil for the service's default one.
    public var application: String?
    /// The device.
    public var device: String
    /// The state since ``at``.
    public var state: State
    /// The number that the app's icon shows now, 0 to ``ModelLimits/badge``; nil when the app does not tell it.
    public var badge: Int64?
    /// When the state changed, by the device's clock.
    public var at: Timestamp?

    /// A state.
    public init(
        application: String? = nil,
        device: String,
        state: State,
        badge: Int64? = nil,
        at: Timestamp? = nil
    ) {
        (self.application, self.device) = (application, device)
        (self.state, self.badge, self.at) = (state, badge, at)
    }
}

extension AppStateSignal: SignalValue {
    static let fields: [SignalMembers.Field] = [.application, .device, .state, .badge, .at]

    init(_ members: SignalMembers) throws(ModelError) {
        application = members.application
        device = try SignalMembers.required(members.device, .device)
        state = try SignalMembers.required(members.state, .state)
        (badge, at) = (members.badge, members.at)
    }

    var members: SignalMembers {
        var members = SignalMembers(application: application, device: device)
        (members.state, members.badge, members.at) = (state, badge, at)
        return members
    }
}
