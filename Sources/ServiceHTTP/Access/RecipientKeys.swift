import COpenSSL
import Foundation
import NotificationModel

/// The keys with which the back ends of applications sign recipient tokens.
struct RecipientKeys: Sendable {
    /// A key: it fixes the algorithm and the application of the tokens that name it.
    struct Key: Sendable {
        /// The `kid` of tokens.
        var id: String
        var application: String
        var verifier: Verifier
    }

    /// What verifies signatures, by algorithm (RFC 7518, 3.1).
    enum Verifier: Sendable {
        case es256(ECPublicKey)
        case hs256([UInt8])

        /// The `alg` of tokens.
        var algorithm: String {
            switch self {
            case .es256: "ES256"
            case .hs256: "HS256"
            }
        }

        /// - Parameter signature: As in a token, decoded.
        func verifies(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
            switch self {
            case .es256(let key): key.verifies(signature, of: signed)
            case .hs256(let secret): HMACSHA256.isCode(signature, of: signed, key: secret)
            }
        }
    }

    private let keys: [String: Key]

    /// - Parameter keys: With different ids.
    init(_ keys: [Key]) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
    }

    var isEmpty: Bool { keys.isEmpty }

    subscript(id: String) -> Key? { keys[id] }

    /// The first secret of an application, by the order of the ids, and its id; nil without one.
    func secret(of application: String) -> (id: String, secret: [UInt8])? {
        for key in keys.values.sorted(by: { $0.id < $1.id }) where key.application.hasSameUTF8(as: application) {
            if case .hs256(let secret) = key.verifier { return (key.id, secret) }
        }
        return nil
    }
}

extension RecipientKeys: CustomStringConvertible, CustomReflectable {
    /// Nothing of the keys.
    var description: String { "\(keys.count) keys" }

    /// Nothing of the keys.
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// A public key on the curve P-256.
package final class ECPublicKey: Sendable {
    /// The bytes of each of the two numbers of a signature in a token (RFC 7518, 3.4).
    private static let numberBytes = 32

    /// OpenSSL counts its references; it is never changed.
    nonisolated(unsafe) private let key: OpaquePointer

    /// - Parameter der: A `SubjectPublicKeyInfo`, which `openssl pkey -pubout -outform DER` writes.
    /// - Returns: Nil for anything else, and for another curve.
    package init?(der: [UInt8]) {
        let key = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var position = bytes.baseAddress
            guard let key = d2i_PUBKEY(nil, &position, bytes.count) else { return nil }
            guard position == bytes.baseAddress.map({ $0 + bytes.count }), Self.isP256(key) else {
                EVP_PKEY_free(key)
                return nil
            }
            return key
        }
        ERR_clear_error()
        guard let key else { return nil }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    private static func isP256(_ key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        return String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self) == "prime256v1"
    }

    /// Verifies a signature with SHA-256.
    ///
    /// - Parameter signature: The numbers R and S, 32 bytes each, big-endian.
    package func verifies(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
        guard let der = Self.der(signature), let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            // Nobody else on this thread shall find what failed here.
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, der, der.count, signed, signed.count) == 1
    }

    /// The form of a signature that OpenSSL reads; nil unless it has 64 bytes.
    private static func der(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 2 * numberBytes, let numbers = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(numbers) }
        let r = BN_bin2bn(signature, Int32(numberBytes), nil)
        let s = BN_bin2bn(Array(signature[numberBytes...]), Int32(numberBytes), nil)
        guard let r, let s, ECDSA_SIG_set0(numbers, r, s) == 1 else {
            BN_free(r)
            BN_free(s)
            return nil
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_ECDSA_SIG(numbers, &bytes)
        guard count > 0, let bytes else { return nil }
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }
}
