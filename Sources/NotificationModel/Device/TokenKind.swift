/// Which of an app's tokens a registration is of. Each has a life of its own, and takes only the pushes that it is for.
public enum TokenKind: String, CaseIterable, Hashable, Sendable {
    /// The ordinary token, for alerts and pushes in the background: what a registration that names no kind is of. Only devices of this
    /// kind get notifications.
    case device
    /// Of a complication.
    case complication
    /// Of a control's configuration.
    case control
    /// Of a file provider.
    case fileProvider
    /// Of one Live Activity, which dies with it, or of one type of activities, to start them.
    case liveActivity
    /// To ask for the device's location.
    case location
    /// Of a managed device.
    case mdm
    /// Of a Push to Talk app.
    case pushToTalk
    /// To announce calls.
    case voip
    /// Of a widget's configuration.
    case widget
}
