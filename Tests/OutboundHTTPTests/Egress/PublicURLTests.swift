import Testing

@testable import OutboundHTTP

@Suite("Public URLs")
struct PublicURLTests {
    @Test(
        "are allowed in normal form",
        arguments: [
            ("https://example.com", "https://example.com/"),
            ("HTTPS://EXAMPLE.com/A", "https://example.com/A"),
            ("https://example.com.", "https://example.com/"),
            ("https://example.com.:443/", "https://example.com/"),
            ("https://example.com:443/a", "https://example.com/a"),
            ("https://example.com?a=b", "https://example.com/?a=b"),
            ("https://example.com?", "https://example.com/?"),
            ("https://example.com/?", "https://example.com/?"),
            ("https://example.com#a", "https://example.com/"),
            ("https://example.com/a?b#c?d/e", "https://example.com/a?b"),
            ("https://example.com/a?b=c/../d?e", "https://example.com/a?b=c/../d?e"),
            ("https://example.com/a/./b/../c", "https://example.com/a/c"),
            ("https://example.com/../../a/..", "https://example.com/"),
            ("https://example.com/a/b/..", "https://example.com/a/"),
            ("https://example.com/a/b/.", "https://example.com/a/b/"),
            ("https://example.com/...", "https://example.com/..."),
            ("https://example.com//a//b/", "https://example.com//a//b/"),
            ("https://example.com/..//a", "https://example.com//a"),
            ("https://example.com/%2e%2E/%00%0d%0a%C3%A4", "https://example.com/%2e%2E/%00%0d%0a%C3%A4"),
            ("https://example.com/-._~!$&'()*+,;=:@/", "https://example.com/-._~!$&'()*+,;=:@/"),
            ("https://example.com/@10.0.0.1/", "https://example.com/@10.0.0.1/"),
            ("https://example.com/https://10.0.0.1/", "https://example.com/https://10.0.0.1/"),
            // The host ends at the first of `/`, `?` and `#`.
            ("https://example.com#@10.0.0.1/", "https://example.com/"),
            ("https://example.com?@10.0.0.1/", "https://example.com/?@10.0.0.1/"),
            ("https://example.com/#a@b", "https://example.com/"),
            ("https://xn--bcher-kva.com/", "https://xn--bcher-kva.com/"),
            ("https://my_bucket.s3.amazonaws.com/a.png", "https://my_bucket.s3.amazonaws.com/a.png"),
            ("https://_a.example.com/", "https://_a.example.com/"),
            ("https://r3---sn-4g5e.googlevideo.com/", "https://r3---sn-4g5e.googlevideo.com/"),
            ("https://1.example.com/", "https://1.example.com/"),
            ("https://3com.com/", "https://3com.com/"),
            ("https://example.com:443", "https://example.com/"),
            ("https://localhost.example.com/", "https://localhost.example.com/"),
            ("https://mylocal.notlocal.com/", "https://mylocal.notlocal.com/"),
            ("https://home.arpa.com/", "https://home.arpa.com/"),
            // Their addresses are refused later.
            ("https://127.0.0.1.nip.io/", "https://127.0.0.1.nip.io/"),
            ("https://localtest.me/", "https://localtest.me/"),
            ("https://7f000001.rbndr.us/", "https://7f000001.rbndr.us/"),
            ("https://0x7f.example.com/", "https://0x7f.example.com/"),
            ("https://example.0xg.com/", "https://example.0xg.com/"),
            // Literal addresses.
            ("https://8.8.8.8", "https://8.8.8.8/"),
            ("https://1.1.1.1:443/a", "https://1.1.1.1/a"),
            ("https://[2606:4700:4700::1111]", "https://[2606:4700:4700::1111]/"),
            ("https://[2a00:1450:4001:82f::200e]:443/a", "https://[2a00:1450:4001:82f::200e]/a"),
        ]
    )
    func allowed(url: String, text: String) throws {
        let policy = try EgressPolicy()
        let checked = try policy.check(url)
        #expect(checked.text == text)
        #expect(checked.usesTLS && checked.port == 443)
        #expect(try policy.check(text) == checked)
    }

    @Test("the parts of a URL are those of the request")
    func parts() throws {
        let policy = try EgressPolicy(origins: ["http://cdn.example.com:8080", "https://[2606:4700:4700::1111]:8443"])
        let name = try policy.check("http://CDN.Example.com.:8080/a/b?c=d#e")
        #expect(!name.usesTLS && name.host == "cdn.example.com" && name.port == 8_080 && name.address == nil)
        #expect(name.target == "/a/b?c=d")
        #expect("\(name)" == name.origin, "a log of the value has no path and query")
        #expect(name.hostHeader == "cdn.example.com:8080" && name.origin == "http://cdn.example.com:8080")
        let address = try policy.check("https://[2606:4700:4700::1111]:8443/a")
        #expect(address.host == "2606:4700:4700::1111" && address.address?.description == address.host)
        #expect(address.hostHeader == "[2606:4700:4700::1111]:8443")
        #expect(try policy.check("https://[2606:4700:4700::1111]").hostHeader == "[2606:4700:4700::1111]")
        #expect(try policy.check("https://8.8.8.8/").address == IPAddress(v4: 0x0808_0808))
    }

    @Test(
        "an address that is public is allowed for a name",
        arguments: [
            "1.0.0.0", "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0", "168.63.129.15", "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255",
            "172.32.0.0",
            "191.255.255.255",
            "192.0.1.0", "192.0.3.0", "192.31.195.255", "192.31.197.0", "192.52.192.255", "192.52.194.0",
            "192.88.98.255",
            "192.88.100.0", "192.167.255.255", "192.169.0.0", "192.175.47.255", "192.175.49.0", "198.17.255.255",
            "198.20.0.0",
            "198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "2000::", "2001:200::1",
            "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::", "2003::1", "2606:4700:4700::1111",
            "2620:4f:7fff:ffff::1", "2620:4f:8001::1", "2a00:1450:4001:82f::200e", "2c0f::1", "3ffe:ffff::1",
            "3fff:1000::1",
        ]
    )
    func publicAddresses(text: String) throws {
        let address = try #require(IPAddress(canonical: text))
        let policy = try EgressPolicy()
        try policy.check([address], of: policy.check("https://example.com/"))
    }

    @Test(
        "a name with one address that is not public is refused",
        arguments: [
            "0.0.0.0", "0.255.255.255", "10.0.0.0", "100.64.0.0", "127.0.0.1", "169.254.169.254", "172.16.0.0",
            "192.0.0.0", "192.0.0.255", "192.168.255.255", "198.19.255.255", "224.0.0.0", "255.255.255.255", "::",
            "::1",
            "::ffff:8.8.8.8", "64:ff9b::808:808", "2001::1", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
            "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2002:808:808::", "3fff:fff:ffff::", "fe80::1", "fd00:ec2::254",
            "1fff:ffff::", "4000::",
        ]
    )
    func privateAddresses(text: String) throws {
        let address = try #require(IPAddress(canonical: text))
        let policy = try EgressPolicy()
        let url = try policy.check("https://127.0.0.1.nip.io/")
        for addresses in [[address], [IPAddress(v4: 0x0808_0808), address]] {
            let refusal = #expect(throws: EgressRefusal.self) { try policy.check(addresses, of: url) }
            #expect(refusal?.code == .addressRefused)
            #expect(refusal?.detail.contains(text) == true)
        }
    }

    @Test("a name without an address is refused")
    func noAddress() throws {
        let policy = try EgressPolicy(internalOrigins: ["http://media:80"])
        for text in ["https://example.com/", "http://media/"] {
            let url = try policy.check(text)
            #expect(throws: EgressRefusal.self) { try policy.check([], of: url) }
        }
    }
}
