/// The settings of a service's HTTP API: its address, who may call, and the bounds of calls and connections.
public struct HTTPConfiguration: Sendable {
    /// The address of the API.
    public var host = "127.0.0.1"
    /// The port of the API; 0 takes a free one.
    public var port: Int
    /// How long a complete call may take.
    public var deadline = Duration.seconds(10)
    /// The file of tokens and their roles; nil lets every client call that can connect.
    public var tokensFile: String?
    /// The file of the keys with which back ends sign recipient tokens; nil accepts none.
    public var recipientKeysFile: String?
    /// The PEM file of the certificate chain; nil for plain HTTP.
    public var tlsCertificate: String?
    /// The PEM file of the certificate's key.
    public var tlsKey: String?
    /// Bytes of a request's path and query.
    public var targetBytes = 256 << 10
    /// Bytes of the names and values of a request's header fields.
    public var headerBytes = 32 << 10
    /// Header fields of a request.
    public var headerCount = 100
    /// Bytes of bodies and unfinished heads of all calls at one time.
    public var callBytes = 256 << 20
    /// How long a request may take to arrive completely.
    public var receiveTimeout = Duration.seconds(10)
    /// Maximum number of concurrent connections.
    public var connections = 16_384
    /// How long a connection may be idle.
    public var idleTimeout = Duration.seconds(60)

    /// Its key with dots: `http.host`. Both services share the other settings, and never their address.
    package var hostKey: String { "\(prefix).host" }
    /// Before `.host` and `.port`.
    let prefix: String

    /// All settings at their defaults.
    ///
    /// - Parameters:
    ///   - prefix: Before `.host` and `.port`.
    ///   - port: The default port.
    package init(prefix: String, port: Int) {
        (self.prefix, self.port) = (prefix, port)
    }

    /// Reads the settings; `self` has the defaults.
    package mutating func read(_ settings: inout ServiceSettings) {
        host = settings.string(
            hostKey,
            default: host,
            about: "The address of the API. Without tokens only 127.0.0.0/8, `::1`, `localhost`; also as `Host`."
        )
        port = settings.int(
            "\(prefix).port",
            default: port,
            in: 0...65_535,
            about: "The port of the API; 0 takes a free one."
        )
        deadline = settings.duration(
            "http.deadline",
            default: deadline,
            in: .milliseconds(100) ... .seconds(300),
            about: """
                How long a complete call waits, for the broker or for the lane that it asks, before it is answered 503 \
                and its connection closes.
                """
        )
        readAccess(&settings)
        readBounds(&settings)
        connections = settings.int(
            "http.connections",
            default: connections,
            in: 1...1_000_000,
            about: """
                Maximum number of connections; further ones wait until one closes. Lowered when the process may not \
                open as many files.
                """
        )
        idleTimeout = settings.duration(
            "http.idle.timeout",
            default: idleTimeout,
            in: .seconds(1) ... .seconds(3_600),
            about: """
                Closes connections that are idle for this time, or whose client reads no response data.
                """
        )
    }

    private mutating func readAccess(_ settings: inout ServiceSettings) {
        tokensFile = settings.optionalString(
            "http.tokens.file",
            about: """
                Who may call, one `role[,role] [application[,application]] token` per line. Roles are `publish`, \
                `signal`, `query` and `admin` (everything); `*` is all applications, and a line without any is for \
                the default one; a token is 16 to 1,024 characters, or `sha256:` and the 64 hexadecimal digits of \
                its digest. Without it every client that can connect may call. Read again on SIGHUP.
                """
        )
        recipientKeysFile = settings.optionalString(
            "http.recipient-keys.file",
            about: """
                The keys with which back ends sign recipient tokens, one `application key-id algorithm key` per line; \
                the algorithm is `ES256` or `HS256`. Read again on SIGHUP.
                """
        )
        tlsCertificate = settings.optionalString(
            "http.tls.certificate",
            about: """
                The PEM file of the certificate and its intermediates. Requires `http.tls.key`; \
                without them the API speaks plain HTTP. Both are read again on SIGHUP.
                """
        )
        tlsKey = settings.optionalString(
            "http.tls.key",
            about: "The PEM file of the certificate's key."
        )
    }

    private mutating func readBounds(_ settings: inout ServiceSettings) {
        targetBytes = settings.int(
            "http.target.bytes",
            default: targetBytes,
            in: 1_024...1_048_576,
            about: "Bytes of the path and query of a request; above it 414."
        )
        headerBytes = settings.int(
            "http.headers.bytes",
            default: headerBytes,
            in: 1_024...1_048_576,
            about: "Bytes of the names and values of a request's header fields; above it 431."
        )
        headerCount = settings.int(
            "http.headers.count",
            default: headerCount,
            in: 8...1_000,
            about: "Header fields of a request; above it 431."
        )
        callBytes = settings.int(
            "http.calls.bytes",
            default: callBytes,
            in: 1_048_576...Int.max,
            about: "Bytes of bodies, heads and removals of all calls in memory; above it 503."
        )
        receiveTimeout = settings.duration(
            "http.receive.timeout",
            default: receiveTimeout,
            in: .milliseconds(100) ... .seconds(600),
            about: """
                How long a request may take to arrive completely, from its first byte; then 408 and the end of the \
                connection.
                """
        )
    }
}
