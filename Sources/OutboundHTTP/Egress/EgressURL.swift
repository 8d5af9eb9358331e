/// A URL that ``EgressPolicy`` has allowed, in normal form.
package struct EgressURL: Hashable, Sendable, CustomStringConvertible {
    /// The scheme: `https` if true, else `http`.
    package let usesTLS: Bool
    /// A name or an address in canonical notation: lower case, no brackets, no dot at the end.
    package let host: String
    /// 0 to 65,535; the port of the scheme when the URL has none.
    package let port: Int
    /// The path and the query as HTTP/1.1 sends them (origin-form): begins with `/`, has no fragment and no dot
    /// segments.
    package let target: String
    /// The address, if the host is one.
    package let address: IPAddress?

    /// The value of the header `host`: without the port when it is that of the scheme.
    package var hostHeader: String {
        let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (usesTLS ? 443 : 80) ? bracketed : "\(bracketed):\(port)"
    }

    /// Scheme, host, and the port when it is not that of the scheme: `https://cdn.example.com`.
    package var origin: String { "\(usesTLS ? "https" : "http")://\(hostHeader)" }

    /// The whole URL; the policy gives an equal value for it. Not for logs, because path and query may have secrets.
    package var text: String { origin + target }

    /// The origin, for logs.
    package var description: String { origin }

    /// The path without the query.
    var path: Substring.UTF8View { target.utf8.prefix { $0 != UInt8(ascii: "?") } }

    /// The query without its question mark; nil if there is none.
    var query: Substring.UTF8View? {
        target.utf8.firstIndex(of: UInt8(ascii: "?")).map { target.utf8[target.utf8.index(after: $0)...] }
    }
}
