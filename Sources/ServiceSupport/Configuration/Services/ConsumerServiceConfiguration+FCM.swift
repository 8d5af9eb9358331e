import NotificationModel

extension ConsumerServiceConfiguration {
    /// The channel `fcm`.
    public struct FCM: Sendable, Hashable {
        /// The file of applications, with their package names and service accounts.
        public var applicationsFile = ""
        /// The servers: Google's, or a simulator.
        public var url = "https://fcm.googleapis.com"
        /// The servers are inside the network: their addresses are not judged.
        public var isInternal = false
        /// The most connections for each project, with 100 messages at one time each.
        public var connections = 8
        /// The most messages of a project in a second.
        public var rate = 10_000
        /// The most messages of a project that wait for their turn, and of one priority that wait for a stream.
        public var waiting = 10_000
        /// How long a message may take with its connection and answer.
        public var timeout: Duration = .seconds(10)
    }

    /// Reads `fcm.*`.
    mutating func readFCM(_ settings: inout ServiceSettings, _ defaults: FCM) {
        let file = settings.optionalString(
            "fcm.applications.file",
            about: """
                The file of the applications whose Android devices are reached: their package names, and the service \
                accounts of their Firebase projects. Read again on SIGHUP.
                """
        )
        fcm.url = settings.string(
            "fcm.url",
            default: defaults.url,
            about: "The servers of Firebase Cloud Messaging: Google's, or a simulator."
        )
        fcm.isInternal = settings.bool(
            "fcm.internal",
            default: defaults.isInternal,
            about: """
                Whether these servers, and those that the service accounts name, are inside your network: neither their \
                hosts nor their addresses are judged.
                """
        )
        fcm.connections = settings.int(
            "fcm.connections",
            default: defaults.connections,
            in: 1...1000,
            about: "The most connections to FCM for each project; each has up to 100 messages at one time."
        )
        fcm.rate = settings.int(
            "fcm.rate",
            default: defaults.rate,
            in: 1...1_000_000,
            about: """
                The most messages of a project in a second, which is its quota; divide it by the instances of the \
                service. The others wait, time-sensitive before active before passive ones.
                """
        )
        fcm.waiting = settings.int(
            "fcm.waiting",
            default: defaults.waiting,
            in: 1...1_000_000,
            about: """
                The most messages of a project that wait for their turn, and of one priority that wait for a stream; \
                further ones are tried again later.
                """
        )
        fcm.timeout = settings.duration(
            "fcm.timeout",
            default: defaults.timeout,
            in: .milliseconds(100) ... .seconds(599),
            about: """
                How long a message may take with its connection and answer, before it is tried again under the same id; \
                less than half of `consumer.send.timeout`, since it may wait for its turn as well.
                """
        )
        fcm.applicationsFile = file ?? ""
        guard channels.contains(.fcm) else { return }
        if file == nil {
            settings.reject(
                "fcm.applications.file",
                "is required by the channel `fcm`: a file with the package names and service accounts of your apps"
            )
        }
        if fcm.timeout * 2 >= sendTimeout {
            settings.reject("fcm.timeout", "must be less than half of consumer.send.timeout")
        }
    }
}
