/// `{n}` in messages sent with `--count`: the number of the copy, from 1.
enum Placeholder {
    private static let pattern = Array("{n}".utf8)

    /// The text with every `{n}` replaced.
    static func filled(_ bytes: [UInt8], _ number: Int) -> [UInt8] {
        guard bytes.contains(pattern[0]) else { return bytes }
        let digits = Array("\(number)".utf8)
        var filled: [UInt8] = []
        filled.reserveCapacity(bytes.count + digits.count)
        var rest = bytes[...]
        while let byte = rest.first {
            if byte == pattern[0], rest.starts(with: pattern) {
                filled += digits
                rest = rest.dropFirst(pattern.count)
            } else {
                filled.append(byte)
                rest = rest.dropFirst()
            }
        }
        return filled
    }

    /// The same for text.
    static func filled(_ text: String, _ number: Int) -> String {
        guard isIn(text) else { return text }
        return String(decoding: filled(Array(text.utf8), number), as: UTF8.self)
    }

    static func isIn(_ text: String) -> Bool { text.contains("{n}") }
}
