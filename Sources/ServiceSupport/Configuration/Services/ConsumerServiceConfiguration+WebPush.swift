import NotificationModel
import OutboundHTTP

extension ConsumerServiceConfiguration {
    /// The channel `webpush`.
    public struct WebPush: Sendable, Hashable {
        /// The file of applications, with their keys.
        public var applicationsFile = ""
        /// Origins of push services inside the network: neither their hosts nor their addresses are judged.
        public var internalOrigins: [String] = []
        /// The most connections, half of them to one host.
        public var connections = 128
        /// The most messages that wait for a connection.
        public var waiting = 10_000
        /// How long a message may take with its connection and answer.
        public var timeout: Duration = .seconds(10)
    }

    /// Reads `webpush.*`.
    mutating func readWebPush(_ settings: inout ServiceSettings, _ defaults: WebPush) {
        let file = settings.optionalString(
            "webpush.applications.file",
            about: """
                The file of the applications whose browsers are reached: the keys that sign for them (VAPID), and the \
                pages that a notification opens. Read again on SIGHUP.
                """
        )
        webPush.internalOrigins = settings.list(
            "webpush.internal-origins",
            default: defaults.internalOrigins,
            about: """
                Push services inside your network, such as `https://push.internal:8443`: neither the host nor its \
                addresses are judged. All others must be public, with `https` on port 443 unless `egress.origins` has them.
                """
        )
        webPush.connections = settings.int(
            "webpush.connections",
            default: defaults.connections,
            in: 2...10_000,
            about: "The most connections to push services, half of them to one host; each has one message at a time."
        )
        webPush.waiting = settings.int(
            "webpush.waiting",
            default: defaults.waiting,
            in: 1...1_000_000,
            about: "The most messages that wait for a connection; further ones are tried again later."
        )
        webPush.timeout = settings.duration(
            "webpush.timeout",
            default: defaults.timeout,
            in: .milliseconds(100) ... .seconds(599),
            about: """
                How long a message may take with its connection and answer, before it is tried again; less than \
                `consumer.send.timeout`.
                """
        )
        webPush.applicationsFile = file ?? ""
        do throws(EgressPolicyError) {
            _ = try EgressPolicy(internalOrigins: webPush.internalOrigins)
        } catch {
            settings.reject("webpush.internal-origins", "\(error.entry): \(error.message)")
        }
        guard channels.contains(.webpush) else { return }
        if file == nil {
            settings.reject(
                "webpush.applications.file",
                "is required by the channel `webpush`: a file with the keys of your applications"
            )
        }
        if webPush.timeout >= sendTimeout {
            settings.reject("webpush.timeout", "must be less than consumer.send.timeout")
        }
    }

    /// The channel `devices` reaches at least one platform.
    func checkDevices(_ settings: inout ServiceSettings) {
        guard channels.contains(.devices), channels.allSatisfy({ $0.platform == nil }) else { return }
        settings.reject(
            "apns.applications.file",
            "is required by the channel `devices`, or `fcm.applications.file`, or `webpush.applications.file`: a file with "
                + "your apps and their keys"
        )
    }
}
