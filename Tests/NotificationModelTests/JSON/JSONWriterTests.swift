import NotificationModel
import Testing

@Suite("JSON text")
struct JSONWriterTests {
    /// By the definition: one byte after the other.
    private static func escaped(_ text: [UInt8]) -> String {
        let pieces = text.map { byte in
            switch byte {
            case 0x22: #"\""#
            case 0x5C: #"\\"#
            case 0x08: #"\b"#
            case 0x09: #"\t"#
            case 0x0A: #"\n"#
            case 0x0C: #"\f"#
            case 0x0D: #"\r"#
            case 0..<0x20, 0x7F: #"\u00"# + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
            default: String(decoding: [byte], as: UTF8.self)
            }
        }
        return "\"\(pieces.joined())\""
    }

    @Test("every byte of ASCII at every place of a text is escaped where it must be", arguments: 0..<20)
    func places(_ place: Int) {
        for byte in UInt8(0)..<0x80 {
            for other in [UInt8(ascii: "a"), 0x21, 0x23, 0x5B, 0x5D, 0x7E] {
                var text = Array(repeating: other, count: 20)
                text[place] = byte
                var out: [UInt8] = []
                text.withUnsafeBytes { JSONWriter.append(string: $0, to: &out) }
                #expect(String(decoding: out, as: UTF8.self) == Self.escaped(text))
            }
        }
    }

    @Test("characters beyond ASCII stay as they are")
    func unicode() {
        for text in ["您的订单已发货", "naïve café — “quoted”", "\u{80}\u{9F}\u{A2}", "👩‍👩‍👧 \"x\" 👍🏽"] {
            var out: [UInt8] = []
            JSONWriter.append(string: text, to: &out)
            #expect(String(decoding: out, as: UTF8.self) == "\"\(text.replacing("\"", with: "\\\""))\"")
        }
    }
}
