/// UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
package enum UTF8Validation {
    /// True when all bytes are UTF-8. Skips ASCII eight bytes at a time.
    package static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let count = bytes.count
        var index = 0
        func isContinuation(_ position: Int) -> Bool {
            position < count && bytes[position] & 0xC0 == 0x80
        }
        while index < count {
            if index + 8 <= count,
                bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
                continue
            }
            let lead = bytes[index]
            switch lead {
            case 0x00...0x7F:
                index += 1
            case 0xC2...0xDF:
                guard isContinuation(index + 1) else { return false }
                index += 2
            case 0xE0...0xEF:
                guard isContinuation(index + 1), isContinuation(index + 2) else { return false }
                let second = bytes[index + 1]
                guard lead != 0xE0 || second >= 0xA0, lead != 0xED || second < 0xA0 else { return false }
                index += 3
            case 0xF0...0xF4:
                guard isContinuation(index + 1), isContinuation(index + 2), isContinuation(index + 3) else {
                    return false
                }
                let second = bytes[index + 1]
                guard lead != 0xF0 || second >= 0x90, lead != 0xF4 || second < 0x90 else { return false }
                index += 4
            default:
                return false
            }
        }
        return true
    }
}
