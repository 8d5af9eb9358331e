import HTTPTypes
import NIOCore
package import NotificationModel

/// Who may call an HTTP interface.
package enum Access: Sendable {
    /// Every client that can connect.
    case everybody
    /// Every client that addresses this machine by one of its own names, or by the listener's address.
    ///
    /// The loopback address keeps other machines out. A browser on this machine could still send requests for a page
    /// whose name resolves to that address (DNS rebinding); the Host field exposes such requests.
    case thisMachine(host: String)
    /// Every client that addresses this machine by an address, a loopback name or one of these names, in lower case: a
    /// page in a browser has a name of its own, wherever that leads to.
    case names(Set<String>)
    /// Clients with one of these tokens.
    case tokens(AccessTokens)

    /// - Parameter now: For tokens that end.
    /// - Throws: ``Problem`` 401 or 403 when access is denied.
    func caller(of request: HTTPRequest, at now: @autoclosure () -> Timestamp) throws(Problem) -> Caller {
        switch self {
        case .everybody: return .anyone
        case .thisMachine(let host):
            guard Self.isOwnName(request.authority, host) else { throw .foreignHost }
            return .anyone
        case .names(let names):
            guard Self.isKnown(request.authority, names) else { throw .unknownName }
            return .anyone
        case .tokens(let tokens): return try tokens.caller(of: request.headerFields, at: now())
        }
    }

    private static func isOwnName(_ authority: String?, _ host: String) -> Bool {
        // HTTP/1.0 may omit it; no browser does.
        guard let authority else { return true }
        guard let name = HostField(authority)?.name else { return false }
        return ListenerSecurity.isLoopback(name) || name.lowercased() == host.lowercased()
    }

    private static func isKnown(_ authority: String?, _ names: Set<String>) -> Bool {
        guard let authority else { return true }
        guard let name = HostField(authority)?.name else { return false }
        return ListenerSecurity.isLoopback(name) || (try? SocketAddress(ipAddress: name, port: 0)) != nil
            || names.contains(name.lowercased())
    }
}

/// The tokens that an HTTP interface accepts.
package struct AccessTokens: Sendable {
    /// Those of the operator's file.
    let bearers: BearerTokens
    /// Those that back ends of applications sign.
    let recipients: RecipientKeys

    init(bearers: BearerTokens = BearerTokens([]), recipients: RecipientKeys = RecipientKeys([])) {
        (self.bearers, self.recipients) = (bearers, recipients)
    }

    /// - Throws: ``Problem`` 401 for a missing or wrong token.
    func caller(of headers: HTTPFields, at now: Timestamp) throws(Problem) -> Caller {
        guard let field = headers[.authorization] else { throw .unauthenticated(isWrong: false) }
        guard let token = Self.token(in: field) else { throw .unauthenticated(isWrong: true) }
        if let caller = bearers.caller(of: token) { return caller }
        do throws(RecipientToken.Refusal) {
            return Caller(try RecipientToken(token, of: recipients, at: now))
        } catch {
            throw .unauthenticated(isWrong: true, error)
        }
    }

    /// The text after `Bearer` and blanks; nil for another scheme or no text.
    private static func token(in field: String) -> Substring? {
        let scheme = "bearer "
        // The scheme is case-insensitive.
        guard field.utf8.count > scheme.utf8.count,
            zip(field.utf8, scheme.utf8).allSatisfy({ $0 == $1 || $0 | 0x20 == $1 && $1 != 0x20 })
        else { return nil }
        let rest = field.utf8.dropFirst(scheme.utf8.count).drop { $0 == 0x20 }
        return rest.isEmpty ? nil : Substring(rest)
    }
}

/// What decides over the calls of an interface.
package struct AccessControl: Sendable {
    /// Asked for each call: files of tokens may be read again.
    let access: @Sendable () -> Access
    /// The application of calls that name none.
    let defaultApplication: String
    let now: @Sendable () -> Timestamp

    package init(
        _ access: @autoclosure @escaping @Sendable () -> Access,
        defaultApplication: String = "default",
        now: @escaping @Sendable () -> Timestamp = SystemClock.now
    ) {
        (self.access, self.defaultApplication, self.now) = (access, defaultApplication, now)
    }
}
