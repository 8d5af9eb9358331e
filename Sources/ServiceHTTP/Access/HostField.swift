/// The value of a Host header field, `name[:port]` (RFC 9110, 7.2).
struct HostField: Equatable {
    /// The name or address, IPv6 without its brackets. Empty if the target has no host.
    let name: String

    /// - Returns: Nil when it is neither a name nor an address, or the port is not a number.
    init?(_ value: String) {
        let text = value.utf8.drop(while: Self.isBlank)
        guard let last = text.lastIndex(where: { !Self.isBlank($0) }) else {
            name = ""
            return
        }
        var rest = text[...last]
        let end: Substring.UTF8View.Index
        if rest.first == UInt8(ascii: "[") {
            rest = rest.dropFirst()
            guard let bracket = rest.firstIndex(of: UInt8(ascii: "]")),
                rest[..<bracket].allSatisfy({
                    Self.isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                })
            else { return nil }
            end = bracket
        } else {
            end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            guard rest[..<end].allSatisfy(Self.isNameCharacter) else { return nil }
        }
        var port = rest[end...]
        if port.first == UInt8(ascii: "]") { port = port.dropFirst() }
        guard port.isEmpty || port.first == UInt8(ascii: ":"),
            port.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        name = String(Substring(rest[..<end]))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Whether the character is allowed in a registered name (RFC 3986, 3.2.2).
    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "-._~!$&'()*+,;=%".utf8.contains(byte)
        }
    }
}
