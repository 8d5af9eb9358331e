import HTTPTypes
import NotificationModel
import Testing

@testable import ServiceHTTP

@Suite("Tokens and their file")
struct TokenTests {
    private static let plain = "a-plain-token-of-publish"

    private func caller(_ tokens: BearerTokens, _ authorization: String) -> Caller? {
        try? AccessTokens(bearers: tokens).caller(
            of: [.authorization: authorization],
            at: Timestamp(rawValue: 1_795_000_000_000)
        )
    }

    private func roles(_ tokens: BearerTokens, _ authorization: String) -> Set<TokenRole>? {
        caller(tokens, authorization).map { caller in Set(TokenRole.allCases.filter(caller.may)) }
    }

    @Test("Roles, plain tokens and digests are read; blank lines and comments are ignored")
    func file() throws {
        let text = """
            # who may do what

            publish \(Self.plain)
            \tquery,signal   sha256:\(String(repeating: "aB", count: 32))\r
            admin AZaz09-._~+/AZaz09==
            """
        let tokens = try TokenFile.parse(text, file: "tokens")
        #expect(roles(tokens, "Bearer \(Self.plain)") == [.publish])
        #expect(roles(tokens, "bEARER   AZaz09-._~+/AZaz09==") == Set(TokenRole.allCases))
    }

    @Test("A token is good for the applications of its line, for all with *, and without any for the default one")
    func applications() throws {
        let text = """
            publish shop,caf%C3%A9,a%2Cb  token-of-some-of-them
            publish *                     token-of-all-of-them
            publish %2A                   token-of-the-star-app
            publish                       token-of-the-default
            """
        let tokens = try TokenFile.parse(text, file: "tokens", defaultApplication: "home")
        let names = ["shop", "caf\u{E9}", "a,b", "*", "home", "shopping", "cafe\u{301}", ""]
        func good(_ token: String) -> [String] {
            names.filter { caller(tokens, "Bearer \(token)")?.applications.contains($0) == true }
        }
        // Swift's == would call two spellings of a letter equal.
        #expect(good("token-of-some-of-them").map { Array($0.utf8) } == names.prefix(3).map { Array($0.utf8) })
        #expect(good("token-of-all-of-them").count == names.count)
        #expect(good("token-of-the-star-app") == ["*"])
        #expect(good("token-of-the-default") == ["home"])
        let identities = ["token-of-some-of-them", "token-of-all-of-them"].map {
            caller(tokens, "Bearer \($0)")?.identity
        }
        #expect(Set(identities).count == 2)
    }

    @Test("A digest accepts its token")
    func digests() throws {
        // printf %s correct-horse-battery | sha256sum
        let text = "query sha256:\(TokenTests.sha256("correct-horse-battery"))"
        let tokens = try TokenFile.parse(text, file: "tokens")
        #expect(roles(tokens, "Bearer correct-horse-battery") == [.query])
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
        let error = #expect(throws: Problem.self) {
            try AccessTokens(bearers: tokens).caller(
                of: [.authorization: authorization],
                at: Timestamp(rawValue: 1_795_000_000_000)
            )
        }
        #expect(error?.status == .unauthorized)
        #expect(error?.reason == .unauthenticated)
    }

    @Test(
        "A mistake in the file is reported with its line and without the token",
        arguments: [
            ("", "no token"), ("# nothing\n\n", "no token"), ("publish", ":1: must be roles, applications and a token"),
            ("publish shop secret-secret-secret x", ":1: must be roles, applications and a token"),
            ("publish shop, secret-secret-secret", ":1: the second of three words must be applications"),
            ("publish sh%zzop secret-secret-secret", ":1: the second of three words must be applications"),
            ("publish *,shop secret", ":1: a token must have 16"),
            (
                "publish \(Array(repeating: "a", count: 33).joined(separator: ",")) secret-secret-secret",
                "at most 32 are allowed"
            ),
            ("\npublisher secret-secret-secret", ":2: the first word must be roles"),
            ("publish, shop secret-secret-secret", ":1: the first word must be roles"),
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
            let error = #expect(throws: ListenerSettingsError.self) {
                try TokenFile.load(path: path, defaultApplication: "default")
            }
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
