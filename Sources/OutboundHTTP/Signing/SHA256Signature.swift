import COpenSSL

/// A signature over SHA-256, by a private key of any kind.
enum SHA256Signature {
    /// - Parameter key: An `EVP_PKEY`.
    /// - Returns: As OpenSSL encodes it; nil when it cannot sign, for lack of memory or of random numbers.
    static func bytes(of message: [UInt8], by key: OpaquePointer) -> [UInt8]? {
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else { return nil }
        var length = 0
        guard EVP_DigestSign(context, nil, &length, message, message.count) == 1 else { return nil }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else { return nil }
        return Array(signature.prefix(length))
    }
}
