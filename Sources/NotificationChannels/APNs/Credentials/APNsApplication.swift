package import NotificationModel

/// How notifications of one application reach its users' Apple devices.
package struct APNsApplication: Sendable {
    /// Bundle identifiers of its apps; the first one is that of registrations that name none.
    package var bundles: [String]
    /// By environment: at least one.
    package var credentials: [DeviceRegistration.Environment: APNsCredentials]
    /// What becomes of a notification whose payload is too large.
    package var oversize: OversizePolicy
    /// What is done about a notification that a device shows and that was removed.
    package var removal: APNsRemovalPolicy

    /// The topic's app for a device.
    ///
    /// - Parameter bundle: of its registration.
    /// - Returns: Nil for an app of somebody else.
    package func bundle(_ bundle: String?) -> String? {
        guard let bundle else { return bundles.first }
        return bundles.first { $0.hasSameUTF8(as: bundle) }
    }
}

/// The applications of the service, with their credentials. A value that is read once, and again after SIGHUP.
package struct APNsApplications: Sendable {
    /// By the name in keys of notifications.
    let byName: [ExactText: APNsApplication]

    init(_ byName: [ExactText: APNsApplication] = [:]) { self.byName = byName }

    package var count: Int { byName.count }

    /// All credentials, each once.
    package var credentials: [APNsCredentials] {
        var all: [APNsCredentials] = []
        for (_, application) in byName.sorted(by: { $0.key < $1.key }) {
            for environment in DeviceRegistration.Environment.allCases {
                guard let found = application.credentials[environment] else { continue }
                if !all.contains(where: { $0.isSame(as: found) }) { all.append(found) }
            }
        }
        return all
    }

    /// - Parameter name: as in keys of notifications.
    package subscript(name: String) -> APNsApplication? { byName[ExactText(name)] }
}

/// What is done about a notification that a device shows and that was removed: APNs itself cannot remove it.
package enum APNsRemovalPolicy: Hashable, Sendable {
    /// A push in the background asks the app to remove it.
    case ask
    /// A silent notification with this text takes its place.
    case overwrite(text: String)
}
