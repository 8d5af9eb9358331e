/// A block of addresses with a common prefix.
struct IPNetwork: Hashable, Sendable, CustomStringConvertible {
    /// The first address of the block.
    let address: IPAddress
    /// The bits that all addresses of the block have in common: at most 32 for IPv4, 128 for IPv6.
    let prefix: Int

    /// 64:ff9b::/96, the prefix that every NAT64 gateway may use (RFC 6052).
    static let nat64 = v6(0x64, 0xFF9B, prefix: 96)

    /// Parses CIDR notation (RFC 4632, 3.1).
    ///
    /// - Parameter text: A canonical address, `/` and the length of the prefix in decimal digits without leading zeros.
    ///   Nil for anything else, and when the address has bits after the prefix.
    init?(cidr text: String) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")),
            let address = IPAddress(canonical: String(text[..<slash])),
            let prefix = Int(text[text.utf8.index(after: slash)...]),
            (0...Self.width(address)).contains(prefix)
        else { return nil }
        self.init(address, prefix: prefix)
        guard description == text else { return nil }
    }

    /// The block that contains an address.
    private init(_ address: IPAddress, prefix: Int) {
        let first = address.bits & Self.mask(prefix, of: address)
        self.address =
            address.isIPv4
            ? IPAddress(v4: UInt32(truncatingIfNeeded: first))
            : IPAddress(v6High: UInt64(truncatingIfNeeded: first >> 64), v6Low: UInt64(truncatingIfNeeded: first))
        self.prefix = prefix
    }

    /// An IPv4 block by its first bytes.
    static func v4(
        _ first: UInt8,
        _ second: UInt8 = 0,
        _ third: UInt8 = 0,
        _ fourth: UInt8 = 0,
        prefix: Int
    ) -> IPNetwork {
        let bytes = [first, second, third, fourth]
        return IPNetwork(IPAddress(v4: bytes.reduce(0) { $0 << 8 | UInt32($1) }), prefix: prefix)
    }

    /// An IPv6 block by its first groups.
    static func v6(_ first: UInt16, _ second: UInt16 = 0, _ third: UInt16 = 0, prefix: Int) -> IPNetwork {
        let high = UInt64(first) << 48 | UInt64(second) << 32 | UInt64(third) << 16
        return IPNetwork(IPAddress(v6High: high, v6Low: 0), prefix: prefix)
    }

    func contains(_ other: IPAddress) -> Bool {
        other.isIPv4 == address.isIPv4 && other.bits & Self.mask(prefix, of: other) == address.bits
    }

    var description: String { "\(address)/\(prefix)" }

    private static func width(_ address: IPAddress) -> Int { address.isIPv4 ? 32 : 128 }

    /// Ones for the prefix; bits above an IPv4 address are ones too and meet zeros.
    private static func mask(_ prefix: Int, of address: IPAddress) -> UInt128 {
        // The smart shift gives zero for a shift by the whole width.
        UInt128.max << (width(address) - prefix)
    }
}
