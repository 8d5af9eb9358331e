package import ServiceSupport

/// The channel `fcm`.
package struct FCMConfiguration: Sendable, Hashable {
    /// The file of applications, with their package names and service accounts.
    package var applicationsFile = ""
    /// The servers: Google's, or a simulator.
    package var url = "https://fcm.googleapis.com"
    /// The servers are inside the network: their addresses are not judged.
    package var isInternal = false
    /// The most connections for each project, with 100 messages at one time each.
    package var connections = 8
    /// The most messages of a project in a second.
    package var rate = 10_000
    /// The most messages of a project that wait for their turn, and of one priority that wait for a stream.
    package var waiting = 10_000
    /// How long a message may take with its connection and answer.
    package var timeout: Duration = .seconds(10)

    package init() {}

    /// Reads `fcm.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        applicationsFile =
            settings.optionalString(
                "fcm.applications.file",
                about: """
                    The file of the applications whose Android devices are reached: their package names, and the service \
                    accounts of their Firebase projects. Read again on SIGHUP.
                    """
            ) ?? ""
        url = settings.string(
            "fcm.url",
            default: url,
            about: "The servers of Firebase Cloud Messaging: Google's, or a simulator."
        )
        isInternal = settings.bool(
            "fcm.internal",
            default: isInternal,
            about: """
                Whether these servers, and those that the service accounts name, are inside your network: neither their \
                hosts nor their addresses are judged.
                """
        )
        connections = settings.int(
            "fcm.connections",
            default: connections,
            in: 1...1000,
            about: "The most connections to FCM for each project; each has up to 100 messages at one time."
        )
        rate = settings.int(
            "fcm.rate",
            default: rate,
            in: 1...1_000_000,
            about: """
                The most messages of a project in a second, which is its quota; divide it by the instances of the \
                service. The others wait, time-sensitive before active before passive ones.
                """
        )
        waiting = settings.int(
            "fcm.waiting",
            default: waiting,
            in: 1...1_000_000,
            about: """
                The most messages of a project that wait for their turn, and of one priority that wait for a stream; \
                further ones are tried again later.
                """
        )
        timeout = settings.duration(
            "fcm.timeout",
            default: timeout,
            in: .milliseconds(100) ... .seconds(599),
            about: """
                How long a message may take with its connection and answer, before it is tried again under the same id; \
                less than half of `consumer.send.timeout`, since it may wait for its turn as well.
                """
        )
    }
}
