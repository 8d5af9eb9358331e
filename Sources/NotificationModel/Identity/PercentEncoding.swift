/// Percent-encoding of RFC 3986: the unreserved characters `A-Z a-z 0-9 - . _ ~` stay, every other byte becomes `%XX`.
public enum PercentEncoding {
    /// True for the unreserved bytes.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// True for control characters: C0 and DEL. Those of C1 take two bytes; ``firstControlCharacter(in:)`` finds them.
    static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F
    }

    /// Appends bytes, percent-encoded with upper-case hexadecimal.
    public static func encode(_ bytes: some Sequence<UInt8>, to out: inout [UInt8]) {
        for byte in bytes {
            if isUnreserved(byte) {
                out.append(byte)
            } else {
                out.append(0x25)
                out.append(hexadecimal(byte >> 4))
                out.append(hexadecimal(byte & 0xF))
            }
        }
    }

    /// Text, percent-encoded with upper-case hexadecimal.
    public static func encode(_ text: String) -> String {
        var out: [UInt8] = []
        encode(text.utf8, to: &out)
        return String(decoding: out, as: UTF8.self)
    }

    /// Decodes a path parameter exactly once: `ana%2F1` is `ana/1`, `%2541` is `%41`.
    ///
    /// Throws `invalid` for a `%` without two hexadecimal digits or for a control character (`%00` included),
    /// `not-utf8` when the result is not UTF-8. The error's field is nil: the caller knows the name.
    public static func decodeOnce(_ text: String) throws(ModelError) -> String {
        let decoded = try decodeOnce(Array(text.utf8))
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Decodes bytes exactly once, as ``decodeOnce(_:)-(String)``.
    public static func decodeOnce(_ bytes: [UInt8]) throws(ModelError) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == 0x25 {
                guard index + 2 < bytes.count, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2])
                else {
                    throw ModelError(.invalid, "byte \(index): % must be followed by two hexadecimal digits")
                }
                out.append(high << 4 | low)
                index += 3
            } else {
                out.append(byte)
                index += 1
            }
        }
        try checkText(out)
        return out
    }

    /// Refuses bytes that are not UTF-8 or contain a control character.
    static func checkText(_ bytes: [UInt8]) throws(ModelError) {
        let found = bytes.withUnsafeBytes { (UTF8Validation.isValid($0), firstControlCharacter(in: $0)) }
        guard found.0 else { throw ModelError(.notUTF8, "the bytes are not UTF-8") }
        if let position = found.1 {
            throw ModelError(.invalid, "byte \(position) is a control character")
        }
    }

    /// Index of the first control character (U+0000-001F, U+007F-009F) in UTF-8 bytes.
    static func firstControlCharacter(in bytes: UnsafeRawBufferPointer) -> Int? {
        var previous: UInt8 = 0
        var index = 0
        while index < bytes.count {
            if index &+ 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                if isPrintableASCII(word) {
                    previous = 0
                    index &+= 8
                    continue
                }
            }
            let byte = bytes[index]
            if isControl(byte) { return index }
            if previous == 0xC2, byte >= 0x80, byte <= 0x9F { return index }
            previous = byte
            index &+= 1
        }
        return nil
    }

    /// Whether all eight bytes are in 0x20...0x7D. 0x7E takes the slow path, so that a carry cannot hide a 0x7F.
    @inline(__always)
    private static func isPrintableASCII(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let (low, high) = (word &- 0x20 &* ones, word &+ 0x02 &* ones)
        return (word | low | high) & (0x80 &* ones) == 0
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? 0x30 + digit : 0x37 + digit
    }
}
