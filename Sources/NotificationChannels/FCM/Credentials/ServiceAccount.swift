package import NotificationModel
package import OutboundHTTP
import ServiceHTTP

/// A service account of Google Cloud, as its JSON key file describes it: who sends to a Firebase project.
package struct ServiceAccount: Sendable {
    /// A larger file is a mistake.
    package static let maximumBytes = 16 * 1024
    /// What its tokens are good for: sending messages.
    package static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    /// How long an assertion is good for, in seconds: the most that Google takes.
    package static let lifetime: Int64 = 3600

    /// The project of the account.
    package let project: String
    /// `client_email`: the name of the account.
    package let email: String
    /// `private_key_id`.
    package let keyID: String
    /// `token_uri`: where an assertion is exchanged for an access token.
    package let tokenURL: String
    private let key: RS256Key

    /// Reads a key file. Blocks.
    package static func load(path: String) throws(SigningKeyError) -> ServiceAccount {
        let text: String
        do throws(SecretFile.Problem) {
            text = try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a key file of a service account")
        } catch {
            throw SigningKeyError("\(path) \(error.text)")
        }
        return try ServiceAccount(json: text, of: path)
    }

    /// - Parameters:
    ///   - text: The contents of the file.
    ///   - path: For messages, which never show what is in it.
    package init(json text: String, of path: String) throws(SigningKeyError) {
        guard let value = try? JSONValue.parse(Array(text.utf8)), value.objectValue != nil else {
            throw SigningKeyError(
                "\(path) is not JSON: it must be the key file of a service account, as it was downloaded"
            )
        }
        func member(_ name: String) throws(SigningKeyError) -> String {
            guard let text = value[name]?.stringValue, !text.isEmpty else {
                throw SigningKeyError("\(path) has no `\(name)`: it must be the key file of a service account")
            }
            return text
        }
        guard value["type"]?.stringValue == "service_account" else {
            throw SigningKeyError(
                "\(path) is no key file of a service account: its `type` must be service_account. "
                    + "Make one in the Firebase console, Project settings, Service accounts"
            )
        }
        project = try member("project_id")
        email = try member("client_email")
        keyID = try member("private_key_id")
        tokenURL = try member("token_uri")
        guard ApplicationsFile.isIdentifier(project) else {
            throw SigningKeyError("\(path): `project_id` must be the id of a project: letters, digits and '-'")
        }
        key = try RS256Key(pem: try member("private_key"), of: path)
    }

    /// Whether both are the same account with the same key.
    package func isSame(as other: ServiceAccount) -> Bool {
        email == other.email && keyID == other.keyID && project == other.project && tokenURL == other.tokenURL
            && key.isSame(as: other.key)
    }

    /// The signed JSON Web Token that is exchanged for an access token (RFC 7523).
    ///
    /// - Parameter now: when it is issued.
    /// - Returns: Nil when OpenSSL cannot sign.
    package func assertion(at now: Timestamp) -> String? {
        let issuedAt = now.rawValue / 1000
        let header = JSONValue.object([
            .init("alg", .string("RS256")), .init("typ", .string("JWT")), .init("kid", .string(keyID)),
        ])
        let claims = JSONValue.object([
            .init("iss", .string(email)), .init("scope", .string(Self.scope)), .init("aud", .string(tokenURL)),
            .init("iat", .number("\(issuedAt)")), .init("exp", .number("\(issuedAt + Self.lifetime)")),
        ])
        let signed = "\(Base64URL.encode(header.json)).\(Base64URL.encode(claims.json))"
        return key.signature(of: Array(signed.utf8)).map { "\(signed).\(Base64URL.encode($0))" }
    }
}

extension ServiceAccount: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key.
    package var description: String { "a service account of the project \(project)" }

    /// Nothing of the key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
