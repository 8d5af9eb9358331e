import Foundation
import NotificationModel
import OutboundHTTP
import ServiceHTTP

extension ConsumerServiceConfiguration {
    /// The channel `webhook`.
    public struct Webhook: Sendable {
        /// Where notifications are posted; checked.
        public var url = ""
        /// Whether plain HTTP may leave this machine.
        public var allowsPlainHTTP = false
        /// Whether the endpoint is inside the network: neither its host nor its addresses are judged.
        public var isInternal = false
        /// The file of the signing keys.
        public var keysFile = ""
        /// From the begin of a request to the end of its answer.
        public var timeout = Duration.seconds(15)
        /// For a new connection, with its TLS handshake.
        public var connectTimeout = Duration.seconds(5)
        /// How long an idle connection is kept.
        public var idleTimeout = Duration.seconds(30)
        /// Connections of the process, and so requests at one time.
        public var connections = 64
        /// Bytes read of an answer's body.
        public var answerBytes = 64 * 1024
        /// Failures in a row that open the circuit breaker.
        public var breakerFailures = 20
        /// How long it stays open the first time; twice as long after each failed probe.
        public var breakerFirstPause = Duration.seconds(5)
        /// The longest of them.
        public var breakerLongestPause = Duration.seconds(60)
    }

    mutating func readWebhook(_ settings: inout ServiceSettings, _ defaults: Webhook) {
        let url = settings.optionalString(
            "webhook.url",
            about: """
                Where the channel `webhook` posts notifications: an `https` URL without user info and fragment. \
                Redirects are not followed.
                """
        )
        webhook.allowsPlainHTTP = settings.bool(
            "webhook.plain-http",
            default: defaults.allowsPlainHTTP,
            about: "Allows an `http` URL to another machine: its content can be read on the way."
        )
        webhook.isInternal = settings.bool(
            "webhook.internal",
            default: defaults.isInternal,
            about: "Whether the endpoint is inside your network: neither its host nor its addresses are judged."
        )
        let keysFile = settings.optionalString(
            "webhook.keys.file",
            about: """
                The file of the keys that sign requests, one `whsec_` key per line: the current one, and during a \
                rotation a second one.
                """
        )
        webhook.timeout = settings.duration(
            "webhook.timeout",
            default: defaults.timeout,
            in: .milliseconds(10) ... .seconds(599),
            about: "How long a request may take with its connection and answer; less than `consumer.send.timeout`."
        )
        webhook.connectTimeout = settings.duration(
            "webhook.connect.timeout",
            default: defaults.connectTimeout,
            in: .milliseconds(10) ... .seconds(599),
            about: "How long a new connection may take, with its TLS handshake."
        )
        webhook.idleTimeout = settings.duration(
            "webhook.idle.timeout",
            default: defaults.idleTimeout,
            in: .milliseconds(10) ... .seconds(3600),
            about: "How long an idle connection is kept for the next request."
        )
        webhook.connections = settings.int(
            "webhook.connections",
            default: defaults.connections,
            in: 1...10_000,
            about: "Connections of the process, and so requests at one time; the lanes share them equally."
        )
        webhook.answerBytes = settings.int(
            "webhook.answer.bytes",
            default: defaults.answerBytes,
            in: 0...(16 << 20),
            about: """
                Bytes read of an answer's body, which has no effect; the connection of a longer answer is closed.
                """
        )
        webhook.breakerFailures = settings.int(
            "webhook.breaker.failures",
            default: defaults.breakerFailures,
            in: 1...1_000_000,
            about: """
                Temporary failures in a row after which the endpoint gets no requests for a pause, and then one \
                that tests it.
                """
        )
        webhook.breakerFirstPause = settings.duration(
            "webhook.breaker.first-pause",
            default: defaults.breakerFirstPause,
            in: .milliseconds(10) ... .seconds(3600),
            about: "That pause; twice as long after each failed test. Jitter lengthens it by up to a quarter."
        )
        webhook.breakerLongestPause = settings.duration(
            "webhook.breaker.longest-pause",
            default: defaults.breakerLongestPause,
            in: .milliseconds(10) ... .seconds(3600),
            about: "The longest of these pauses, unless the endpoint requests a longer one with `Retry-After`."
        )
        webhook.url = url ?? ""
        webhook.keysFile = keysFile ?? ""
        if channels.contains(.webhook) { checkWebhook(&settings, url, keysFile) }
    }

    private func checkWebhook(_ settings: inout ServiceSettings, _ url: String?, _ keysFile: String?) {
        if let url {
            if let problem = webhook.problem(ofURL: url) ?? refusal(ofURL: url) {
                settings.reject("webhook.url", problem)
            }
        } else {
            settings.reject("webhook.url", "is required by the channel `webhook`: an https URL")
        }
        if keysFile == nil {
            settings.reject(
                "webhook.keys.file",
                "is required by the channel `webhook`: a file with a key, such as the output of "
                    + "`echo whsec_$(openssl rand -base64 32)`"
            )
        }
        if webhook.timeout >= sendTimeout {
            settings.reject("webhook.timeout", "must be less than consumer.send.timeout")
        }
    }

    /// Why `egress.*` refuses the endpoint, and what to do.
    private func refusal(ofURL url: String) -> String? {
        // What is wrong with `egress.*` itself was reported there.
        guard let policy = try? egress.policy() else { return nil }
        do throws(EgressRefusal) {
            _ = try webhook.isInternal ? EgressPolicy.inside(url).check(url) : policy.check(url)
            return nil
        } catch {
            let inside = "set `webhook.internal: true`"
            switch error.code {
            case .urlMalformed: return error.detail
            case .schemeRefused, .portRefused:
                return "\(error.detail), or add the origin to `egress.origins`; if it is inside your network, \(inside)"
            case .addressRefused, .hostRefused:
                return "\(error.detail); if it is inside your network, \(inside)"
            }
        }
    }
}

extension ConsumerServiceConfiguration.Webhook {
    private static let longestURL = 2048
    /// Around an address of IPv6.
    private static let brackets = CharacterSet(charactersIn: "[]")

    /// What is wrong with a URL; never contains the URL, which may have a password or a token in it.
    func problem(ofURL text: String) -> String? {
        guard text.utf8.count <= Self.longestURL else { return "must have at most \(Self.longestURL) bytes" }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: text, encodingInvalidCharacters: false),
            let host = parts.host, !host.isEmpty, let scheme = parts.scheme?.lowercased()
        else { return "is not an absolute URL in ASCII" }
        guard scheme == "https" || scheme == "http" else { return "must begin with https://" }
        guard parts.user == nil, parts.password == nil else {
            return "must not contain a user or password; requests are signed"
        }
        guard parts.fragment == nil else { return "must not contain a fragment" }
        if let port = parts.port, !(1...65535).contains(port) { return "has an invalid port" }
        if scheme == "http", !allowsPlainHTTP, !ListenerSecurity.isLoopback(host.trimmingCharacters(in: Self.brackets))
        {
            return "must begin with https://; allow http to another machine with `webhook.plain-http: true`"
        }
        return nil
    }
}
