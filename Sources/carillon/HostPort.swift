import ArgumentParser

/// An address to bind: `127.0.0.1:8080`, `:8080` (this machine only), `[::1]:8080`.
struct HostPort: ExpressibleByArgument, Sendable, Hashable {
    var host: String
    var port: Int

    init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...])
        else {
            return nil
        }
        var host = argument[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        self.init(host: host.isEmpty ? "127.0.0.1" : String(host), port: Int(port))
    }

    var defaultValueDescription: String { description }
}

extension HostPort: CustomStringConvertible {
    var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
