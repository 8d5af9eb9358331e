package import NotificationModel

/// The value of `apns-push-type`: what a push is for, which decides its topic, token, priority and size.
package enum APNsPushType: String, CaseIterable, Hashable, Sendable {
    /// Shows, plays or badges something.
    case alert
    /// Wakes the app without telling the person.
    case background
    /// Updates a complication.
    case complication
    /// Reloads a control.
    case controls
    /// Signals changes to a file provider.
    case fileprovider
    /// Starts, updates or ends a Live Activity.
    case liveactivity
    /// Asks for the device's location.
    case location
    /// Contacts a managed device.
    case mdm
    /// Wakes a Push to Talk app.
    case pushtotalk
    /// Announces a call.
    case voip
    /// Reloads widgets.
    case widgets

    /// What follows the bundle identifier in `apns-topic`. APNs answers a wrong one with 200 and delivers nothing.
    package var topicSuffix: String {
        switch self {
        case .alert, .background, .mdm: ""
        case .complication: ".complication"
        case .controls: ".push-type.controls"
        case .fileprovider: ".pushkit.fileprovider"
        case .liveactivity: ".push-type.liveactivity"
        case .location: ".location-query"
        case .pushtotalk: ".voip-ptt"
        case .voip: ".voip"
        case .widgets: ".push-type.widgets"
        }
    }

    /// The value of `apns-topic`.
    ///
    /// - Parameter bundle: the app's bundle identifier; of `mdm` the UID of the certificate's subject, which is the topic.
    package func topic(of bundle: String) -> String { bundle + topicSuffix }

    /// The priority of a push that is not urgent: without the header it would be 10, which is an error in the background.
    package var defaultPriority: APNsPriority {
        switch self {
        case .background, .liveactivity: .saving
        case .alert, .complication, .controls, .fileprovider, .location, .mdm, .pushtotalk, .voip, .widgets: .immediate
        }
    }

    /// The longest payload in bytes.
    package var maximumPayloadBytes: Int { self == .voip ? 5120 : APNsCoherence.payloadBytes }

    /// The token that it is sent to; one of another kind is refused as `DeviceTokenNotForTopic`.
    package var tokenKind: TokenKind {
        switch self {
        case .alert, .background: .device
        case .complication: .complication
        case .controls: .control
        case .fileprovider: .fileProvider
        case .liveactivity: .liveActivity
        case .location: .location
        case .mdm: .mdm
        case .pushtotalk: .pushToTalk
        case .voip: .voip
        case .widgets: .widget
        }
    }

    /// Whether APNs takes it from a provider with a certificate.
    package var allowsCertificate: Bool { self != .location }
}

/// The value of `apns-priority`.
package enum APNsPriority: Int, CaseIterable, Hashable, Sendable {
    /// Never wakes the device.
    case lowest = 1
    /// When it suits the device's battery.
    case saving = 5
    /// At once.
    case immediate = 10
}
