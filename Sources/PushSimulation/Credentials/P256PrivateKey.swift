import COpenSSL

/// A private key on the curve P-256, as in the `.p8` files of Apple.
package final class P256PrivateKey: Sendable {
    /// OpenSSL counts its references; it is never changed.
    nonisolated(unsafe) private let key: OpaquePointer

    private init(_ key: OpaquePointer) { self.key = key }

    deinit { EVP_PKEY_free(key) }

    /// - Throws: ``SimulatorError`` when OpenSSL makes none.
    package static func generate() throws(SimulatorError) -> P256PrivateKey {
        defer { ERR_clear_error() }
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw .openSSL("make a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1,
            EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { throw .openSSL("make a key") }
        return P256PrivateKey(key)
    }

    /// - Parameter pem: PKCS #8, without a password.
    /// - Returns: Nil for anything else, and for another curve.
    package convenience init?(pem: [UInt8]) {
        defer { ERR_clear_error() }
        guard let file = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return nil }
        defer { BIO_free(file) }
        // OpenSSL would ask for a password on the terminal.
        let password: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = {
            _,
            _,
            _,
            _ in -1
        }
        guard let key = PEM_read_bio_PrivateKey(file, nil, password, nil) else { return nil }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1,
            name.prefix(length).map(UInt8.init(bitPattern:)) == Array("prime256v1".utf8)
        else {
            EVP_PKEY_free(key)
            return nil
        }
        self.init(key)
    }

    /// PKCS #8.
    package func pem() throws(SimulatorError) -> [UInt8] {
        try PEMText.write("a key") { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// A `SubjectPublicKeyInfo`.
    package func publicKeyDER() throws(SimulatorError) -> [UInt8] {
        defer { ERR_clear_error() }
        var bytes: UnsafeMutablePointer<UInt8>?
        let count = i2d_PUBKEY(key, &bytes)
        guard count > 0, let bytes else { throw .openSSL("write a public key") }
        defer { CRYPTO_free(bytes, nil, 0) }
        return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
    }

    /// Signs with SHA-256.
    ///
    /// - Returns: The numbers R and S, 32 bytes each, big-endian (RFC 7518, 3.4).
    package func signature(of signed: [UInt8]) throws(SimulatorError) -> [UInt8] {
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { throw .openSSL("sign") }
        defer { EVP_MD_CTX_free(context) }
        var count = 0
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, nil, &count, signed, signed.count) == 1
        else { throw .openSSL("sign") }
        var der = [UInt8](repeating: 0, count: count)
        guard EVP_DigestSign(context, &der, &count, signed, signed.count) == 1 else { throw .openSSL("sign") }
        let numbers = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_ECDSA_SIG(nil, &position, count)
        }
        guard let numbers else { throw .openSSL("sign") }
        defer { ECDSA_SIG_free(numbers) }
        var signature = [UInt8](repeating: 0, count: 64)
        let isWritten = signature.withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            return BN_bn2binpad(ECDSA_SIG_get0_r(numbers), start, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(numbers), start + 32, 32) == 32
        }
        guard isWritten else { throw .openSSL("sign") }
        return signature
    }

    /// Lends the key to a call of OpenSSL.
    package func withKey<Result>(_ body: (OpaquePointer) -> Result) -> Result { body(key) }
}

/// What OpenSSL writes as PEM.
package enum PEMText {
    package static func write(_ what: String, _ body: (OpaquePointer) -> Int32) throws(SimulatorError) -> [UInt8] {
        defer { ERR_clear_error() }
        guard let file = BIO_new(BIO_s_mem()) else { throw .openSSL("write \(what)") }
        defer { BIO_free(file) }
        guard body(file) == 1 else { throw .openSSL("write \(what)") }
        var text: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = BIO_read(file, &chunk, Int32(chunk.count))
            guard count > 0 else { return text }
            text += chunk[..<Int(count)]
        }
    }
}
