/// External text, made safe to show to a person or print to a terminal.
///
/// Characters that could control a terminal or disguise the text are escaped: control characters (C0, DEL, C1),
/// bidirectional marks, line and paragraph separators, and zero-width characters other than joiners.
package enum PrintableText {
    /// True of every character that is escaped.
    package static func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
        isControl(scalar) || isInvisible(scalar)
    }

    /// C0, DEL and C1.
    package static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Bidirectional marks.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        case 0x2028, 0x2029: true
        // Zero width space, word joiner, byte order mark. Joiners (U+200C, U+200D) are part of words and emoji.
        case 0x200B, 0x2060, 0xFEFF: true
        default: false
        }
    }

    /// The text with `\u{…}` for escaped characters.
    ///
    /// - Parameter keepsLines: keeps line ends, for text that has its own lines and whose external parts are escaped
    ///   already.
    package static func escaped(_ text: String, keepsLines: Bool = false) -> String {
        func mustEscape(_ scalar: Unicode.Scalar) -> Bool { isEscaped(scalar) && !(keepsLines && scalar == "\n") }
        guard text.unicodeScalars.contains(where: mustEscape) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if mustEscape(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// JSON with `\uXXXX` for escaped characters, which is equivalent JSON. Line ends between values stay: inside a
    /// string the grammar allows none.
    package static func escaped(json: [UInt8]) -> [UInt8] {
        guard json.contains(where: { $0 >= 0x7F }) else { return json }
        var result: [UInt8] = []
        result.reserveCapacity(json.count + 32)
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            if scalar.value >= 0x20, isEscaped(scalar) {
                let digits = String(scalar.value, radix: 16)
                result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            } else {
                result += Unicode.UTF8.encode(scalar).map(Array.init) ?? []
            }
        }
        return result
    }
}
