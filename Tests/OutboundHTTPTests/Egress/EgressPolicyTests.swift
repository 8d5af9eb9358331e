import Testing

@testable import OutboundHTTP

@Suite("The egress policy")
struct EgressPolicyTests {
    private func code(_ policy: EgressPolicy, _ url: String) -> EgressRefusal.Code? {
        do throws(EgressRefusal) {
            _ = try policy.check(url)
            return nil
        } catch {
            return error.code
        }
    }

    @Test("allowed hosts exclude all others")
    func allowedHosts() throws {
        let policy = try EgressPolicy(
            allowedHosts: ["CDN.example.com.", "*.media.example.com", "8.8.8.8", "[2606:4700:4700::1111]"],
            origins: ["https://other.example.com:8443"]
        )
        for url in [
            "https://cdn.example.com/", "https://a.media.example.com/", "https://a.b.media.example.com/",
            "https://8.8.8.8/", "https://[2606:4700:4700::1111]/", "https://other.example.com:8443/",
        ] {
            #expect(code(policy, url) == nil, "\(url)")
        }
        for url in [
            "https://example.com/", "https://a.cdn.example.com/", "https://media.example.com/",
            "https://xmedia.example.com/", "https://media.example.com.evil.com/", "https://other.example.com/",
            "https://1.1.1.1/",
        ] {
            #expect(code(policy, url) == .hostRefused, "\(url)")
        }
        #expect(code(policy, "https://10.0.0.1/") == .addressRefused)
        #expect(code(policy, "https://cdn.example.com:8443/") == .portRefused)
    }

    @Test("denied hosts outweigh allowed hosts and origins")
    func deniedHosts() throws {
        let policy = try EgressPolicy(
            allowedHosts: ["*.example.com"],
            deniedHosts: ["*.bad.example.com", "evil.example.com", "*.org"],
            origins: ["http://evil.example.com"]
        )
        #expect(code(policy, "https://a.example.com/") == nil)
        #expect(code(policy, "https://bad.example.com/") == nil)
        for url in [
            "https://a.bad.example.com/", "https://evil.example.com/", "https://EVIL.example.com./",
            "http://evil.example.com/", "https://wikipedia.org/",
        ] {
            #expect(code(policy, url) == .hostRefused, "\(url)")
        }
    }

    @Test("denied networks are refused as literals and for names")
    func deniedNetworks() throws {
        let policy = try EgressPolicy(
            deniedNetworks: ["161.26.0.0/16", "8.8.0.0/16", "2606:4700::/32"],
            origins: ["http://example.com"],
            allowsNAT64: true
        )
        for url in [
            "https://161.26.0.16/", "https://8.8.8.8/", "https://[2606:4700::1]/", "https://[64:ff9b::808:808]/",
        ] {
            #expect(code(policy, url) == .addressRefused, "\(url)")
        }
        #expect(code(policy, "https://8.9.0.1/") == nil)
        #expect(code(policy, "https://[2606:4701::1]/") == nil)
        let url = try policy.check("http://example.com/")
        for text in ["161.26.0.16", "8.8.4.4", "2606:4700:ffff::1", "10.0.0.1"] {
            let address = try #require(IPAddress(canonical: text))
            #expect(throws: EgressRefusal.self) { try policy.check([address], of: url) }
        }
    }

    @Test("everything can be denied by networks")
    func denyAll() throws {
        let policy = try EgressPolicy(deniedNetworks: ["0.0.0.0/0", "::/0"])
        #expect(code(policy, "https://8.8.8.8/") == .addressRefused)
        #expect(code(policy, "https://[2606:4700::1]/") == .addressRefused)
    }

    @Test("a further origin is an exception for its scheme, host and port only")
    func origins() throws {
        let policy = try EgressPolicy(origins: [
            "http://plain.example.com", "https://cdn.example.com:8443", "http://8.8.8.8:81",
        ])
        for url in [
            "http://plain.example.com/", "http://plain.example.com:80/", "https://plain.example.com/",
            "https://cdn.example.com:8443/", "https://cdn.example.com/", "http://8.8.8.8:81/",
        ] {
            #expect(code(policy, url) == nil, "\(url)")
        }
        #expect(code(policy, "http://plain.example.com:81/") == .schemeRefused)
        #expect(code(policy, "http://cdn.example.com:8443/") == .schemeRefused)
        #expect(code(policy, "https://cdn.example.com:8444/") == .portRefused)
        #expect(code(policy, "http://a.plain.example.com/") == .schemeRefused)
        let url = try policy.check("http://plain.example.com/")
        #expect(throws: EgressRefusal.self) { try policy.check([IPAddress(v4: 0x7F00_0001)], of: url) }
    }

    @Test("the host and addresses of an internal origin are not judged, its URLs are parsed as strictly")
    func internalOrigins() throws {
        let policy = try EgressPolicy(
            allowedHosts: ["example.com"],
            deniedHosts: ["media"],
            deniedNetworks: ["127.0.0.0/8"],
            internalOrigins: ["http://media:9000", "http://127.0.0.1:8080", "https://[::1]:8443", "https://localhost"]
        )
        for text in [
            "http://media:9000/a", "http://MEDIA.:9000/a", "http://127.0.0.1:8080/", "https://[::1]:8443/",
            "https://localhost/",
        ] {
            let url = try policy.check(text)
            try policy.check([IPAddress(v4: 0x7F00_0001), IPAddress(v6High: 0, v6Low: 1)], of: url)
        }
        #expect(code(policy, "http://media:9001/") == .hostRefused)
        #expect(code(policy, "https://media:9000/") == .hostRefused)
        #expect(code(policy, "http://127.0.0.1/") == .addressRefused)
        #expect(code(policy, "http://127.1:8080/") == .addressRefused)
        #expect(code(policy, "https://[0:0:0:0:0:0:0:1]:8443/") == .addressRefused)
        #expect(code(policy, "http://user@media:9000/") == .urlMalformed)
        #expect(code(policy, "http://media:9000/a b") == .urlMalformed)
    }

    @Test("an address behind NAT64 is judged by the IPv4 address in it, if the setting allows the prefix")
    func nat64() throws {
        let policy = try EgressPolicy(allowsNAT64: true)
        #expect(code(policy, "https://[64:ff9b::808:808]/") == nil)
        for host in [
            "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::", "64:ff9b:1::808:808",
            "64:ff9b::1:808:808",
            "::ffff:8.8.8.8",
        ] {
            #expect(code(policy, "https://[\(host)]/") == .addressRefused, "\(host)")
        }
        #expect(code(try EgressPolicy(), "https://[64:ff9b::808:808]/") == .addressRefused)
    }

    @Test(
        "an entry that is not a host is rejected with its list and text",
        arguments: [
            "", ".", "*", "*.", "**.a.com", "a.*.com", "*a.com", "a b", "https://a.com", "a.com/", "a.com:443", "::1",
            "1.1",
        ]
    )
    func wrongHosts(entry: String) {
        let allowed = #expect(throws: EgressPolicyError.self) { try EgressPolicy(allowedHosts: [entry]) }
        #expect(allowed?.list == .allowedHosts && allowed?.entry == entry)
        let denied = #expect(throws: EgressPolicyError.self) { try EgressPolicy(deniedHosts: ["a.com", entry]) }
        #expect(denied?.list == .deniedHosts && denied?.entry == entry)
    }

    @Test(
        "a network that is not canonical is rejected",
        arguments: [
            "", "/", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.1/8",
            "10/8",
            "2001:db8::/129", "2001:DB8::/32", "2001:db8::1/32", "[2001:db8::]/32", "a.com/8", "10.0.0.0/8/8",
            " 10.0.0.0/8",
            "10.0.0.0/99999999999999999999", "010.0.0.0/8",
        ]
    )
    func wrongNetworks(entry: String) {
        let error = #expect(throws: EgressPolicyError.self) { try EgressPolicy(deniedNetworks: [entry]) }
        #expect(error?.list == .deniedNetworks && error?.entry == entry)
    }

    @Test(
        "an origin has only scheme, host and port",
        arguments: [
            "", "a.com", "//a.com", "ftp://a.com", "https://a.com/", "https://a.com/a", "https://a.com?",
            "https://a.com#",
            "https://user@a.com", "https://*.a.com", "https://a.com:0", "https://a.com:", "https://127.1",
            "https://a.com/../",
        ]
    )
    func wrongOrigins(entry: String) {
        let outer = #expect(throws: EgressPolicyError.self) { try EgressPolicy(origins: [entry]) }
        #expect(outer?.list == .origins && outer?.entry == entry)
        let inner = #expect(throws: EgressPolicyError.self) { try EgressPolicy(internalOrigins: [entry]) }
        #expect(inner?.list == .internalOrigins && inner?.entry == entry)
    }

    @Test(
        "an entry that could never match is rejected and points to the setting of each purpose",
        arguments: ["localhost", "media", "media.local", "10.0.0.1", "[::1]", "metadata.google.internal"]
    )
    func neverPublic(host: String) {
        let allowed = #expect(throws: EgressPolicyError.self) { try EgressPolicy(allowedHosts: [host]) }
        #expect(allowed?.description.contains("`egress.internal-origins` for media") == true)
        let origin = #expect(throws: EgressPolicyError.self) { try EgressPolicy(origins: ["http://\(host):8080"]) }
        #expect(origin?.description.contains("`webhook.internal` for the webhook") == true)
        #expect(throws: EgressPolicyError.self) { try EgressPolicy(allowedHosts: ["*.internal"]) }
        #expect(throws: Never.self) { try EgressPolicy(internalOrigins: ["http://\(host):8080"]) }
    }
}
