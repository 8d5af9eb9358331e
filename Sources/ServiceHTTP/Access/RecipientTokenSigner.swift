import COpenSSL
package import NotificationModel

/// Signs recipient tokens, as the back end of an application does: for what stands for one on this machine.
package struct RecipientTokenSigner: Sendable {
    /// How long a token is good.
    package static let life: Int64 = 3_600

    private let id: String
    private let secret: [UInt8]

    /// Reads a file of keys, as `http.recipient-keys.file` names it. Blocks.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - application: whose first key of HS256 signs: of others the file has only what verifies.
    /// - Throws: when the file cannot be used, or has no such key.
    package init(keysFile path: String, application: String) throws(ListenerSettingsError) {
        let keys = try RecipientKeyFile.load(path: path)
        guard let (id, secret) = keys.secret(of: application) else {
            throw ListenerSettingsError(
                .recipientKeysFile,
                "\(path) has no key of HS256 for the application \(application): only its secret can sign"
            )
        }
        (self.id, self.secret) = (id, secret)
    }

    /// A token that is good for ``life`` seconds.
    package func token(for recipient: String, at now: Timestamp) -> String {
        let issued = now.rawValue / 1_000
        let header = JSONValue.object([.init("alg", .string("HS256")), .init("kid", .string(id))])
        let claims = JSONValue.object([
            .init("sub", .string(recipient)), .init("iat", .number("\(issued)")),
            .init("exp", .number("\(issued + Self.life)")),
        ])
        let signed = "\(Base64URL.encode(header.json)).\(Base64URL.encode(claims.json))"
        return "\(signed).\(Base64URL.encode(HMACSHA256.code(of: Array(signed.utf8), key: secret)))"
    }
}

extension RecipientTokenSigner: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key.
    package var description: String { "a key for recipient tokens" }

    /// Nothing of the key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
