/// A number in the scanned text.
public struct JSONNumberToken {
    /// Where it begins in the scanned bytes.
    public let start: Int
    /// Where it ends in the scanned bytes, exclusive.
    public let end: Int
    /// Neither fraction nor exponent.
    public let isInteger: Bool
    /// The digits before any exponent as one integer, if at most 19 of them fit.
    public let mantissa: UInt64
    /// Whether the digits fit the mantissa.
    public let mantissaFits: Bool
    /// Digits after the point.
    public let fractionDigits: Int
    /// Whether it has a minus sign.
    public let isNegative: Bool
    /// Whether it has an exponent.
    public let hasExponent: Bool
}

extension JSONScanner {
    /// Scans a number by the grammar of RFC 8259.
    public mutating func numberToken() throws(ModelError) -> JSONNumberToken {
        let start = position
        let isNegative = peek() == 0x2D
        if isNegative { position &+= 1 }
        var mantissa: UInt64 = 0
        var digits = 0
        let first = peek()
        guard first &- 0x30 <= 9 else { throw grammar("expected a digit") }
        while position < count, bytes[position] &- 0x30 <= 9 {
            mantissa = mantissa &* 10 &+ UInt64(bytes[position] &- 0x30)
            digits &+= 1
            position &+= 1
        }
        guard first != 0x30 || digits == 1 else { throw grammar("a number must not begin with 0") }
        var fractionDigits = 0
        var hasExponent = false
        if peek() == 0x2E {
            position &+= 1
            while position < count, bytes[position] &- 0x30 <= 9 {
                mantissa = mantissa &* 10 &+ UInt64(bytes[position] &- 0x30)
                fractionDigits &+= 1
                position &+= 1
            }
            guard fractionDigits > 0 else { throw grammar("expected a digit") }
        }
        if peek() | 0x20 == 0x65 {
            hasExponent = true
            position &+= 1
            if peek() == 0x2B || peek() == 0x2D { position &+= 1 }
            let exponentStart = position
            while position < count, bytes[position] &- 0x30 <= 9 { position &+= 1 }
            guard position > exponentStart else { throw grammar("expected a digit") }
        }
        return JSONNumberToken(
            start: start,
            end: position,
            isInteger: fractionDigits == 0 && !hasExponent,
            mantissa: mantissa,
            mantissaFits: digits &+ fractionDigits <= 19,
            fractionDigits: fractionDigits,
            isNegative: isNegative,
            hasExponent: hasExponent
        )
    }

    /// An integer without fraction and exponent, inside the range.
    public mutating func integer(in range: ClosedRange<Int64>) throws(ModelError) -> Int64 {
        let token = try number("an integer")
        guard token.isInteger else { throw value("must be an integer without fraction and exponent") }
        // 19 digits always fit into UInt64.
        var found: Int64?
        if token.mantissaFits {
            if !token.isNegative {
                found = Int64(exactly: token.mantissa)
            } else if token.mantissa <= UInt64(Int64.max) {
                found = -Int64(token.mantissa)
            } else if token.mantissa == UInt64(Int64.max) + 1 {
                found = Int64.min
            }
        }
        guard let found, range.contains(found) else {
            throw value("must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return found
    }

    /// A finite number inside the range.
    public mutating func decimal(in range: ClosedRange<Double>) throws(ModelError) -> Double {
        let token = try number("a number")
        let found = double(token)
        guard range.contains(found) else { throw value("must be from \(range.lowerBound) to \(range.upperBound)") }
        return found
    }

    /// Scans `true` or `false`.
    public mutating func boolean() throws(ModelError) -> Bool {
        switch peek() {
        case 0x74:
            try literal("true")
            return true
        case 0x66:
            try literal("false")
            return false
        default:
            throw unexpected("a boolean")
        }
    }

    private mutating func number(_ expected: String) throws(ModelError) -> JSONNumberToken {
        let byte = peek()
        guard byte == 0x2D || byte &- 0x30 <= 9 else { throw unexpected(expected) }
        return try numberToken()
    }

    /// The number's value; infinite when it is too large for a double.
    public func double(_ token: JSONNumberToken) -> Double {
        // Both operands are exact here, so one division rounds correctly.
        if token.mantissaFits, !token.hasExponent, token.mantissa <= 1 << 53, token.fractionDigits <= 19 {
            var magnitude = Double(token.mantissa)
            if token.fractionDigits > 0 { magnitude /= Self.powerOfTen(token.fractionDigits) }
            return token.isNegative ? -magnitude : magnitude
        }
        return Double(String(decoding: bytes[token.start..<token.end], as: UTF8.self)) ?? .infinity
    }

    private static func powerOfTen(_ exponent: Int) -> Double {
        var power = 1.0
        for _ in 0..<exponent { power *= 10 }
        return power
    }

    /// An error about a value whose grammar is right.
    public func value(_ detail: String) -> ModelError {
        ModelError(.invalid, field: "", detail)
    }
}
