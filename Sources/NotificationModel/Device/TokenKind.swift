/// Which of an app's tokens a registration is of. Each has a life of its own, and takes only the pushes that it is for.
public enum TokenKind: String, CaseIterable, Hashable, Sendable {
    /// The ordinary token, for alerts and pushes in the background: what a registration that names no kind is of. Only devices of this
    /// kind get notifications that are no Live Activities.
    case device
    /// Of a broadcast channel, whose id it is: one push reaches all Live Activities that subscribe.
    case broadcastChannel
    /// Of a complication.
    case complication
    /// Of a control's configuration.
    case control
    /// Of a file provider.
    case fileProvider
    /// Of one Live Activity, which dies with it.
    case liveActivity
    /// To start the Live Activities of one type.
    case liveActivityStart
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

    /// Whether what is sent to it starts, updates or ends Live Activities.
    package var isOfLiveActivities: Bool {
        switch self {
        case .broadcastChannel, .liveActivity, .liveActivityStart: true
        case .device, .complication, .control, .fileProvider, .location, .mdm, .pushToTalk, .voip, .widget: false
        }
    }
}
