import HTTPTypes

/// Who may call an HTTP interface.
package enum Access: Sendable {
    /// Everybody who reaches it.
    case everybody
    /// Everybody who calls this machine by a name of its own, or by that of the listener's address.
    ///
    /// The loopback address keeps others out, and a browser would still call it for a page whose name resolves to that address
    /// (DNS rebinding): the name is what tells.
    case thisMachine(host: String)
    /// Who has one of these tokens.
    case tokens(BearerTokens)

    /// - Returns: What the caller's token allows; nil for everything.
    /// - Throws: ``Problem`` 401 or 403 when the caller is not let in.
    func roles(of request: HTTPRequest) throws(Problem) -> TokenRoles? {
        switch self {
        case .everybody: return nil
        case .thisMachine(let host):
            guard Self.isOwnName(request.authority, host) else { throw .foreignHost }
            return nil
        case .tokens(let tokens): return try tokens.roles(of: request.headerFields)
        }
    }

    private static func isOwnName(_ authority: String?, _ host: String) -> Bool {
        // HTTP/1.0 may leave it out; no browser does.
        guard let authority else { return true }
        guard let name = HostField(authority)?.name else { return false }
        return ListenerSecurity.isLoopback(name) || name.lowercased() == host.lowercased()
    }
}
