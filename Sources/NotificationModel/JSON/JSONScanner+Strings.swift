extension JSONScanner {
    /// A string value, not decoded yet.
    @inline(__always)
    public mutating func string() throws(ModelError) -> JSONStringToken {
        guard peek() == 0x22 else { throw unexpected("a string") }
        return try text()
    }

    /// Scans a string whose opening quote is next, eight bytes at a time.
    public mutating func text() throws(ModelError) -> JSONStringToken {
        position &+= 1
        let start = position
        var isEscaped = false
        var high: UInt64 = 0
        while true {
            while position &+ 8 <= count {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                let stops = Self.stops(in: word)
                if stops == 0 {
                    high |= word
                    position &+= 8
                } else {
                    let index = stops.trailingZeroBitCount &>> 3
                    high |= word & ((1 &<< UInt64(index &* 8)) &- 1)
                    position &+= index
                    break
                }
            }
            guard position < count else { throw grammar("expected the closing quote") }
            let byte = bytes[position]
            if byte == 0x22 {
                if high & 0x8080_8080_8080_8080 != 0 { sawNonASCII = true }
                let end = position
                position &+= 1
                return JSONStringToken(start: start, end: end, isEscaped: isEscaped)
            } else if byte == 0x5C {
                isEscaped = true
                try escape()
            } else if byte < 0x20 {
                throw grammar("a control character in a string must be escaped")
            } else {
                high |= UInt64(byte)
                position &+= 1
            }
        }
    }

    /// A mask whose lowest set bit is in the first byte that is a quote, a backslash or a control character.
    ///
    /// A borrow can set bits only above a true hit, so the lowest bit is exact.
    @inline(__always)
    private static func stops(in word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let quotes = word ^ (0x22 &* ones)
        let backslashes = word ^ (0x5C &* ones)
        let found =
            ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | ((word &- 0x20 &* ones) & ~word)
        return found & (0x80 &* ones)
    }

    private mutating func escape() throws(ModelError) {
        position &+= 1
        switch peek() {
        case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74:
            position &+= 1
        case 0x75:
            position &+= 1
            let unit = try hexadecimalUnit()
            if unit & 0xFC00 == 0xD800 {
                guard peek() == 0x5C, position &+ 1 < count, bytes[position &+ 1] == 0x75 else {
                    throw grammar("a high surrogate must be followed by a low one")
                }
                position &+= 2
                guard try hexadecimalUnit() & 0xFC00 == 0xDC00 else {
                    throw grammar("a high surrogate must be followed by a low one")
                }
            } else if unit & 0xFC00 == 0xDC00 {
                throw grammar("a low surrogate without a high one")
            }
        default:
            throw grammar("unknown escape")
        }
    }

    private mutating func hexadecimalUnit() throws(ModelError) -> UInt16 {
        guard position &+ 4 <= count else { throw grammar("expected four hexadecimal digits") }
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = PercentEncoding.digit(bytes[position]) else {
                throw grammar("expected four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            position &+= 1
        }
        return unit
    }

    /// The bytes of a scanned string, borrowed when it has no escapes.
    @inlinable @inline(__always)
    public func withBytes<Result>(
        _ text: JSONStringToken,
        _ body: (UnsafeRawBufferPointer) throws(ModelError) -> Result
    ) throws(ModelError) -> Result {
        if !text.isEscaped {
            return try body(UnsafeRawBufferPointer(rebasing: bytes[text.start..<text.end]))
        }
        return try unescaped(text).borrowed { buffer throws(ModelError) in try body(buffer) }
    }

    /// A scanned string as a Swift string.
    public func materialise(_ text: JSONStringToken) -> String {
        if text.isEscaped { return String(decoding: unescaped(text), as: UTF8.self) }
        return String(decoding: bytes[text.start..<text.end], as: UTF8.self)
    }

    /// A scanned string's bytes with the escapes resolved. The string has passed ``text()``.
    public func unescaped(_ text: JSONStringToken) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(text.count)
        forEachPiece(of: text) {
            out.append(contentsOf: $0)
        } escape: { scalar in
            out.append(contentsOf: scalar.utf8)
        }
        return out
    }

    /// Walks through a scanned string, which has passed ``text()``.
    ///
    /// - Parameters:
    ///   - plain: gets the bytes up to the next escape, as they are.
    ///   - escape: gets what an escape means.
    @inline(__always)
    func forEachPiece(
        of text: JSONStringToken,
        plain: (UnsafeRawBufferPointer) -> Void,
        escape: (Unicode.Scalar) -> Void
    ) {
        var (start, index) = (text.start, text.start)
        while index < text.end {
            guard bytes[index] == 0x5C, index &+ 1 < text.end else {
                index &+= 1
                continue
            }
            if start < index { plain(UnsafeRawBufferPointer(rebasing: bytes[start..<index])) }
            escape(escaped(at: &index))
            start = index
        }
        if start < text.end { plain(UnsafeRawBufferPointer(rebasing: bytes[start..<text.end])) }
    }

    /// What the escape at this index means, which moves behind it.
    private func escaped(at index: inout Int) -> Unicode.Scalar {
        let kind = bytes[index + 1]
        index += 2
        switch kind {
        case 0x62: return "\u{08}"
        case 0x66: return "\u{0C}"
        case 0x6E: return "\n"
        case 0x72: return "\r"
        case 0x74: return "\t"
        case 0x75:
            var scalar = unit(at: index)
            index += 4
            if scalar & 0xFC00 == 0xD800 {
                scalar = 0x10000 + (scalar & 0x3FF) << 10 + (unit(at: index + 2) & 0x3FF)
                index += 6
            }
            return Unicode.Scalar(scalar) ?? "\u{FFFD}"
        default: return Unicode.Scalar(kind)
        }
    }

    private func unit(at index: Int) -> UInt32 {
        guard index + 4 <= count else { return 0xFFFD }
        return (0..<4).reduce(0) { $0 << 4 | UInt32(PercentEncoding.digit(bytes[index + $1]) ?? 0) }
    }
}
