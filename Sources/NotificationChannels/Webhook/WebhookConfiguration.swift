import Foundation
import OutboundHTTP
import ServiceHTTP
package import ServiceSupport

/// The channel `webhook`.
package struct WebhookConfiguration: Sendable {
    /// Where notifications are posted; checked.
    package var url = ""
    /// Whether plain HTTP may leave this machine.
    package var allowsPlainHTTP = false
    /// Whether the endpoint is inside the network: neither its host nor its addresses are judged.
    package var isInternal = false
    /// The file of the signing keys.
    package var keysFile = ""
    /// From the begin of a request to the end of its answer.
    package var timeout = Duration.seconds(15)
    /// For a new connection, with its TLS handshake.
    package var connectTimeout = Duration.seconds(5)
    /// How long an idle connection is kept.
    package var idleTimeout = Duration.seconds(30)
    /// Connections of the process, and so requests at one time.
    package var connections = 64
    /// Bytes read of an answer's body.
    package var answerBytes = 64 * 1024
    /// Failures in a row that open the circuit breaker.
    package var breakerFailures = 20
    /// How long it stays open the first time; twice as long after each failed probe.
    package var breakerFirstPause = Duration.seconds(5)
    /// The longest of them.
    package var breakerLongestPause = Duration.seconds(60)

    package init() {}

    /// Reads `webhook.*`. Problems are recorded in `settings`.
    package init(settings: inout ServiceSettings) {
        url =
            settings.optionalString(
                "webhook.url",
                about: """
                    Where the channel `webhook` posts notifications: an `https` URL without user info and fragment. \
                    Redirects are not followed.
                    """
            ) ?? ""
        allowsPlainHTTP = settings.bool(
            "webhook.plain-http",
            default: allowsPlainHTTP,
            about: "Allows an `http` URL to another machine: its content can be read on the way."
        )
        isInternal = settings.bool(
            "webhook.internal",
            default: isInternal,
            about: "Whether the endpoint is inside your network: neither its host nor its addresses are judged."
        )
        keysFile =
            settings.optionalString(
                "webhook.keys.file",
                about: """
                    The file of the keys that sign requests, one `whsec_` key per line: the current one, and during a \
                    rotation a second one.
                    """
            ) ?? ""
        timeout = settings.duration(
            "webhook.timeout",
            default: timeout,
            in: .milliseconds(10) ... .seconds(599),
            about: "How long a request may take with its connection and answer; less than `consumer.send.timeout`."
        )
        connectTimeout = settings.duration(
            "webhook.connect.timeout",
            default: connectTimeout,
            in: .milliseconds(10) ... .seconds(599),
            about: "How long a new connection may take, with its TLS handshake."
        )
        idleTimeout = settings.duration(
            "webhook.idle.timeout",
            default: idleTimeout,
            in: .milliseconds(10) ... .seconds(3600),
            about: "How long an idle connection is kept for the next request."
        )
        connections = settings.int(
            "webhook.connections",
            default: connections,
            in: 1...10_000,
            about: "Connections of the process, and so requests at one time; the lanes share them equally."
        )
        answerBytes = settings.int(
            "webhook.answer.bytes",
            default: answerBytes,
            in: 0...(16 << 20),
            about: """
                Bytes read of an answer's body, which has no effect; the connection of a longer answer is closed.
                """
        )
        breakerFailures = settings.int(
            "webhook.breaker.failures",
            default: breakerFailures,
            in: 1...1_000_000,
            about: """
                Temporary failures in a row after which the endpoint gets no requests for a pause, and then one \
                that tests it.
                """
        )
        breakerFirstPause = settings.duration(
            "webhook.breaker.first-pause",
            default: breakerFirstPause,
            in: .milliseconds(10) ... .seconds(3600),
            about: "That pause; twice as long after each failed test. Jitter lengthens it by up to a quarter."
        )
        breakerLongestPause = settings.duration(
            "webhook.breaker.longest-pause",
            default: breakerLongestPause,
            in: .milliseconds(10) ... .seconds(3600),
            about: "The longest of these pauses, unless the endpoint requests a longer one with `Retry-After`."
        )
    }

    /// Why the channel cannot have its URL; nil when it can. Never contains the URL, which may have a password or a token in it.
    ///
    /// - Parameter egress: Checked.
    package func problemOfURL(_ egress: EgressConfiguration) -> String? { problemOfForm ?? refusal(by: egress) }

    /// Why `egress.*` refuses the endpoint, and what to do.
    private func refusal(by egress: EgressConfiguration) -> String? {
        // What is wrong with `egress.*` itself was reported there.
        guard let policy = try? egress.policy() else { return nil }
        do throws(EgressRefusal) {
            _ = try isInternal ? EgressPolicy.inside(url).check(url) : policy.check(url)
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

    private static let longestURL = 2048
    /// Around an address of IPv6.
    private static let brackets = CharacterSet(charactersIn: "[]")

    private var problemOfForm: String? {
        guard url.utf8.count <= Self.longestURL else { return "must have at most \(Self.longestURL) bytes" }
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let parts = URLComponents(string: url, encodingInvalidCharacters: false),
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
