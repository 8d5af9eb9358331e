import HTTPTypes

/// Who may call an HTTP interface.
package enum Access: Sendable {
    /// Every client that can connect.
    case everybody
    /// Every client that addresses this machine by one of its own names, or by the listener's address.
    ///
    /// The loopback address keeps other machines out. A browser on this machine could still send requests for a page
    /// whose name resolves to that address (DNS rebinding); the Host field exposes such requests.
    case thisMachine(host: String)
    /// Clients with one of these tokens.
    case tokens(BearerTokens)

    /// - Returns: The roles of the caller's token; nil for all rights.
    /// - Throws: ``Problem`` 401 or 403 when access is denied.
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
        // HTTP/1.0 may omit it; no browser does.
        guard let authority else { return true }
        guard let name = HostField(authority)?.name else { return false }
        return ListenerSecurity.isLoopback(name) || name.lowercased() == host.lowercased()
    }
}
