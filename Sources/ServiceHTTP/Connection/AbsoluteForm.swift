import NIOHTTP1

extension HTTPRequestHead {
    /// Converts a target in absolute form, `http://host/path`, to origin form: its host replaces the Host field, and
    /// its path becomes the target (RFC 9112, 3.2.2). Later handlers then see one form only.
    ///
    /// Other targets are unchanged.
    ///
    /// - Returns: The problem of an invalid target.
    mutating func resolveAbsoluteForm() -> Problem? {
        // A fast path for nearly all targets.
        guard uri.utf8.first != UInt8(ascii: "/"), method != .CONNECT, uri != "*" else { return nil }
        var rest = uri.utf8[...]
        let scheme = rest.prefix { $0 != UInt8(ascii: ":") }
        guard ["http", "https"].contains(Substring(scheme).lowercased()),
            rest.dropFirst(scheme.count).starts(with: "://".utf8)
        else {
            return .malformed("the request's target is neither a path nor a URL of http or https", field: "target")
        }
        rest = rest.dropFirst(scheme.count + 3)
        let authority = String(Substring(rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }))
        guard let host = HostField(authority), !host.name.isEmpty else {
            return .malformed("the host of the request's target is neither a name nor an address", field: "target")
        }
        let path = String(Substring(rest.dropFirst(authority.utf8.count)))
        uri = path.utf8.first == UInt8(ascii: "/") ? path : "/\(path)"
        headers.replaceOrAdd(name: "host", value: authority)
        return nil
    }
}
