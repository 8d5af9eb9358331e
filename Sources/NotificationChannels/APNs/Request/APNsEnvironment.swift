package import NotificationModel

extension DeviceRegistration.Environment {
    /// The host of APNs that knows the tokens; port 443.
    package var apnsHost: String {
        switch self {
        case .production: "api.push.apple.com"
        case .development: "api.sandbox.push.apple.com"
        }
    }

    /// The one that knows the tokens that this one does not.
    package var other: DeviceRegistration.Environment { self == .production ? .development : .production }
}
