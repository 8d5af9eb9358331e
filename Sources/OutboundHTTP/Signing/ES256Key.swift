import COpenSSL
import ServiceHTTP

/// A private key on the curve P-256, which signs tokens as `ES256` (RFC 7518, section 3.4).
///
/// Its file is PEM with one PKCS #8 key, as Apple's `.p8` files. Messages name the file and never show what is in it.
package final class ES256Key: Sendable {
    /// A larger file is a mistake.
    package static let maximumBytes = 16 * 1024
    /// The bytes of each of the two numbers of a signature.
    private static let numberBytes = 32

    /// OpenSSL counts its references; it is never changed.
    nonisolated(unsafe) private let key: OpaquePointer

    /// Reads a key from its file. Blocks.
    package static func load(path: String) throws(SigningKeyError) -> ES256Key {
        let text: String
        do throws(SecretFile.Problem) {
            text = try SecretFile.text(path: path, maximumBytes: maximumBytes, what: "a key's file")
        } catch {
            throw SigningKeyError("\(path) \(error.text)")
        }
        return try ES256Key(pem: text, of: path)
    }

    /// - Parameters:
    ///   - text: The contents of the file.
    ///   - path: For messages.
    package init(pem text: String, of path: String) throws(SigningKeyError) {
        let found = try PrivateKeyText.key(of: text, path)
        guard Self.isP256(found) else {
            EVP_PKEY_free(found)
            throw SigningKeyError("\(path) has a key of another kind: ES256 needs one on the curve P-256")
        }
        key = found
    }

    deinit { EVP_PKEY_free(key) }

    /// Whether both are the same key.
    package func isSame(as other: ES256Key) -> Bool { EVP_PKEY_eq(key, other.key) == 1 }

    /// The public key, a point on the curve: uncompressed, 65 bytes. Nil when the file has it in another form.
    package var publicKey: [UInt8]? {
        defer { ERR_clear_error() }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = EVP_PKEY_get1_encoded_public_key(key, &bytes)
        guard let bytes else { return nil }
        defer { CRYPTO_free(bytes, nil, 0) }
        guard count == 1 + 2 * Self.numberBytes, bytes.pointee == 4 else { return nil }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// The numbers R and S of a signature over SHA-256, 32 bytes each, big-endian.
    ///
    /// - Returns: Nil when OpenSSL cannot sign, for lack of memory or of random numbers.
    package func signature(of bytes: [UInt8]) -> [UInt8]? {
        SHA256Signature.bytes(of: bytes, by: key).flatMap(Self.numbers)
    }

    private static func numbers(of der: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        let numbers = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &position, bytes.count)
        }
        guard let numbers else { return nil }
        defer { ECDSA_SIG_free(numbers) }
        var raw = [UInt8](repeating: 0, count: 2 * numberBytes)
        let isWhole = raw.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            let count = Int32(numberBytes)
            return BN_bn2binpad(ECDSA_SIG_get0_r(numbers), start, count) == count
                && BN_bn2binpad(ECDSA_SIG_get0_s(numbers), start + numberBytes, count) == count
        }
        return isWhole ? raw : nil
    }

    private static func isP256(_ key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) == "prime256v1"
    }
}

extension ES256Key: CustomStringConvertible, CustomReflectable {
    /// Nothing of the key.
    package var description: String { "a key on P-256" }

    /// Nothing of the key.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
