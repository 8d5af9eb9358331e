import COpenSSL
import PushSimulation

/// A private RSA key of a service account.
final class RSAKeyPair: Sendable {
    private static let bits: Int32 = 2_048

    /// OpenSSL counts its references; it is never changed.
    nonisolated(unsafe) private let key: OpaquePointer

    private init(_ key: OpaquePointer) { self.key = key }

    deinit { EVP_PKEY_free(key) }

    static func generate() throws(SimulatorError) -> RSAKeyPair {
        defer { ERR_clear_error() }
        guard let context = EVP_PKEY_CTX_new_id(EVP_PKEY_RSA, nil) else { throw .openSSL("make a key") }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_rsa_keygen_bits(context, bits) == 1,
            EVP_PKEY_keygen(context, &key) == 1, let key
        else { throw .openSSL("make a key") }
        return RSAKeyPair(key)
    }

    /// - Parameter pem: PKCS #8, without a password.
    /// - Returns: Nil for anything else.
    convenience init?(pem: [UInt8]) {
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
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
            EVP_PKEY_free(key)
            return nil
        }
        self.init(key)
    }

    /// PKCS #8.
    func pem() throws(SimulatorError) -> [UInt8] {
        try PEMText.write("a key") { PEM_write_bio_PKCS8PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// Whether a signature (RS256) is of this key.
    func verifies(_ signature: [UInt8], of signed: [UInt8]) -> Bool {
        defer { ERR_clear_error() }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, signature, signature.count, signed, signed.count) == 1
    }
}
