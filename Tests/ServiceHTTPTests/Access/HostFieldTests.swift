import Testing

@testable import ServiceHTTP

@Suite("The Host header field")
struct HostFieldTests {
    @Test(
        "has a name or an address, and may have a port",
        arguments: [
            ("localhost", "localhost"), ("localhost:8080", "localhost"), ("a.example:", "a.example"), ("", ""),
            (" \t", ""),
            (" 127.0.0.1:1 ", "127.0.0.1"), ("[::1]", "::1"), ("[::1]:65535", "::1"), ("a%20b", "a%20b"), (":80", ""),
        ]
    )
    func names(value: String, name: String) {
        #expect(HostField(value)?.name == name)
    }

    @Test(
        "is nil for anything else",
        arguments: [
            "a b", "a/b", "a@b", "http://a", "a:b", "a:8080x", "a:1:2", "::1", "[::1", "[::1]a", "[::1]]", "[a/b]",
            "[g::]",
            "ü", "a\u{0}", "a,b c", "a\"b",
        ]
    )
    func broken(value: String) {
        #expect(HostField(value) == nil)
    }
}
