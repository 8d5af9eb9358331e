package import NotificationModel
package import OutboundHTTP
import ServiceHTTP
import Synchronization

/// The provider tokens of one key (RFC 7519, ES256), shared by all of its connections.
package final class ProviderTokens: Sendable {
    /// A token, and what identifies it to its source.
    package struct Token: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        /// The value of the header `authorization`.
        package let authorization: String
        /// Its claim `iat`, in seconds since 1970.
        package let issuedAt: Int64

        /// Nothing of the token.
        package var description: String { "a provider token of \(issuedAt)" }

        /// Nothing of the token.
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// What `ExpiredProviderToken` leads to.
    package enum Renewal: Hashable, Sendable {
        /// Send once more, with the source's token and on another connection.
        case repeated
        /// A token that was made just now was refused, too: the clock of this machine is wrong.
        case clockSkew
    }

    private struct Contents {
        var schedule = ProviderTokenSchedule()
        var token: Token?
    }

    /// Characters of the id of a key, and of that of a team.
    package static let idCharacters = 10

    package let teamID: String
    package let keyID: String
    private let key: ES256Key
    /// Header and the point after it.
    private let head: String
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - teamID: Of the developer's account, 10 characters.
    ///   - keyID: Of the key, 10 characters.
    package init(teamID: String, keyID: String, key: ES256Key) {
        (self.teamID, self.keyID, self.key) = (teamID, keyID, key)
        let header = JSONObjectWriter.object { object, out in
            object.member("alg", "ES256", &out)
            object.member("kid", keyID, &out)
        }
        head = Base64URL.encode(header) + "."
    }

    /// Whether an id may be that of a key or a team: ten capital letters and digits.
    package static func isID(_ text: String) -> Bool {
        text.utf8.count == idCharacters
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) }
    }

    /// Whether both make tokens of the same key.
    package func isSame(as other: ProviderTokens) -> Bool {
        teamID == other.teamID && keyID == other.keyID && key.isSame(as: other.key)
    }

    /// The token to use now. Signs about twice an hour, under the lock, so that everyone gets the same.
    ///
    /// - Returns: Nil when OpenSSL cannot sign.
    package func token(at now: Timestamp) -> Token? {
        contents.withLock { contents in
            let time = contents.schedule.timeOfIssue(at: now.rawValue / 1000)
            if let token = contents.token, token.issuedAt == time { return token }
            contents.token = make(issuedAt: time)
            return contents.token
        }
    }

    /// APNs refused a token as `ExpiredProviderToken`. The connection that said so must be closed: it goes on refusing.
    ///
    /// - Parameter issuedAt: of the token.
    package func renew(refused issuedAt: Int64, at now: Timestamp) -> Renewal {
        contents.withLock { contents in
            switch contents.schedule.renew(refused: issuedAt, at: now.rawValue / 1000) {
            case .renewed, .superseded: .repeated
            case .clockSkew: .clockSkew
            }
        }
    }

    /// APNs refused a push as `TooManyProviderTokenUpdates`: the token stays for 20 minutes, unless it expires.
    package func hold(at now: Timestamp) {
        contents.withLock { $0.schedule.hold(at: now.rawValue / 1000) }
    }

    private func make(issuedAt time: Int64) -> Token? {
        let claims = JSONObjectWriter.object { object, out in
            object.member("iss", teamID, &out)
            object.member("iat", time, &out)
        }
        let signed = head + Base64URL.encode(claims)
        guard let signature = key.signature(of: Array(signed.utf8)) else { return nil }
        return Token(authorization: "bearer \(signed).\(Base64URL.encode(signature))", issuedAt: time)
    }
}

extension ProviderTokens: CustomStringConvertible, CustomReflectable {
    /// Nothing of the tokens.
    package var description: String { "the provider tokens of key \(keyID)" }

    /// Nothing of the tokens.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
