import COpenSSL

/// A private RSA key, which signs tokens as `RS256` (RFC 7518, section 3.3): PKCS #1 1.5 over SHA-256.
///
/// Its text is PEM with one PKCS #8 key, as in the service-account files of Google. Messages name the file and never show what is
/// in it.
package final class RS256Key: Sendable {
    /// Keys with fewer bits may not be used (RFC 7518, section 3.3).
    private static let leastBits: Int32 = 2048

    /// OpenSSL counts its references; it is never changed.
    nonisolated(unsafe) private let key: OpaquePointer

    /// - Parameters:
    ///   - text: PEM.
    ///   - path: The file that it is in, for messages.
    package init(pem text: String, of path: String) throws(SigningKeyError) {
        let found = try PrivateKeyText.key(of: text, path)
        guard EVP_PKEY_get_base_id(found) == EVP_PKEY_RSA, EVP_PKEY_get_bits(found) >= Self.leastBits else {
            EVP_PKEY_free(found)
            throw SigningKeyError(
                "\(path) has a key of another kind: RS256 needs an RSA key of \(Self.leastBits) bits or more"
            )
        }
        key = found
    }

    deinit { EVP_PKEY_free(key) }

    /// Whether both are the same key.
    package func isSame(as other: RS256Key) -> Bool { EVP_PKEY_eq(key, other.key) == 1 }

    /// A signature over SHA-256, as long as the key: 256 bytes for 2,048 bits.
    ///
    /// - Returns: Nil when OpenSSL cannot sign, for lack of memory.
    package func signature(of bytes: [UInt8]) -> [UInt8]? {
        SHA256Signature.bytes(of: bytes, by: key)
    }
}

extension RS256Key: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key.
    package var description: String { "an RSA key" }

    /// Nothing of the key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
