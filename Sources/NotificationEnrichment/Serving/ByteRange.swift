/// The field Range with one range of bytes (RFC 9110, 14.1.2).
///
/// Any other field is to be ignored, so that the client gets the whole: other units, several ranges, syntax errors.
enum ByteRange: Equatable {
    /// From a position up to and including the last one; to the end if nil.
    case from(Int64, through: Int64?)
    /// So many bytes at the end.
    case suffix(Int64)

    init?(_ field: String) {
        let bytes = field.utf8
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")),
            // Names of units are case-insensitive.
            String(Substring(bytes[..<equals])).lowercased() == "bytes"
        else { return nil }
        let range = bytes[bytes.index(after: equals)...].trimmed
        guard let dash = range.firstIndex(of: UInt8(ascii: "-")) else { return nil }
        let (first, last) = (range[..<dash], range[range.index(after: dash)...])
        if first.isEmpty {
            guard let count = Self.number(last) else { return nil }
            self = .suffix(count)
            return
        }
        guard let start = Self.number(first) else { return nil }
        guard !last.isEmpty else {
            self = .from(start, through: nil)
            return
        }
        guard let end = Self.number(last), end >= start else { return nil }
        self = .from(start, through: end)
    }

    /// The positions in a medium.
    ///
    /// - Parameter size: Its bytes.
    /// - Returns: Nil when no byte of it is in the range.
    func resolve(size: Int64) -> Range<Int64>? {
        switch self {
        case .from(let start, let end):
            guard start < size else { return nil }
            return start..<(min(end ?? size, size - 1) + 1)
        case .suffix(let count):
            guard count > 0, size > 0 else { return nil }
            return (size - min(count, size))..<size
        }
    }

    /// Digits as a number. A longer number becomes the largest: it is beyond the end of every medium just as well.
    private static func number(_ text: Substring.UTF8View) -> Int64? {
        guard !text.isEmpty else { return nil }
        var number: Int64 = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            let (tenfold, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isOver) = tenfold.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            number = isTooLarge || isOver ? .max : sum
        }
        return number
    }
}

extension Substring.UTF8View {
    /// Without blanks and tabs at both ends: optional white space in header fields (RFC 9110, 5.6.3).
    var trimmed: Substring.UTF8View {
        var rest = drop(while: Self.isBlank)
        while let last = rest.last, Self.isBlank(last) { rest.removeLast() }
        return rest
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
