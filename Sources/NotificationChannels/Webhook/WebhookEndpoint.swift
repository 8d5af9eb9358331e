import Foundation
import NIOCore

/// Where the channel posts: the parts of its URL.
struct WebhookEndpoint: Sendable {
    /// A name or an address, without brackets.
    let host: String
    let port: Int
    let usesTLS: Bool
    /// The path and the query, percent-encoded.
    let target: String
    /// For logs and for comparisons.
    let authority: String
    /// The value of the header `host`: without the port that the scheme has anyway.
    let hostHeader: String

    /// - Parameter url: checked by the settings. Nil for one with another scheme than `http` and `https`, or without a host
    ///   that can be written into a header.
    init?(url: String) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = parts.host, !host.isEmpty,
            host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") })
        else { return nil }
        self.host = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        usesTLS = scheme == "https"
        port = parts.port ?? (usesTLS ? 443 : 80)
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        target = path + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        let bracketed = self.host.contains(":") ? "[\(self.host)]" : self.host
        authority = "\(bracketed):\(port)"
        hostHeader = port == (usesTLS ? 443 : 80) ? bracketed : authority
    }

    /// What the certificate is for: a name. Nil for an address, which is compared with the one that was connected to.
    var serverName: String? { isAddress ? nil : host }

    private var isAddress: Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
}
