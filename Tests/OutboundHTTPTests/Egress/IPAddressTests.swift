import TestSupport
import Testing

@testable import OutboundHTTP

@Suite("IP addresses")
struct IPAddressTests {
    @Test(
        "have one canonical text (RFC 5952)",
        arguments: [
            (0, 0, "::"), (0, 1, "::1"), (0x2001_0DB8_0000_0000, 1, "2001:db8::1"),
            (0x2001_0DB8_0000_0001, 0x0001_0001_0001_0001, "2001:db8:0:1:1:1:1:1"),
            (0x2001_0DB8_0000_0000, 0x0001_0000_0000_0001, "2001:db8::1:0:0:1"),
            (0x2001_0000_0000_0001, 0x0000_0000_0000_0001, "2001:0:0:1::1"),
            (0x0001_0002_0003_0004, 0x0005_0006_0007_0000, "1:2:3:4:5:6:7:0"),
            (0x0001_0002_0003_0004, 0x0005_0006_0000_0000, "1:2:3:4:5:6::"),
            (0x0064_FF9B_0000_0000, 0x0808_0808, "64:ff9b::808:808"),
            (0, 0xFFFF_7F00_0001, "::ffff:127.0.0.1"), (0, 0x7F00_0001, "::7f00:1"),
            (.max, .max, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        ] as [(UInt64, UInt64, String)]
    )
    func canonical(high: UInt64, low: UInt64, text: String) {
        let address = IPAddress(v6High: high, v6Low: low)
        #expect(address.description == text)
        #expect(IPAddress(canonical: text) == address)
    }

    @Test(
        "are not parsed from another text",
        arguments: [
            "", ".", ":", "1", "1.2.3", "1.2.3.4.5", "1.2.3.04", "+1.2.3.4", "1.2.3.256", "1.2.3.4 ", "1.2.3.-0",
            "::1 ", "0:0:0:0:0:0:0:1",
            "::0001", "2001:DB8::1", "2001:db8:0::1", "1::2::3", ":::", "1:::2", "::1::", "1:2:3:4:5:6:7::8",
            "1:2:3:4:5:6:7:8:", "::+1",
            "::1%1", "[::1]", "::1.2.3.4", "::ffff:102:304", "::ffff:1.2.3.4:0", "1.2.3.4::", "١.1.1.1",
            String(repeating: ":", count: 100_000),
        ]
    )
    func others(text: String) {
        #expect(IPAddress(canonical: text) == nil)
    }

    @Test("every address is parsed from its text")
    func roundTrip() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            let v4 = IPAddress(v4: UInt32.random(in: 0...UInt32.max, using: &random))
            #expect(IPAddress(canonical: v4.description) == v4)
            // Zero groups are frequent.
            let groups = (0..<8).map { _ in
                Bool.random(using: &random) ? 0 : UInt64.random(in: 0...0xFFFF, using: &random)
            }
            let (high, low) = (groups[..<4].reduce(0) { $0 << 16 | $1 }, groups[4...].reduce(0) { $0 << 16 | $1 })
            let v6 = IPAddress(v6High: high, v6Low: low)
            #expect(IPAddress(canonical: v6.description) == v6)
        }
    }

    @Test("an IPv4 address differs from the IPv6 address with the same number, and from the mapped one")
    func families() {
        #expect(IPAddress(v4: 1) != IPAddress(v6High: 0, v6Low: 1))
        #expect(IPAddress(v4: 1) != IPAddress(v6High: 0, v6Low: 0xFFFF_0000_0001))
    }

    @Test(
        "a network contains the addresses with its prefix, of its family",
        arguments: [
            ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
            ("10.0.0.0/8", "9.255.255.255", false),
            ("0.0.0.0/0", "255.255.255.255", true), ("0.0.0.0/0", "::", false), ("::/0", "ffff::", true),
            ("::/0", "0.0.0.0", false),
            ("1.2.3.4/32", "1.2.3.4", true), ("1.2.3.4/32", "1.2.3.5", false), ("::1/128", "::1", true),
            ("::1/128", "::2", false),
            ("2001:db8::/33", "2001:db8:7fff::", true), ("2001:db8::/33", "2001:db8:8000::", false),
            ("::/96", "::7f00:1", true),
            ("::ffff:0.0.0.0/96", "::ffff:1.2.3.4", true), ("::ffff:0.0.0.0/96", "1.2.3.4", false),
        ]
    )
    func networks(network: String, address: String, contains: Bool) throws {
        let parsed = try #require(IPNetwork(cidr: network))
        #expect(parsed.description == network)
        #expect(parsed.contains(try #require(IPAddress(canonical: address))) == contains)
    }
}
