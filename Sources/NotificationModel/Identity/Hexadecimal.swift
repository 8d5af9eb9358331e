/// Lower-case hexadecimal digits in ASCII, eight at a time: ids and traces of each record are read and written so.
enum Hexadecimal {
    private static let ones: UInt64 = 0x0101_0101_0101_0101

    /// The eight digits of a number; the most significant byte is the first digit.
    @inline(__always)
    static func digits(of value: UInt32) -> UInt64 {
        // Each byte gets four bits.
        var word = UInt64(value)
        word = (word | word &<< 16) & 0x0000_FFFF_0000_FFFF
        word = (word | word &<< 8) & 0x00FF_00FF_00FF_00FF
        word = (word | word &<< 4) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (word &+ 6 &* ones) &>> 4 & ones
        return word &+ 0x30 &* ones &+ 0x27 &* letters
    }

    /// The number of eight digits as ``digits(of:)`` returns them; nil if one is no digit.
    @inline(__always)
    static func value(of digits: UInt64) -> UInt32? {
        // Letters have bit 6.
        var word = digits & (0x0F &* ones) &+ 9 &* (digits &>> 6 & ones)
        word = (word | word &>> 4) & 0x00FF_00FF_00FF_00FF
        word = (word | word &>> 8) & 0x0000_FFFF_0000_FFFF
        let value = UInt32(truncatingIfNeeded: word | word &>> 16)
        // Whatever else was there is not what the number is written as.
        return Self.digits(of: value) == digits ? value : nil
    }
}

extension UnsafeRawBufferPointer {
    /// A number of eight hexadecimal digits; nil if one is no digit.
    ///
    /// - Parameters:
    ///   - first: The offset of the first four or eight digits.
    ///   - second: The offset of the last four; nil if all eight are at `first`.
    @inline(__always)
    func hexadecimal(at first: Int, and second: Int? = nil) -> UInt32? {
        guard let second else {
            return Hexadecimal.value(of: UInt64(bigEndian: loadUnaligned(fromByteOffset: first, as: UInt64.self)))
        }
        let upper = UInt32(bigEndian: loadUnaligned(fromByteOffset: first, as: UInt32.self))
        let lower = UInt32(bigEndian: loadUnaligned(fromByteOffset: second, as: UInt32.self))
        return Hexadecimal.value(of: UInt64(upper) &<< 32 | UInt64(lower))
    }
}
