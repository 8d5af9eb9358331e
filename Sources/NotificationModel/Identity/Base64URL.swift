/// Base64url without padding (RFC 4648, section 5; RFC 7515, section 2).
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package static func encode(_ bytes: [UInt8]) -> String { encode(bytes[...]) }

    package static func encode(_ bytes: ArraySlice<UInt8>) -> String {
        alphabet.withUnsafeBufferPointer { alphabet in
            String(unsafeUninitializedCapacity: (bytes.count * 4 + 2) / 3) { text in
                var (bits, count, next) = (UInt32(0), 0, 0)
                for byte in bytes {
                    (bits, count) = (bits << 8 | UInt32(byte), count + 8)
                    while count >= 6 {
                        count -= 6
                        text[next] = alphabet[Int(bits >> UInt32(count) & 63)]
                        next += 1
                    }
                }
                if count > 0 {
                    text[next] = alphabet[Int(bits << UInt32(6 - count) & 63)]
                    next += 1
                }
                return next
            }
        }
    }

    /// Nil for other text.
    ///
    /// - Parameter canonical: Also nil where bits beyond the last byte are set, which ``encode(_:)`` never does.
    package static func decode(_ text: Substring.UTF8View, canonical: Bool = true) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var (bytes, bits, count) = ([UInt8](), UInt32(0), 0)
        bytes.reserveCapacity(text.count * 3 / 4)
        for byte in text {
            guard let digit = value(of: byte) else { return nil }
            (bits, count) = (bits << 6 | digit, count + 6)
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                bits &= 1 << UInt32(count) - 1
            }
        }
        return bits == 0 || !canonical ? bytes : nil
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
