/// Appends pieces of JSON to a byte array. It checks no structure: the caller writes commas and braces.
public enum JSONWriter {
    /// Appends a constant fragment as it is.
    @inline(__always)
    public static func append(_ fragment: StaticString, to out: inout [UInt8]) {
        out.append(contentsOf: UnsafeBufferPointer(start: fragment.utf8Start, count: fragment.utf8CodeUnitCount))
    }

    /// Appends bytes that are JSON already.
    @inline(__always)
    public static func append(raw bytes: ArraySlice<UInt8>, to out: inout [UInt8]) {
        out.append(contentsOf: bytes)
    }

    /// Appends bytes that are JSON already.
    @inline(__always)
    public static func append(raw bytes: [UInt8], to out: inout [UInt8]) {
        out.append(contentsOf: bytes)
    }

    /// Appends a string with its quotes, escaping quote, backslash and control characters.
    public static func append(string: String, to out: inout [UInt8]) {
        let isWritten: Void? = string.utf8.withContiguousStorageIfAvailable {
            append(string: UnsafeRawBufferPointer($0), to: &out)
        }
        guard isWritten == nil else { return }
        var copy = string
        copy.withUTF8 { append(string: UnsafeRawBufferPointer($0), to: &out) }
    }

    /// Appends UTF-8 bytes as a string with its quotes, escaping quote, backslash and control characters.
    public static func append(string bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        out.append(0x22)
        append(escaping: bytes, to: &out)
        out.append(0x22)
    }

    /// Appends a piece of a string without quotes, escaping quote, backslash and control characters.
    package static func append(escaping bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
        let words = bytes
        let bytes = bytes.bindMemory(to: UInt8.self)
        var (start, next) = (0, 0)
        while next < bytes.count {
            if next &+ 8 <= bytes.count,
                isPlain(words.loadUnaligned(fromByteOffset: next, as: UInt64.self))
            {
                next &+= 8
                continue
            }
            let index = next
            let byte = bytes[index]
            next &+= 1
            guard byte < 0x20 || byte == 0x22 || byte == 0x5C || byte == 0x7F else { continue }
            out.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<index]))
            start = index + 1
            switch byte {
            case 0x22: append("\\\"", to: &out)
            case 0x5C: append("\\\\", to: &out)
            case 0x08: append("\\b", to: &out)
            case 0x09: append("\\t", to: &out)
            case 0x0A: append("\\n", to: &out)
            case 0x0C: append("\\f", to: &out)
            case 0x0D: append("\\r", to: &out)
            default:
                append("\\u00", to: &out)
                let low = byte & 0xF
                out.append(0x30 + byte >> 4)
                out.append(low < 10 ? 0x30 + low : 0x57 + low)
            }
        }
        out.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<bytes.count]))
    }

    /// Appends a character of a string, escaping as above.
    static func append(escaping scalar: Unicode.Scalar, to out: inout [UInt8]) {
        guard scalar.isASCII else { return out.append(contentsOf: scalar.utf8) }
        withUnsafeBytes(of: UInt8(truncatingIfNeeded: scalar.value)) { append(escaping: $0, to: &out) }
    }

    /// Whether none of eight bytes needs an escape. Exact for the bytes below 0x80; others count as plain.
    @inline(__always)
    private static func isPlain(_ word: UInt64) -> Bool {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let low = word & ~highs
        // No carry crosses a byte: each sum of seven bits and at most 0x80 fits eight bits.
        let notControl = low &+ 0x60 &* ones
        let notQuote = (low ^ 0x22 &* ones) &+ 0x7F &* ones
        let notBackslash = (low ^ 0x5C &* ones) &+ 0x7F &* ones
        let notDelete = (low ^ 0x7F &* ones) &+ 0x7F &* ones
        return (notControl & notQuote & notBackslash & notDelete | word) & highs == highs
    }

    /// Appends an integer.
    public static func append(number: some BinaryInteger, to out: inout [UInt8]) {
        guard let number = Int64(exactly: number) else {
            out.append(contentsOf: String(number).utf8)
            return
        }
        if number >= 0, number < 10 {
            out.append(0x30 + UInt8(truncatingIfNeeded: number))
        } else {
            append(digitsOf: number, to: &out)
        }
    }

    private static func append(digitsOf number: Int64, to out: inout [UInt8]) {
        if number < 0 { out.append(0x2D) }
        // No Int64 has more than 19.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 19) { digits in
            var (rest, start) = (number.magnitude, 19)
            repeat {
                start &-= 1
                digits[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            out.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
        }
    }

    /// Appends a number; a whole one without fraction. Values without a JSON form (infinite, not a number) become 0.
    public static func append(number: Double, to out: inout [UInt8]) {
        guard number.isFinite else {
            out.append(0x30)
            return
        }
        if let whole = Int64(exactly: number), abs(whole) <= 1 << 53 {
            append(number: whole, to: &out)
            return
        }
        out.append(contentsOf: String(number).utf8)
    }

    /// Appends `true` or `false`.
    public static func append(bool: Bool, to out: inout [UInt8]) {
        if bool { append("true", to: &out) } else { append("false", to: &out) }
    }

    /// Appends an instant as a string in RFC 3339.
    public static func append(timestamp: Timestamp, to out: inout [UInt8]) {
        out.append(0x22)
        timestamp.write(to: &out)
        out.append(0x22)
    }
}
