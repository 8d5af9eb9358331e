/// Bytes of a record as text for people.
enum RecordText {
    /// The text of bytes that are UTF-8 without control characters, such as the big-endian numbers of dead letters.
    static func readable(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self), !text.unicodeScalars.contains(where: isControl)
        else {
            return nil
        }
        return text
    }

    /// Safe on a terminal: no control character of a record reaches it.
    static func safe(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// C0, DEL, C1, and the marks that turn the direction of text.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
