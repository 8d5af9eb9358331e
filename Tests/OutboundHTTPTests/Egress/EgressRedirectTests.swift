import Testing

@testable import OutboundHTTP

@Suite("Redirects")
struct EgressRedirectTests {
    private static let base = "https://cdn.example.com/a/b/c;d?q"

    @Test(
        "a reference is resolved against the URL that answered",
        arguments: [
            // RFC 3986, 5.4.
            ("g", "/a/b/g"), ("./g", "/a/b/g"), ("g/", "/a/b/g/"), ("/g", "/g"), ("?y", "/a/b/c;d?y"),
            ("g?y", "/a/b/g?y"),
            ("#s", "/a/b/c;d?q"), ("g#s", "/a/b/g"), ("g?y#s", "/a/b/g?y"), (";x", "/a/b/;x"), ("g;x", "/a/b/g;x"),
            ("g;x?y#s", "/a/b/g;x?y"), ("", "/a/b/c;d?q"), (".", "/a/b/"), ("./", "/a/b/"), ("..", "/a/"),
            ("../", "/a/"),
            ("../g", "/a/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"),
            ("../../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/a/b/g."), (".g", "/a/b/.g"),
            ("g..", "/a/b/g.."),
            ("..g", "/a/b/..g"), ("./../g", "/a/g"), ("./g/.", "/a/b/g/"), ("g/./h", "/a/b/g/h"), ("g/../h", "/a/b/h"),
            ("g;x=1/./y", "/a/b/g;x=1/y"), ("g;x=1/../y", "/a/b/y"), ("g?y/./x", "/a/b/g?y/./x"),
            ("g?y/../x", "/a/b/g?y/../x"),
            ("g#s/../x", "/a/b/g"), ("./a:b", "/a/b/a:b"), ("/a:b@c", "/a:b@c"), ("/..//10.0.0.1/", "//10.0.0.1/"),
        ]
    )
    func relative(location: String, target: String) throws {
        let policy = try EgressPolicy()
        let url = try policy.check(location: location, from: policy.check(Self.base))
        #expect(url.text == "https://cdn.example.com" + target)
    }

    @Test(
        "a reference with a host goes there",
        arguments: [
            ("//other.example.com/g", "https://other.example.com/g"),
            ("//other.example.com", "https://other.example.com/"),
            ("https://other.example.com/./g", "https://other.example.com/g"),
            ("HTTPS://8.8.8.8:443?a", "https://8.8.8.8/?a"),
        ]
    )
    func hosts(location: String, text: String) throws {
        let policy = try EgressPolicy()
        #expect(try policy.check(location: location, from: policy.check(Self.base)).text == text)
    }

    @Test(
        "a redirect is judged as strictly as the first URL",
        arguments: [
            ("https://10.0.0.1/", EgressRefusal.Code.addressRefused), ("//127.0.0.1/", .addressRefused),
            ("//[::1]/", .addressRefused), ("//2130706433", .addressRefused),
            ("http://169.254.169.254/latest/", .addressRefused),
            ("//localhost/", .hostRefused), ("https://metadata.google.internal/", .hostRefused),
            ("http://cdn.example.com/a", .schemeRefused), ("http:g", .urlMalformed), ("https:g", .urlMalformed),
            ("https:/g", .urlMalformed), ("file:///etc/passwd", .schemeRefused),
            ("gopher://10.0.0.1:70/", .schemeRefused),
            ("//cdn.example.com:8443/", .portRefused), ("//cdn.example.com:/", .urlMalformed), ("//", .urlMalformed),
            ("///g", .urlMalformed), ("//user@cdn.example.com/", .urlMalformed), ("\\\\10.0.0.1\\", .urlMalformed),
            ("/\\10.0.0.1", .urlMalformed), ("/a b", .urlMalformed), ("/a\r\nb: c", .urlMalformed),
            ("/\t/10.0.0.1", .urlMalformed),
            ("g%", .urlMalformed), ("g%2", .urlMalformed), ("1a:b", .urlMalformed), (":g", .urlMalformed),
            ("/ä", .urlMalformed),
            ("[", .urlMalformed), ("g:h", .schemeRefused),
        ]
    )
    func refused(location: String, code: EgressRefusal.Code) throws {
        let policy = try EgressPolicy()
        let from = try policy.check(Self.base)
        let refusal = #expect(throws: EgressRefusal.self) { try policy.check(location: location, from: from) }
        #expect(refusal?.code == code)
    }

    @Test("a redirect from https to http needs an exception for the origin")
    func downgrade() throws {
        let policy = try EgressPolicy(origins: ["http://plain.example.com"])
        let from = try policy.check(Self.base)
        let plain = try policy.check(location: "http://plain.example.com/g", from: from)
        #expect(plain.text == "http://plain.example.com/g")
        #expect(try policy.check(location: "/h", from: plain).text == "http://plain.example.com/h")
        #expect(throws: EgressRefusal.self) { try policy.check(location: "http://plain.example.com:8080/", from: from) }
        // A reference without a scheme keeps that of the URL.
        #expect(throws: EgressRefusal.self) { try policy.check(location: "//cdn.example.com/", from: plain) }
    }

    @Test("a redirect from an internal origin to another one is judged")
    func fromInternal() throws {
        let policy = try EgressPolicy(internalOrigins: ["http://media:9000"])
        let from = try policy.check("http://media:9000/a")
        #expect(try policy.check(location: "b", from: from).text == "http://media:9000/b")
        for location in ["//media/b", "http://media:9001/", "https://media:9000/", "http://other:9000/"] {
            #expect(throws: EgressRefusal.self) { try policy.check(location: location, from: from) }
        }
    }

    @Test("a resolved URL has at most 2,048 bytes")
    func length() throws {
        let policy = try EgressPolicy()
        let folder = "https://cdn.example.com/" + String(repeating: "a", count: 1_500) + "/"
        let from = try policy.check(folder)
        #expect(throws: Never.self) { try policy.check(location: String(repeating: "b", count: 500), from: from) }
        let refusal = #expect(throws: EgressRefusal.self) {
            try policy.check(location: String(repeating: "b", count: 600), from: from)
        }
        #expect(refusal?.code == .urlMalformed)
    }
}
