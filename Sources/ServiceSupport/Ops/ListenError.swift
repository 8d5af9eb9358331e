/// A server could not listen at its address.
public struct ListenError: Error, Sendable, CustomStringConvertible {
    /// The server.
    public var what: String
    /// The address to bind.
    public var host: String
    /// The port to bind.
    public var port: Int
    /// The system's error.
    public var reason: String

    /// An error with the server, the address and the reason.
    public init(what: String, host: String, port: Int, reason: String) {
        self.what = what
        self.host = host
        self.port = port
        self.reason = reason
    }

    /// `ops endpoint cannot listen on 127.0.0.1:8081: …`
    public var description: String {
        "\(what) cannot listen on \(host):\(port): \(reason)"
    }
}
