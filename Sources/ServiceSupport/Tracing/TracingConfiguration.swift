import NIOSSL
import NotificationModel
import OutboundHTTP
import ServiceHTTP

/// Where spans are sent, and of how many traces.
///
/// ## Settings
/// - `tracing.endpoint` (text): the URL of a collector for OTLP/HTTP; without it nothing is traced.
/// - `tracing.ratio` (number, 0 to 1, default 0.01): of the traces that begin here.
/// - `tracing.headers.file` (text): a file of header fields.
/// - `tracing.ca.file` (text): a PEM file of authorities that are trusted besides those of the system.
struct TracingConfiguration: Sendable {
    /// What the collector is asked with; nil where nothing is traced.
    struct Collector: Sendable {
        /// The URL, with its path.
        var url: EgressURL
        var policy: EgressPolicy
        /// Of the file when the service started, with secrets.
        var fields: [(String, String)] = []
        /// The file with secrets, if there is one.
        var headersFile: String?
        /// Authorities that are trusted besides those of the system.
        var authoritiesFile: String?

        func authorities() throws(OutboundTLS.AuthoritiesError) -> [NIOSSLCertificate] {
            try authoritiesFile.map { path throws(OutboundTLS.AuthoritiesError) in
                try OutboundTLS.authorities(path: path)
            } ?? []
        }
    }

    var collector: Collector?
    /// From 0 to 1.
    var ratio = 0.01

    /// Reads the settings. Problems are recorded in `settings`.
    init(settings: inout ServiceSettings) {
        let endpoint = settings.optionalString(
            "tracing.endpoint",
            about: """
                The collector that gets the spans of traces by OTLP/HTTP, such as `http://127.0.0.1:4318`; without a path \
                `/v1/traces` is added. Without it nothing is traced.
                """
        )
        ratio = settings.ratio(
            "tracing.ratio",
            default: ratio,
            about: """
                The share of traces that are sampled among those that begin in Carillon. Where the caller has a trace, its \
                flag decides.
                """
        )
        let file = settings.optionalString(
            "tracing.headers.file",
            about: """
                A file of header fields for the collector, one `name: value` per line, such as its token. Read again on \
                SIGHUP.
                """
        )
        let authorities = settings.optionalString(
            "tracing.ca.file",
            about:
                "A PEM file of certificate authorities that are trusted for the collector besides those of the system."
        )
        guard let endpoint else { return }
        do throws(EgressRefusal) {
            collector = try Self.collector(endpoint)
        } catch {
            settings.reject("tracing.endpoint", error.detail)
            return
        }
        collector?.authoritiesFile = authorities
        do throws(OutboundTLS.AuthoritiesError) {
            _ = try collector?.authorities()
        } catch {
            settings.reject("tracing.ca.file", "\(error)")
        }
        guard let file else { return }
        collector?.headersFile = file
        do throws(SecretFile.Problem) {
            collector?.fields = try Self.fields(path: file)
        } catch {
            settings.reject("tracing.headers.file", "\(file) \(error.text)")
        }
    }

    /// - Parameter text: whoever sets it decides where spans go: neither the host nor its addresses are judged.
    private static func collector(_ text: String) throws(EgressRefusal) -> Collector {
        let policy = try EgressPolicy.inside(text)
        let url = try policy.check(text)
        guard url.target == "/" else { return Collector(url: url, policy: policy) }
        return Collector(url: try policy.check(url.origin + "/v1/traces"), policy: policy)
    }

    // MARK: - The file of headers

    /// A larger file is a mistake.
    private static let maximumBytes = 16 << 10
    /// Of the exporter itself.
    private static let reserved: Set = [
        "host", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "user-agent",
    ]

    /// Reads the file. Errors never quote a value.
    static func fields(path: String) throws(SecretFile.Problem) -> [(String, String)] {
        try fields(of: SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a file of header fields"))
    }

    /// Reads lines `name: value`; empty ones and those that begin with `#` are ignored. Errors never quote a value.
    static func fields(of text: String) throws(SecretFile.Problem) -> [(String, String)] {
        var fields: [(String, String)] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (index, line) in lines.enumerated() {
            guard !line.allSatisfy(\.isWhitespace), !line.hasPrefix("#") else { continue }
            guard let match = line.wholeMatch(of: /([A-Za-z0-9!#$%&'*+.^_`|~\-]+):[ \t]*([!-~](?:[ -~]*[!-~])?)[ \t]*/)
            else {
                throw SecretFile.Problem(text: "has a line, number \(index + 1), that is not `name: value` in ASCII")
            }
            let name = match.1.lowercased()
            guard !reserved.contains(name) else {
                let why = "with \(name), which Carillon sets itself"
                throw SecretFile.Problem(text: "has a line, number \(index + 1), \(why)")
            }
            fields.append((name, String(match.2)))
        }
        return fields
    }
}
