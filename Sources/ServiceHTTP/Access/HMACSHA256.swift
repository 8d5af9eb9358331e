import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// The code, 32 bytes; empty when OpenSSL has no memory for it.
    package static func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { digest, count in
            var length: UInt32 = 0
            let size = Int32(clamping: key.count)
            let isMade = HMAC(EVP_sha256(), key, size, bytes, bytes.count, digest.baseAddress, &length) != nil
            count = isMade ? Int(length) : 0
        }
    }

    /// Whether it is the code of the bytes, in a time that does not depend on where they differ.
    package static func isCode(_ code: [UInt8], of bytes: [UInt8], key: [UInt8]) -> Bool {
        let own = self.code(of: bytes, key: key)
        return !own.isEmpty && own.count == code.count && CRYPTO_memcmp(own, code, own.count) == 0
    }
}
