import COpenSSL

/// The SHA-256 digest of a medium's bytes, which names it.
package struct MediaDigest: Hashable, Sendable, CustomStringConvertible {
    static let byteCount = 32
    private static let digits = Array("0123456789abcdef".utf8)

    /// The digest's bytes in their order, eight in a word.
    private let words: SIMD4<UInt64>

    private init(words: SIMD4<UInt64>) { self.words = words }

    /// - Parameter text: 64 hexadecimal digits in lower case; nil for anything else.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.byteCount * 2 else { return nil }
        var words = SIMD4<UInt64>()
        for (index, byte) in text.utf8.enumerated() {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            words[index / 16] = words[index / 16] << 4 | UInt64(digit)
        }
        self.init(words: words)
    }

    /// 64 hexadecimal digits in lower case.
    package var description: String {
        String(unsafeUninitializedCapacity: Self.byteCount * 2) { text in
            for index in text.indices {
                let nibble = words[index / 16] >> UInt64(60 - index % 16 * 4) & 0xF
                text[index] = Self.digits[Int(nibble)]
            }
            return text.count
        }
    }

    /// Computes a digest from bytes that come in parts.
    struct Builder: ~Copyable, Sendable {
        /// An `EVP_MD_CTX`. Only this value has it, and the value has one owner at a time.
        private nonisolated(unsafe) let context: OpaquePointer

        /// - Throws: ``MediaStoreError`` when libcrypto has no memory or no SHA-256.
        init() throws(MediaStoreError) {
            guard let context = EVP_MD_CTX_new() else {
                throw MediaStoreError(.failed, "libcrypto has no memory for a digest")
            }
            guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
                EVP_MD_CTX_free(context)
                throw MediaStoreError(.failed, "libcrypto has no SHA-256")
            }
            self.context = context
        }

        deinit { EVP_MD_CTX_free(context) }

        mutating func append(_ bytes: UnsafeRawBufferPointer) {
            // It cannot fail for a context that was initialised.
            _ = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        }

        consuming func digest() -> MediaDigest {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: MediaDigest.byteCount) { bytes in
                bytes.initialize(repeating: 0)
                _ = EVP_DigestFinal_ex(context, bytes.baseAddress, nil)
                var words = SIMD4<UInt64>()
                for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
                return MediaDigest(words: words)
            }
        }
    }
}
