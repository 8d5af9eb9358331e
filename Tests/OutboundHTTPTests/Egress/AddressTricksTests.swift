import Testing

@testable import OutboundHTTP

/// Tricks of public collections (server-side request forgery), and what an URL parser that mends would make of them.
@Suite("Addresses that are tricks")
struct AddressTricksTests {
    @Test(
        "an IPv4 address that is not public is refused",
        arguments: [
            "https://0.0.0.0/", "https://0.1.2.3/", "https://10.0.0.1/", "https://10.255.255.255/",
            "https://100.64.0.1/", "https://100.100.100.200/latest/meta-data/", "https://100.127.255.255/",
            "https://127.0.0.1/", "https://127.0.0.1:443/", "https://127.127.127.127/", "https://169.254.169.254/",
            "https://169.254.170.2/v2/credentials/", "https://172.16.0.1/", "https://172.31.255.255/",
            "https://192.0.0.8/", "https://192.0.0.9/", "https://192.0.0.192/opc/v1/instance/", "https://192.0.2.1/",
            "https://192.31.196.1/", "https://192.52.193.1/", "https://192.88.99.1/", "https://192.168.0.1/",
            "https://192.175.48.6/", "https://198.18.0.1/", "https://198.19.255.255/", "https://198.51.100.1/",
            "https://203.0.113.1/", "https://224.0.0.1/", "https://239.255.255.255/", "https://240.0.0.1/",
            "https://255.255.255.255/", "http://127.0.0.1:8080/", "http://169.254.169.254/latest/meta-data/",
        ]
    )
    func privateV4(url: String) {
        expectRefusal(url, .addressRefused)
    }

    @Test(
        "an IPv4 address in another notation is refused, public or not",
        arguments: [
            // Decimal, octal, hexadecimal, and mixtures.
            "https://2130706433/", "https://017700000001/", "https://0x7f000001/", "https://0X7F000001/",
            "https://0x7f.0x0.0x0.0x1/", "https://0x7f.1/", "https://0177.0.0.1/", "https://0177.0.0.01/",
            "https://00000177.0.0.1/", "https://127.0.0x1/", "https://0x7f.0.0.1/", "https://134744072/",
            "https://0x08080808/", "https://010.8.8.8/", "https://08.8.8.8/", "https://8.8.8.08/",
            // Short forms.
            "https://127.1/", "https://127.0.1/", "https://0/", "https://00/", "https://0x0/", "https://8.8/",
            "https://10.1/",
            // Overflow, too many parts.
            "https://256.0.0.1/", "https://383.0.0.1/", "https://4294967296/", "https://4294967297/",
            "https://127.0.0.257/", "https://425.510.425.510/", "https://1.2.3.4.5/", "https://127.0.0.1.0/",
            "https://99999999999999999999999999/", "https://127.0.0.4294967296/",
            // Names with a numeric end, a dot at the end, a sign.
            "https://example.1/", "https://example.0x/", "https://example.0xff/", "https://127.0.0.1./",
            "https://8.8.8.8./", "https://0x7f.1./", "https://1/", "https://foo.08/", "https://0x/",
        ]
    )
    func otherV4(url: String) {
        expectRefusal(url, .addressRefused)
    }

    @Test(
        "an IPv6 address that is not public is refused",
        arguments: [
            "[::]", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:8.8.8.8]", "[::ffff:169.254.169.254]", "[::7f00:1]",
            "[::808:808]", "[64:ff9b::7f00:1]", "[64:ff9b::808:808]", "[64:ff9b:1::1]", "[64:ff9b:1:fffe::1]",
            "[100::1]",
            "[100:0:0:1::1]", "[2001::1]", "[2001:0:4136:e378:8000:63bf:3fff:fdd2]", "[2001:1::1]", "[2001:2::1]",
            "[2001:3::1]", "[2001:4:112::1]", "[2001:10::1]", "[2001:20::1]", "[2001:30::1]", "[2001:1ff:ffff::1]",
            "[2001:db8::1]", "[2002:7f00:1::]", "[2002:808:808::1]", "[2620:4f:8000::6]", "[3fff::1]", "[3fff:fff::1]",
            "[4000::1]", "[5f00::1]", "[fc00::1]", "[fd00:ec2::254]", "[fd20:ce::254]", "[fdff::1]", "[fe80::1]",
            "[fe80::a9fe:a9fe]", "[febf::1]", "[fec0::1]", "[ff02::1]", "[ff0e::1]", "[1fff::1]",
            "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]", "[::ffff:0:127.0.0.1]", "[::ffff:0:7f00:1]",
        ]
    )
    func privateV6(host: String) {
        expectRefusal("https://\(host)/", .addressRefused)
        expectRefusal("https://\(host):443/a", .addressRefused)
        expectRefusal("http://\(host):8080/", .addressRefused)
    }

    @Test(
        "an IPv6 address in another notation is refused, public or not",
        arguments: [
            "[0:0:0:0:0:0:0:1]", "[::01]", "[0::1]", "[::0]", "[::ffff:7f00:1]", "[::FFFF:127.0.0.1]",
            "[0:0:0:0:0:ffff:127.0.0.1]", "[::ffff:0x7f.0.0.1]", "[::ffff:127.1]", "[::ffff:0177.0.0.1]",
            "[::127.0.0.1]",
            "[64:ff9b::8.8.8.8]", "[2606:4700:4700:0:0:0:0:1111]", "[2606:4700:4700::01111]", "[2606:4700:4700::AbC]",
            "[2606:4700:4700:0::1111]", "[2606:4700::1::1]", "[2606:4700:4700]", "[1:2:3:4:5:6:7:8:9]",
            "[1:2:3:4:5:6:7::8]", "[2a00:1450:4001:82f::200e%25eth0]", "[fe80::1%25lo]", "[fe80::1%lo]", "[::1%251]",
            "[2a00::%2531]", "[:::1]", "[::1:]", "[:]", "[127.0.0.1]", "[8.8.8.8]", "[localhost]", "[g::1]",
            "[v1.fe80]",
            "[2a00::+1]", "[2a00::-1]", "[2a00::10000]", "[+::1]",
        ]
    )
    func otherV6(host: String) {
        expectRefusal("https://\(host)/", .addressRefused)
    }

    @Test(
        "a name for special use, or with a single label, is refused whatever it resolves to",
        arguments: [
            "localhost", "LOCALHOST", "LocalHost.", "foo.localhost", "localhost.localdomain.local", "printer.local",
            "metadata.google.internal", "Metadata.Google.Internal.", "metadata.azure.internal",
            "instance-data.ec2.internal", "router.home.arpa", "a.test", "a.invalid", "abc.onion", "a.alt", "a.example",
            "a.lan", "a.corp", "metadata", "kubernetes", "com", "com.", "intranet", "ip6-localhost", "xn--a", "0x7f0g",
            "_gateway", "1e100",
        ]
    )
    func names(host: String) {
        expectRefusal("https://\(host)/", .hostRefused)
        expectRefusal("http://\(host):8080/", .hostRefused)
    }

    @Test(
        "what a parser would have to mend is malformed",
        arguments: [
            "", " ", "https", "https:", "https:/", "https://", "https:///", "https:////example.com/", "https://?",
            "https://#", "https://:443/", "https://./", "https://../", "example.com", "/path", "//example.com/", "?a",
            "://example.com/", "https//example.com", "https:example.com", "https:/example.com",
            "https:\\\\example.com/",
            "https:/\\example.com", "https://example.com\\@10.0.0.1/", "https://10.0.0.1\\.example.com/",
            "https://example.com\\", "https://example.com/a\\b", "https://example.com/?a\\b",
            "https://example.com/#a\\b",
            // White space and control characters.
            " https://example.com/", "https://example.com/ ", "https://exa\tmple.com/", "ht\ntps://example.com/",
            "https://example.com/\r\nHost:%20a", "https://example.com/a b", "https://example.com\u{0}.a.com/",
            "https://example.com/\u{7F}", "\u{FEFF}https://example.com/",
            // User info.
            "https://user@example.com/", "https://user:password@example.com/", "https://@example.com/",
            "https://:@example.com/", "https://example.com@10.0.0.1/", "https://10.0.0.1@example.com/",
            "https://1.1.1.1&@2.2.2.2#@3.3.3.3/", "https://a@b@example.com/", "https://example.com:443@10.0.0.1/",
            "https://foo@127.0.0.1:443@example.com/", "https://example.com%40@10.0.0.1/",
            // Hosts with other characters: encoded, enclosed alphanumerics, Unicode dots.
            "https://127%2E0.0.1/", "https://%31%32%37.0.0.1/", "https://example%2ecom/", "https://example.com%2f@a/",
            "https://example.com%00.a.com/", "https://example.com%23.a.com/", "https://%6c%6fcalhost/",
            "https://①②⑦.⓪.⓪.①/", "https://ⓔⓧⓐⓜⓟⓛⓔ.ⓒⓞⓜ/", "https://127。0。0。1/", "https://example．com/",
            "https://１２７.0.0.1/",
            "https://bücher.com/", "https://exa\u{AD}mple.com/", "https://loc\u{2060}alhost/",
            "https://example.com\u{202E}/",
            "https://exam,ple.com/", "https://a$b.com/", "https://a!b.com/", "https://a*.com/", "https://{a}.com/",
            "https://$(id).com/", "https://a;b.com/", "https://a..com/", "https://.example.com/",
            "https://example.com../",
            "https://-a.com/", "https://a-.com/", "https://\(String(repeating: "a", count: 64)).com/",
            "https://\(String(repeating: "a.", count: 130))com/",
            // Ports.
            "https://example.com:/", "https://example.com:+443/", "https://example.com:-1/",
            "https://example.com:0443/",
            "https://example.com:65536/", "https://example.com:99999999999999999999/", "https://example.com:0x1bb/",
            "https://example.com:44 3/", "https://example.com:443:443/", "https://example.com:https/",
            "https://127.0.0.1:443:80/", "https://example.com:４４３/", "https://[2606:4700::1]:/",
            // Brackets.
            "https://[/", "https://[]/", "https://]/", "https://[::1/", "https://::1/", "https://::1]/",
            "https://[::1]a/", "https://[::1].example.com/", "https://a[::1]/", "https://[::1]443/",
            "https://2606:4700::1/",
            "https://example.com/[a]", "https://example.com/?a[]=1", "https://[::1]:443:1/", "https://[::1]]/",
            "https://[[::1]/",
            // Escapes and characters of path, query and fragment.
            "https://example.com/%", "https://example.com/%2", "https://example.com/%zz", "https://example.com/?%",
            "https://example.com/?%g0", "https://example.com/#%", "https://example.com/%+1", "https://example.com/<a>",
            "https://example.com/\"", "https://example.com/a|b", "https://example.com/^", "https://example.com/`",
            "https://example.com/{a}", "https://example.com/ä", "https://example.com/?ä", "https://example.com/#a#b",
            // A scheme that is none.
            "1https://example.com/", "+https://example.com/", "ht_tps://example.com/", "-a:b",
        ]
    )
    func malformed(url: String) {
        expectRefusal(url, .urlMalformed)
    }

    @Test(
        "another scheme is refused",
        arguments: [
            "http://example.com/", "HTTP://example.com/", "http://example.com:443/", "http://8.8.8.8/",
            "file:///etc/passwd", "file://localhost/etc/passwd", "ftp://example.com/", "gopher://127.0.0.1:6379/_INFO",
            "dict://127.0.0.1:11211/", "ldap://127.0.0.1/", "sftp://example.com/", "tftp://example.com/",
            "jar:https://a!/",
            "data:image/png;base64,AAAA", "javascript:alert(1)", "about:blank", "blob:https://example.com/1",
            "ws://example.com/", "wss://example.com/", "unix:/run/docker.sock", "http+unix://%2Frun%2Fdocker.sock/",
            "netdoc:///etc/passwd", "localhost:443", "example.com:443/a", "view-source:https://example.com/",
            "user:pass@a",
            "url:https://example.com/", "httpss://example.com/",
        ]
    )
    func schemes(url: String) {
        expectRefusal(url, .schemeRefused)
    }

    @Test(
        "another port is refused",
        arguments: [
            "https://example.com:0/", "https://example.com:1/", "https://example.com:22/", "https://example.com:80/",
            "https://example.com:444/", "https://example.com:6379/", "https://example.com:8443/",
            "https://example.com:65535/", "https://8.8.8.8:53/", "https://[2606:4700:4700::1111]:8443/",
        ]
    )
    func ports(url: String) {
        expectRefusal(url, .portRefused)
    }

    @Test("a URL has at most 2,048 bytes")
    func length() throws {
        let start = "https://example.com/"
        let longest = start + String(repeating: "a", count: 2_048 - start.utf8.count)
        #expect(try EgressPolicy().check(longest).text == longest)
        expectRefusal(longest + "a", .urlMalformed)
        expectRefusal("https://example.com/#" + String(repeating: "a", count: 2_048), .urlMalformed)
    }

    @Test("a refusal never shows user info, path or query")
    func secrets() throws {
        let policy = try EgressPolicy()
        for url in [
            "https://secret@example.com/", "https://10.0.0.1/secret?secret", "http://example.com/secret",
            "secret:secret@a",
            "https://a.local/secret", "https://a.com:22/?secret", "https://a.com/secret%", "https://a.com/?secret^",
            "https://1.1/secret", "https://a.com:secret/", "https://[secret]/", "https://secret^/", "secret", "/secret",
        ] {
            let refusal = #expect(throws: EgressRefusal.self) { try policy.check(url) }
            #expect(refusal?.description.contains("secret") == false, "\(url)")
        }
    }
}

/// Expects a refusal by the default policy.
func expectRefusal(_ url: String, _ code: EgressRefusal.Code, sourceLocation: SourceLocation = #_sourceLocation) {
    let refusal = #expect(throws: EgressRefusal.self, "\(url)", sourceLocation: sourceLocation) {
        try EgressPolicy().check(url)
    }
    #expect(refusal?.code == code, "\(url): \(refusal?.detail ?? "")", sourceLocation: sourceLocation)
}
