public import NotificationModel

extension ConsumerServiceConfiguration {
    /// The channel `apns`.
    public struct APNs: Sendable, Hashable {
        /// The file of applications, with their bundle identifiers and keys.
        public var applicationsFile = ""
        /// The servers of apps from a store: Apple's, or a simulator.
        public var productionURL = "https://api.push.apple.com"
        /// The servers of apps from a developer's machine.
        public var developmentURL = "https://api.sandbox.push.apple.com"
        /// The servers are inside the network: their addresses are not judged.
        public var isInternal = false
        /// The most connections for each credentials and environment.
        public var connections = 4
        /// The most pushes of one priority that wait for a stream, for each of these.
        public var waiting = 10_000
        /// How long a push may take with its connection and answer.
        public var timeout: Duration = .seconds(10)

        /// The servers that know a token.
        public func url(of environment: DeviceRegistration.Environment) -> String {
            switch environment {
            case .production: productionURL
            case .development: developmentURL
            }
        }
    }

    /// Reads `apns.*`.
    mutating func readAPNs(_ settings: inout ServiceSettings, _ defaults: APNs) {
        let file = settings.optionalString(
            "apns.applications.file",
            about: """
                The file of the applications whose Apple devices are reached: their bundle identifiers, and the keys or \
                certificates for their pushes. Read again on SIGHUP.
                """
        )
        apns.productionURL = settings.string(
            "apns.production.url",
            default: defaults.productionURL,
            about: "The servers of apps from a store: Apple's, or a simulator."
        )
        apns.developmentURL = settings.string(
            "apns.development.url",
            default: defaults.developmentURL,
            about: "The servers of apps from a developer's machine: Apple's, or a simulator."
        )
        apns.isInternal = settings.bool(
            "apns.internal",
            default: defaults.isInternal,
            about: "Whether these servers are inside your network: neither their hosts nor their addresses are judged."
        )
        apns.connections = settings.int(
            "apns.connections",
            default: defaults.connections,
            in: 1...1000,
            about: "The most connections to APNs for each key or certificate and environment."
        )
        apns.waiting = settings.int(
            "apns.waiting",
            default: defaults.waiting,
            in: 1...1_000_000,
            about: """
                The most pushes of one priority that wait for a stream, for each of these; further ones are tried again \
                later.
                """
        )
        apns.timeout = settings.duration(
            "apns.timeout",
            default: defaults.timeout,
            in: .milliseconds(100) ... .seconds(599),
            about: """
                How long a push may take with its connection and answer, before it is tried again under the same id; less \
                than `consumer.send.timeout`.
                """
        )
        apns.applicationsFile = file ?? ""
        guard channels.contains(.apns) else { return }
        if file == nil {
            settings.reject(
                "apns.applications.file",
                "is required by the channel `apns`: a file with the bundle identifiers and keys of your apps"
            )
        }
        if apns.timeout >= sendTimeout {
            settings.reject("apns.timeout", "must be less than consumer.send.timeout")
        }
    }
}
