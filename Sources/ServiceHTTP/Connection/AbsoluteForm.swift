import NIOHTTP1

extension HTTPRequestHead {
    /// Writes a target in absolute form, `http://host/path`, in origin form: its host takes the place of the Host field, and its
    /// path is the target (RFC 9112, 3.2.2). Who reads the request further on knows one form only.
    ///
    /// Another target stays as it is.
    ///
    /// - Returns: What is wrong with it.
    mutating func resolveAbsoluteForm() -> Problem? {
        // All but a few begin so.
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
