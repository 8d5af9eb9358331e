/// An IPv4 or IPv6 address.
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) is an IPv6 address and differs from the IPv4 address.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is an IPv4 address.
    package let isIPv4: Bool
    /// The number in host byte order; an IPv4 address has the low 32 bits.
    let bits: UInt128

    /// An IPv4 address.
    ///
    /// - Parameter v4: The number in host byte order: 127.0.0.1 is 0x7F00_0001.
    package init(v4: UInt32) {
        isIPv4 = true
        bits = UInt128(v4)
    }

    /// An IPv6 address.
    ///
    /// - Parameters:
    ///   - v6High: The first eight bytes, in host byte order.
    ///   - v6Low: The last eight bytes, in host byte order: 1 for `::1`.
    package init(v6High: UInt64, v6Low: UInt64) {
        isIPv4 = false
        bits = UInt128(v6High) << 64 | UInt128(v6Low)
    }

    /// Parses the canonical notation only, so that every address has exactly one text.
    ///
    /// - Parameter text: Four decimal numbers without leading zeros, or IPv6 by RFC 5952, section 4, without brackets
    ///   and zone id. Nil for anything else.
    package init?(canonical text: String) {
        // The longest notation: eight groups, or a mapped address.
        guard text.utf8.count <= 45, let address = Self.parseV4(text) ?? Self.parseV6(text),
            // The parsers accept more notations; the comparison leaves the canonical one.
            address.description == text
        else { return nil }
        self = address
    }

    /// The canonical notation: dotted decimal numbers, or RFC 5952 (lower case, the longest run of zero groups as `::`,
    /// a mapped address with its dotted IPv4 address).
    package var description: String {
        if isIPv4 { return Self.dotted(UInt32(truncatingIfNeeded: bits)) }
        if bits >> 32 == 0xFFFF { return "::ffff:" + Self.dotted(UInt32(truncatingIfNeeded: bits)) }
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: bits >> (16 * (7 - $0))) }
        func text(_ part: Range<Int>) -> String {
            groups[part].map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard let zeros = Self.longestZeroRun(groups) else { return text(0..<8) }
        return text(0..<zeros.lowerBound) + "::" + text(zeros.upperBound..<8)
    }

    /// Four or sixteen bytes, as certificates have them.
    var bytes: [UInt8] {
        (0..<(isIPv4 ? 4 : 16)).reversed().map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    }

    /// The IPv4 address that a NAT64 gateway connects to, for an address in 64:ff9b::/96 (RFC 6052).
    var translatedIPv4: IPAddress? {
        guard IPNetwork.nat64.contains(self) else { return nil }
        return IPAddress(v4: UInt32(truncatingIfNeeded: bits))
    }

    private static func dotted(_ number: UInt32) -> String {
        "\(number >> 24).\(number >> 16 & 0xFF).\(number >> 8 & 0xFF).\(number & 0xFF)"
    }

    /// The first of the longest runs of two or more zeros (RFC 5952, 4.2).
    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
        var longest = 0..<1
        var start: Int?
        for index in 0...groups.count {
            if index < groups.count, groups[index] == 0 {
                start = start ?? index
            } else if let first = start {
                if index - first > longest.count { longest = first..<index }
                start = nil
            }
        }
        return longest.count > 1 ? longest : nil
    }

    private static func parseV4(_ text: some StringProtocol) -> IPAddress? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let bytes = parts.compactMap { UInt8($0) }
        guard parts.count == 4, bytes.count == 4 else { return nil }
        return IPAddress(v4: bytes.reduce(0) { $0 << 8 | UInt32($1) })
    }

    private static func parseV6(_ text: String) -> IPAddress? {
        var groups: [UInt16] = []
        /// Where `::` stands.
        var gap: Int?
        for part in text.split(separator: ":", omittingEmptySubsequences: false) {
            if part.isEmpty {
                gap = groups.count
            } else if let group = UInt16(part, radix: 16) {
                groups.append(group)
            } else if let v4 = parseV4(part) {
                groups.append(UInt16(truncatingIfNeeded: v4.bits >> 16))
                groups.append(UInt16(truncatingIfNeeded: v4.bits))
            } else {
                return nil
            }
        }
        guard groups.count == 8 || (gap != nil && groups.count < 8) else { return nil }
        if let gap { groups.insert(contentsOf: Array(repeating: 0, count: 8 - groups.count), at: gap) }
        let bits = groups.reduce(UInt128(0)) { $0 << 16 | UInt128($1) }
        return IPAddress(v6High: UInt64(truncatingIfNeeded: bits >> 64), v6Low: UInt64(truncatingIfNeeded: bits))
    }
}
