import HTTPTypes
import NotificationModel
import Testing

@testable import ServiceHTTP

@Suite("Tokens and their file")
struct TokenTests {
    private static let plain = "a-plain-token-of-publish"

    private func roles(_ tokens: BearerTokens, _ authorization: String) -> TokenRoles? {
        try? tokens.roles(of: [.authorization: authorization])
    }

    @Test("Roles, plain tokens and digests are read; blank lines and comments are ignored")
    func file() throws {
        let text = """
            # who may do what

            publish \(Self.plain)
            \tquery,publish   sha256:\(String(repeating: "aB", count: 32))\r
            admin AZaz09-._~+/AZaz09==
            """
        let tokens = try TokenFile.parse(text, file: "tokens")
        let publish = try #require(roles(tokens, "Bearer \(Self.plain)"))
        #expect(publish.allow(.publish))
        #expect(!publish.allow(.query))
        #expect(!publish.allow(.admin))
        let admin = try #require(roles(tokens, "bEARER   AZaz09-._~+/AZaz09=="))
        for role in TokenRole.allCases { #expect(admin.allow(role)) }
    }

    @Test("A digest accepts its token")
    func digests() throws {
        // printf %s correct-horse-battery | sha256sum
        let text = "query sha256:\(TokenTests.sha256("correct-horse-battery"))"
        let tokens = try TokenFile.parse(text, file: "tokens")
        #expect(roles(tokens, "Bearer correct-horse-battery") == TokenRoles(.query))
        #expect(roles(tokens, "Bearer sha256:\(TokenTests.sha256("correct-horse-battery"))") == nil)
        // A published test vector: FIPS 180's digest of "abc".
        #expect(TokenTests.sha256("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(
        "Everything except a known token after Bearer is rejected",
        arguments: [
            "", "Bearer", "Bearer ", "Basic a-plain-token-of-publish", "a-plain-token-of-publish",
            "Bearer a-plain-token-of-publis", "Bearer a-plain-token-of-publish2", "Bearer A-plain-token-of-publish",
            "Bearer a-plain-token-of-publish x", "Bearer\ta-plain-token-of-publish",
            "Bearer a-plain-token-of-publish, Bearer a-plain-token-of-publish",
            "Bearer \(String(repeating: "a", count: 30_000))",
        ]
    )
    func wrong(authorization: String) throws {
        let tokens = try TokenFile.parse("publish \(Self.plain)", file: "tokens")
        let error = #expect(throws: Problem.self) { try tokens.roles(of: [.authorization: authorization]) }
        #expect(error?.status == .unauthorized)
        #expect(error?.reason == .unauthenticated)
    }

    @Test(
        "A mistake in the file is reported with its line and without the token",
        arguments: [
            ("", "no token"), ("# nothing\n\n", "no token"), ("publish", ":1: must be roles and a token"),
            ("publish secret-secret-secret x", ":1: must be roles and a token"),
            ("\npublisher secret-secret-secret", ":2: the first word must be roles"),
            ("publish, secret-secret-secret", ":1: the first word must be roles"),
            ("secret-secret-secret publish", ":1: the first word must be roles"),
            ("publish secret", ":1: a token must have 16 to 1024 characters, this one has 6"),
            (
                "publish \(String(repeating: "s", count: 1_025))",
                ":1: a token must have 16 to 1024 characters, this one has 1025"
            ),
            ("publish secret-secret:secret", ":1: a token may contain only letters"),
            ("publish =secret-secret-secret", ":1: a token may contain only letters"),
            ("publish secret-secret-sécret", ":1: a token may contain only letters"),
            ("publish sha256:secret", "64 hexadecimal digits"),
            ("publish sha256:\(String(repeating: "0", count: 63))", "64 hexadecimal digits"),
            (
                "publish secret-secret-secret\n\nadmin secret-secret-secret",
                ":3: repeats the token of line 1"
            ),
        ]
    )
    func wrongFile(text: String, why: String) {
        let error = #expect(throws: ListenerSettingsError.self) { try TokenFile.parse(text, file: "tokens") }
        #expect(error?.key == "http.tokens.file")
        let message = error.map { "\($0)" } ?? ""
        #expect(message.contains(why), "\(message)")
        #expect(!message.contains("secret"), "\(message)")
    }

    @Test("A file that is missing, too large, not UTF-8 or has too many tokens is refused")
    func wrongPath() throws {
        for path in ["/nowhere/tokens", "/"] {
            let error = #expect(throws: ListenerSettingsError.self) { try TokenFile.load(path: path) }
            #expect(error?.description.contains(path) == true)
        }
        let many = (0...TokenFile.maximumTokens).map { "publish token-number-0000\($0)" }.joined(separator: "\n")
        let error = #expect(throws: ListenerSettingsError.self) { try TokenFile.parse(many, file: "tokens") }
        #expect(error?.description.contains("1000") == true)
    }

    static func sha256(_ text: String) -> String {
        var digits = ""
        Array(text.utf8).withUnsafeBytes { bytes in
            BearerTokens.withDigest(of: bytes) { digest in
                for byte in digest { digits += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
            }
        }
        return digits
    }
}
