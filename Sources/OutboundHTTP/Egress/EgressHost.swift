/// The host of a URL: a name, or an address in canonical notation.
struct EgressHost: Equatable {
    /// Lower case, without a dot at the end; an IPv6 address without brackets.
    let name: String
    let address: IPAddress?

    /// Names that resolve nowhere or only inside a network, with all names below them: the registry of special-use
    /// domain names (RFC 6761 and later), and names that ICANN reserved for private use or keeps back for collisions.
    private static let specialUse = [
        "localhost", "local", "internal", "home.arpa", "test", "invalid", "onion", "alt", "example", "lan", "corp",
    ]

    /// Parses a host as a URL writes it.
    ///
    /// - Parameter text: A name, an IPv4 address, or an IPv6 address in brackets.
    /// - Throws: `url-malformed` for what is no host; `address-refused` for an address in another notation than the
    ///   canonical one. Resolvers and URL libraries disagree on such notations.
    init(_ text: ArraySlice<UInt8>) throws(EgressRefusal) {
        guard !text.isEmpty else { throw .malformed("the host is missing") }
        if text.first == UInt8(ascii: "[") {
            let body = text.dropFirst().dropLast()
            guard text.last == UInt8(ascii: "]"), !body.isEmpty, !body.contains(where: { "[]".utf8.contains($0) })
            else {
                throw .malformed("the brackets of the host are not one pair around an IPv6 address")
            }
            let inside = String(decoding: body, as: UTF8.self)
            guard let address = IPAddress(canonical: inside), !address.isIPv4 else {
                throw EgressRefusal(
                    .addressRefused,
                    "the host in brackets is not an IPv6 address in canonical notation (RFC 5952) without a zone id"
                )
            }
            (name, self.address) = (inside, address)
            return
        }
        guard text.allSatisfy({ Self.isNameByte($0) }) else {
            throw .malformed("the host has a character other than letters, digits, hyphens, underscores and dots")
        }
        let endsWithDot = text.last == UInt8(ascii: ".")
        let name = String(decoding: endsWithDot ? text.dropLast() : text, as: UTF8.self).lowercased()
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard name.utf8.count <= 253, labels.allSatisfy({ Self.isLabel($0) }) else {
            throw .malformed(
                "the host is not a name: at most 253 characters, labels of 1 to 63 without hyphens at their ends"
            )
        }
        self.name = name
        if let last = labels.last, Self.isNumber(last) {
            guard !endsWithDot, let address = IPAddress(canonical: name) else {
                throw EgressRefusal(
                    .addressRefused,
                    "the host \(name) ends with a number and is not an IPv4 address of four decimal numbers"
                )
            }
            self.address = address
        } else {
            address = nil
        }
    }

    /// Parses a host as a URL writes it.
    init(_ text: String) throws(EgressRefusal) {
        try self.init(Array(text.utf8)[...])
    }

    /// Why a name cannot be a public one, to follow it in a sentence; nil for a public name.
    static func reason(against name: String) -> String? {
        if !name.utf8.contains(UInt8(ascii: ".")) { return "has a single label" }
        return specialUse.first { name.hasSuffix(".\($0)") }.map { "is in .\($0), which is for special use" }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        (1...63).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
    }

    /// Whether libraries take a name with this last label for an address (WHATWG URL, "ends in a number").
    private static func isNumber(_ label: Substring.UTF8View) -> Bool {
        if label.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) { return true }
        return label.starts(with: "0x".utf8) && label.dropFirst(2).allSatisfy(URLReference.isHexDigit)
    }
}
