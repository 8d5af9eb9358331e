import OutboundHTTP
package import ServiceSupport

/// The channel `webpush`.
package struct WebPushConfiguration: Sendable, Hashable {
    /// The file of applications, with their keys.
    package var applicationsFile = ""
    /// Origins of push services inside the network: neither their hosts nor their addresses are judged.
    package var internalOrigins: [String] = []
    /// The most connections, half of them to one host.
    package var connections = 128
    /// The most messages that wait for a connection.
    package var waiting = 10_000
    /// How long a message may take with its connection and answer.
    package var timeout: Duration = .seconds(10)

    package init() {}

    /// Reads `webpush.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        applicationsFile =
            settings.optionalString(
                "webpush.applications.file",
                about: """
                    The file of the applications whose browsers are reached: the keys that sign for them (VAPID), and the \
                    pages that a notification opens. Read again on SIGHUP.
                    """
            ) ?? ""
        internalOrigins = settings.list(
            "webpush.internal-origins",
            default: internalOrigins,
            about: """
                Push services inside your network, such as `https://push.internal:8443`: neither the host nor its \
                addresses are judged. All others must be public, with `https` on port 443 unless `egress.origins` has them.
                """
        )
        connections = settings.int(
            "webpush.connections",
            default: connections,
            in: 2...10_000,
            about: "The most connections to push services, half of them to one host; each has one message at a time."
        )
        waiting = settings.int(
            "webpush.waiting",
            default: waiting,
            in: 1...1_000_000,
            about: "The most messages that wait for a connection; further ones are tried again later."
        )
        timeout = settings.duration(
            "webpush.timeout",
            default: timeout,
            in: .milliseconds(100) ... .seconds(599),
            about: """
                How long a message may take with its connection and answer, before it is tried again; less than \
                `consumer.send.timeout`.
                """
        )
        do throws(EgressPolicyError) {
            _ = try EgressPolicy(internalOrigins: internalOrigins)
        } catch {
            settings.reject("webpush.internal-origins", "\(error.entry): \(error.message)")
        }
    }
}
