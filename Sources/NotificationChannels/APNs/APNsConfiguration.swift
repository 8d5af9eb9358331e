package import NotificationModel
package import ServiceSupport

/// The channel `apns`.
package struct APNsConfiguration: Sendable, Hashable {
    /// The file of applications, with their bundle identifiers and keys.
    package var applicationsFile = ""
    /// The servers of apps from a store: Apple's, or a simulator.
    package var productionURL = "https://api.push.apple.com"
    /// The servers of apps from a developer's machine.
    package var developmentURL = "https://api.sandbox.push.apple.com"
    /// The servers are inside the network: their addresses are not judged.
    package var isInternal = false
    /// The most connections for each credentials and environment.
    package var connections = 4
    /// The most pushes of one priority that wait for a stream, for each of these.
    package var waiting = 10_000
    /// How long a push may take with its connection and answer.
    package var timeout: Duration = .seconds(10)

    package init() {}

    /// The servers that know a token.
    package func url(of environment: DeviceRegistration.Environment) -> String {
        switch environment {
        case .production: productionURL
        case .development: developmentURL
        }
    }

    /// Reads `apns.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        applicationsFile =
            settings.optionalString(
                "apns.applications.file",
                about: """
                    The file of the applications whose Apple devices are reached: their bundle identifiers, and the keys or \
                    certificates for their pushes. Read again on SIGHUP.
                    """
            ) ?? ""
        productionURL = settings.string(
            "apns.production.url",
            default: productionURL,
            about: "The servers of apps from a store: Apple's, or a simulator."
        )
        developmentURL = settings.string(
            "apns.development.url",
            default: developmentURL,
            about: "The servers of apps from a developer's machine: Apple's, or a simulator."
        )
        isInternal = settings.bool(
            "apns.internal",
            default: isInternal,
            about: "Whether these servers are inside your network: neither their hosts nor their addresses are judged."
        )
        connections = settings.int(
            "apns.connections",
            default: connections,
            in: 1...1000,
            about: "The most connections to APNs for each key or certificate and environment."
        )
        waiting = settings.int(
            "apns.waiting",
            default: waiting,
            in: 1...1_000_000,
            about: """
                The most pushes of one priority that wait for a stream, for each of these; further ones are tried again \
                later.
                """
        )
        timeout = settings.duration(
            "apns.timeout",
            default: timeout,
            in: .milliseconds(100) ... .seconds(599),
            about: """
                How long a push may take with its connection and answer, before it is tried again under the same id; less \
                than `consumer.send.timeout`.
                """
        )
    }
}
