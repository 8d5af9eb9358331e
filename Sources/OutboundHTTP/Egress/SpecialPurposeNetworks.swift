/// The addresses that are not on the public internet, by the IANA special-purpose address registries.
///
/// One public address is among them: that of a provider's host agent, which a guest reaches in every network of it.
///
/// IPv4 allows what the registry calls globally reachable, less anycast and relay blocks. IPv6 allows only global
/// unicast, 2000::/3, less special blocks, so that future uses of other space are refused.
enum SpecialPurposeNetworks {
    private typealias Entry = (network: IPNetwork, name: String)

    private static let v4: [Entry] = [
        (.v4(0, prefix: 8), "this network (RFC 791)"),
        (.v4(10, prefix: 8), "private (RFC 1918)"),
        (.v4(100, 64, prefix: 10), "shared by carrier NAT (RFC 6598)"),
        (.v4(127, prefix: 8), "loopback (RFC 1122)"),
        (.v4(168, 63, 129, 16, prefix: 32), "the host agent of Azure"),
        (.v4(169, 254, prefix: 16), "link-local (RFC 3927)"),
        (.v4(172, 16, prefix: 12), "private (RFC 1918)"),
        // Two anycast addresses in it are globally reachable; no media live there.
        (.v4(192, 0, 0, prefix: 24), "protocol assignments (RFC 6890)"),
        (.v4(192, 0, 2, prefix: 24), "documentation (RFC 5737)"),
        (.v4(192, 31, 196, prefix: 24), "AS112 anycast (RFC 7535)"),
        (.v4(192, 52, 193, prefix: 24), "AMT anycast (RFC 7450)"),
        (.v4(192, 88, 99, prefix: 24), "6to4 relay anycast (RFC 7526)"),
        (.v4(192, 168, prefix: 16), "private (RFC 1918)"),
        (.v4(192, 175, 48, prefix: 24), "AS112 anycast (RFC 7534)"),
        (.v4(198, 18, prefix: 15), "benchmarking (RFC 2544)"),
        (.v4(198, 51, 100, prefix: 24), "documentation (RFC 5737)"),
        (.v4(203, 0, 113, prefix: 24), "documentation (RFC 5737)"),
        (.v4(224, prefix: 4), "multicast (RFC 1112)"),
        (.v4(240, prefix: 4), "reserved or broadcast (RFC 1112)"),
    ]

    private static let globalUnicast = IPNetwork.v6(0x2000, prefix: 3)

    private static let v6: [Entry] = [
        // Includes Teredo, benchmarking, AMT, AS112 and ORCHID.
        (.v6(0x2001, prefix: 23), "protocol assignments (RFC 2928)"),
        (.v6(0x2001, 0x0DB8, prefix: 32), "documentation (RFC 3849)"),
        (.v6(0x2002, prefix: 16), "6to4 (RFC 3056)"),
        (.v6(0x2620, 0x004F, 0x8000, prefix: 48), "AS112 anycast (RFC 7534)"),
        (.v6(0x3FFF, prefix: 20), "documentation (RFC 9637)"),
    ]

    /// Says why an address is not public.
    ///
    /// - Returns: What follows the address in a sentence, such as `is private (RFC 1918)`; nil for a public address.
    static func reason(against address: IPAddress) -> String? {
        if !address.isIPv4, !globalUnicast.contains(address) {
            return "is outside \(globalUnicast), the public IPv6 addresses"
        }
        let entries = address.isIPv4 ? v4 : v6
        return entries.first { $0.network.contains(address) }.map { "is in \($0.network), \($0.name)" }
    }
}
