import COpenSSL
package import NotificationModel
import ServiceHTTP

/// What is drawn at random for each message.
package struct WebPushSecrets: Sendable {
    /// The sender's private key on P-256, 32 bytes.
    package var privateKey: [UInt8]
    /// 16 bytes.
    package var salt: [UInt8]

    package init(privateKey: [UInt8], salt: [UInt8]) { (self.privateKey, self.salt) = (privateKey, salt) }

    /// From the generators of OpenSSL and of the system; nil when OpenSSL makes no key.
    package static func random() -> WebPushSecrets? {
        guard let key = P256Agreement.makePrivateKey() else { return nil }
        var generator = SystemRandomNumberGenerator()
        let salt = (0..<WebPushEncryption.saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return WebPushSecrets(privateKey: key, salt: salt)
    }
}

extension WebPushSecrets: CustomStringConvertible, CustomReflectable {
    /// Nothing of them.
    package var description: String { "the secrets of a message" }

    /// Nothing of them.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// The encryption of a message for one subscription (RFC 8291): `aes128gcm` (RFC 8188) with one record.
package enum WebPushEncryption {
    /// A body has at most 4,096 bytes (RFC 8030, 7.2), of which 103 are the encryption's.
    package static let maximumPlaintextBytes = 3993
    /// The size of records, which is larger than the only one.
    private static let recordBytes: UInt32 = 4096
    static let saltBytes = 16
    private static let tagBytes = 16

    /// The body of a request.
    ///
    /// - Parameters:
    ///   - plaintext: At most ``maximumPlaintextBytes``.
    ///   - secrets: Of this message only: a second one with the same would give both away.
    /// - Returns: Nil for a longer plaintext, a public key that is no point of the curve, and when OpenSSL fails.
    package static func body(
        _ plaintext: [UInt8],
        for subscription: PushSubscription,
        with secrets: WebPushSecrets
    ) -> [UInt8]? {
        guard plaintext.count <= maximumPlaintextBytes, secrets.salt.count == saltBytes,
            let own = P256Agreement.publicKey(of: secrets.privateKey),
            let shared = P256Agreement.secret(of: secrets.privateKey, with: subscription.publicKey),
            let keys = WebPushKeys(
                shared: shared,
                receiver: subscription.publicKey,
                sender: own,
                authentication: subscription.authentication,
                salt: secrets.salt
            ),
            // 2 delimits the last record from its padding, which is empty.
            let record = seal(plaintext + [2], keys)
        else { return nil }
        let size = (0..<4).reversed().map { UInt8(truncatingIfNeeded: recordBytes >> (8 * UInt32($0))) }
        return secrets.salt + size + [UInt8(own.count)] + own + record
    }

    private static func seal(_ plaintext: [UInt8], _ keys: WebPushKeys) -> [UInt8]? {
        guard let context = EVP_CIPHER_CTX_new() else { return nil }
        defer {
            EVP_CIPHER_CTX_free(context)
            ERR_clear_error()
        }
        var sealed = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: tagBytes)
        var (count, rest) = (Int32(0), Int32(0))
        guard EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, keys.contentKey, keys.nonce) == 1,
            EVP_EncryptUpdate(context, &sealed, &count, plaintext, Int32(plaintext.count)) == 1,
            Int(count) == plaintext.count,
            // GCM is a stream: nothing is left to write.
            EVP_EncryptFinal_ex(context, &tag, &rest) == 1, rest == 0,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), &tag) == 1
        else { return nil }
        return sealed + tag
    }
}

/// The key and nonce of a message's record (RFC 8291, 3.4; RFC 8188, 2.2 and 2.3).
struct WebPushKeys {
    /// 16 bytes.
    let contentKey: [UInt8]
    /// 12 bytes.
    let nonce: [UInt8]

    /// - Parameters:
    ///   - shared: The secret of ECDH, 32 bytes.
    ///   - receiver: The subscription's public key.
    ///   - sender: The public key of this message.
    /// - Returns: Nil when OpenSSL fails.
    init?(shared: [UInt8], receiver: [UInt8], sender: [UInt8], authentication: [UInt8], salt: [UInt8]) {
        let purpose = Array("WebPush: info\0".utf8) + receiver + sender
        // One block of HKDF is one HMAC: no key here is longer.
        let combined = HMACSHA256.code(of: shared, key: authentication)
        let material = HMACSHA256.code(of: purpose + [1], key: combined)
        let extracted = HMACSHA256.code(of: material, key: salt)
        let contentKey = HMACSHA256.code(of: Array("Content-Encoding: aes128gcm\0".utf8) + [1], key: extracted)
        let nonce = HMACSHA256.code(of: Array("Content-Encoding: nonce\0".utf8) + [1], key: extracted)
        guard ![combined, material, extracted, contentKey, nonce].contains([]) else { return nil }
        (self.contentKey, self.nonce) = (Array(contentKey.prefix(16)), Array(nonce.prefix(12)))
    }
}
