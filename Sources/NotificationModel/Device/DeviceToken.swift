import COpenSSL

/// The tokens of devices: what they may contain, and in which form they are kept and compared.
enum DeviceToken {
    /// The platform whose tokens are bytes in hexadecimal.
    static let apns = "apns"

    /// A token as it is kept. One of `apns` has 16 to 100 bytes in hexadecimal: spaces, `<` and `>` (as the
    /// description of `NSData` has them) are removed, and letters become lower case. One of `webpush` is a ``PushSubscription``.
    /// Others have 1 to 4,096 printable characters of ASCII, and stay as they are.
    ///
    /// Throws `invalid` at `token`; the token is not quoted.
    ///
    /// - Parameter isKept: it was registered before: a subscription stays as it is, also one of a gateway of before.
    static func normalized(_ token: String, platform: String, isKept: Bool = false) throws(ModelError) -> String {
        guard (1...ModelLimits.deviceTokenBytes).contains(token.utf8.count) else {
            throw refused("has \(token.utf8.count) bytes, 1 to \(ModelLimits.deviceTokenBytes) are allowed")
        }
        if platform == PushSubscription.platform, !isKept { return try PushSubscription(token: token).token }
        guard platform == apns else {
            guard token.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
                throw refused("may contain printable characters of ASCII only")
            }
            return token
        }
        guard let digits = hexadecimal(token) else {
            throw refused("a token of apns is its bytes in hexadecimal: two digits for each")
        }
        let bytes = digits.utf8.count / 2
        guard ModelLimits.apnsTokenBytes.contains(bytes) else {
            let (least, most) = (ModelLimits.apnsTokenBytes.lowerBound, ModelLimits.apnsTokenBytes.upperBound)
            throw refused("a token of apns has \(least) to \(most) bytes, this one \(bytes)")
        }
        return digits
    }

    /// The id of a broadcast channel: Base64 with padding, as APNs gives it.
    ///
    /// Throws `invalid` at `token`.
    static func channel(_ id: String) throws(ModelError) -> String {
        let digits = id.utf8.prefix { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2F: true
            default: false
            }
        }
        let padding = id.utf8.dropFirst(digits.count)
        guard (4...ModelLimits.broadcastChannelBytes).contains(id.utf8.count), id.utf8.count.isMultiple(of: 4),
            padding.count <= 2, padding.allSatisfy({ $0 == 0x3D })
        else {
            throw refused(
                "a broadcast channel's id is Base64 of 4 to \(ModelLimits.broadcastChannelBytes) characters"
            )
        }
        return id
    }

    /// Lower-case digits without spaces, `<` and `>`; nil for text that is not whole bytes in hexadecimal.
    static func hexadecimal(_ token: String) -> String? {
        var digits: [UInt8] = []
        digits.reserveCapacity(token.utf8.count)
        for byte in token.utf8 where byte != 0x20 && byte != 0x3C && byte != 0x3E {
            guard PercentEncoding.digit(byte) != nil else { return nil }
            digits.append(byte | 0x20)  // A digit has this bit already.
        }
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        return String(decoding: digits, as: UTF8.self)
    }

    /// SHA-256 over the pieces, each preceded by its length as 4 bytes, big-endian: 64 lower-case hexadecimal digits.
    static func hash(_ pieces: String...) -> String {
        var context = SHA256_CTX()
        SHA256_Init(&context)
        for var piece in pieces {
            piece.withUTF8 { bytes in
                var length = UInt32(truncatingIfNeeded: bytes.count).bigEndian
                SHA256_Update(&context, &length, 4)
                SHA256_Update(&context, bytes.baseAddress, bytes.count)
            }
        }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        SHA256_Final(&digest, &context)
        let table = Array("0123456789abcdef".utf8)
        return String(decoding: digest.flatMap { [table[Int($0 >> 4)], table[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func refused(_ detail: String) -> ModelError { ModelError(.invalid, field: "token", detail) }
}
