import NotificationModel
import TestSupport
import Testing

@Suite("Strings with escapes")
struct JSONStringTests {
    /// All of ASCII, and characters of two, three and four bytes.
    private static let characters = (0..<0x80).map { Unicode.Scalar(UInt8($0)) } + ["\u{E9}", "\u{8A02}", "\u{1F44D}"]

    private static let short: [Unicode.Scalar: String] = [
        "\"": "\\\"", "\\": "\\\\", "/": "\\/", "\u{8}": "\\b", "\t": "\\t", "\n": "\\n", "\u{C}": "\\f", "\r": "\\r",
    ]

    /// Every way to write a character within a string.
    private static func forms(of character: Unicode.Scalar) -> [String] {
        let units = Character(character).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return String(repeating: "0", count: 4 - digits.count) + digits
        }
        var forms = [units, units.map { $0.uppercased() }].map { $0.map { "\\u\($0)" }.joined() }
        if let form = short[character] { forms.append(form) }
        if character.value >= 0x20, character != "\"", character != "\\" { forms.append(String(Character(character))) }
        return forms
    }

    @Test("a string means the same, and is copied as the writer writes it, in whatever form its characters are")
    func copies() throws {
        var random = SeededGenerator(seed: 1)
        for round in 0..<2_000 {
            let characters = (0..<round % 12).compactMap { _ in Self.characters.randomElement(using: &random) }
            let form = characters.compactMap { Self.forms(of: $0).randomElement(using: &random) }.joined()
            let meant = "plain" + String(String.UnicodeScalarView(characters))
            let json = Array("\"plain\(form)\"".utf8)
            var (copy, written) = ([UInt8](), [UInt8]())
            try json.withUnsafeBytes { bytes in
                var scanner = JSONScanner(bytes)
                let text = try scanner.string()
                #expect(Array(scanner.materialise(text).utf8) == Array(meant.utf8))
                scanner.position = 0
                try scanner.copyValue(to: &copy)
                #expect(scanner.position == json.count)
            }
            JSONWriter.append(string: meant, to: &written)
            #expect(copy == (json.contains(0x5C) ? written : json), "\(form)")
        }
    }
}
