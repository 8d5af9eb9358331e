#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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

    /// An error of the system, in words for those that an operator meets.
    ///
    /// - Parameters:
    ///   - code: Its `errno`.
    ///   - setting: The beginning of the keys of host and port: `ops`.
    package init(what: String, host: String, port: Int, code: Int32, setting: String) {
        let reason =
            switch code {
            case EADDRINUSE: "another program uses the port; end it, or set another one (\(setting).port)"
            case EACCES: "this user may not use the port; set one above 1023 (\(setting).port)"
            case EADDRNOTAVAIL: "this machine does not have the address; set one that it has (\(setting).host)"
            default: String(cString: strerror(code))
            }
        self.init(what: what, host: host, port: port, reason: reason)
    }

    /// `ops endpoint cannot listen on 127.0.0.1:8081: …`
    public var description: String {
        "\(what) cannot listen on \(host):\(port): \(reason)"
    }
}
