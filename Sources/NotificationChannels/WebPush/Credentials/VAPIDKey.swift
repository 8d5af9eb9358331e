import NotificationModel
package import OutboundHTTP
import ServiceHTTP

/// The key that signs for an application at push services, its application server key (RFC 8292).
package struct VAPIDKey: Sendable {
    /// How long a token is good, in milliseconds: push services refuse more than 24 hours, and clocks differ.
    static let life: Int64 = 12 * 3_600_000

    /// Whom a push service tells about problems: `mailto:` or `https:`.
    package let subject: String
    /// What pages give `pushManager.subscribe` as `applicationServerKey`: 65 bytes in Base64url.
    package let publicKey: String
    private let key: ES256Key
    /// Header and the point after it.
    private static let head = Base64URL.encode(Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8)) + "."

    /// - Throws: When the key's public part cannot be written.
    package init(_ key: ES256Key, subject: String) throws(SigningKeyError) {
        (self.key, self.subject) = (key, subject)
        publicKey = try Self.publicKey(of: key)
    }

    /// The public key of a private one, for pages.
    package static func publicKey(of key: ES256Key) throws(SigningKeyError) -> String {
        guard let point = key.publicKey else {
            throw SigningKeyError("the public key cannot be written: make the key with `carillon webpush keys`")
        }
        return Base64URL.encode(point)
    }

    /// Whether an address is one that push services accept.
    package static func isSubject(_ text: String) -> Bool {
        guard text.utf8.count <= ModelLimits.urlBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return false
        }
        if text.hasPrefix("mailto:") { return text.dropFirst(7).split(separator: "@").count == 2 }
        return text.hasPrefix("https://") && text.utf8.count > 8
    }

    /// Whether tokens of both are the same to push services.
    func isSame(as other: VAPIDKey) -> Bool { subject == other.subject && key.isSame(as: other.key) }

    /// The value of the field `authorization` for an origin.
    ///
    /// - Parameter expiration: in seconds since 1970.
    /// - Returns: Nil when OpenSSL cannot sign.
    package func authorization(for origin: String, until expiration: Int64) -> String? {
        let claims = JSONObjectWriter.object { object, out in
            object.member("aud", origin, &out)
            object.member("exp", expiration, &out)
            object.member("sub", subject, &out)
        }
        let signed = Self.head + Base64URL.encode(claims)
        guard let signature = key.signature(of: Array(signed.utf8)) else { return nil }
        return "vapid t=\(signed).\(Base64URL.encode(signature)), k=\(publicKey)"
    }
}

extension VAPIDKey: CustomStringConvertible, CustomReflectable {
    /// Nothing of the private key.
    package var description: String { "the key \(publicKey)" }

    /// Nothing of the private key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
