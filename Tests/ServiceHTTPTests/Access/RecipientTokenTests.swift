import Foundation
import HTTPTesting
import NotificationModel
import Testing

@testable import ServiceHTTP

@Suite("Recipient tokens")
struct RecipientTokenTests {
    /// Of the key that signed ``signed``, as `openssl ec -pubout -outform DER | base64 -w 0` writes it.
    private static let publicKey =
        "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvBTMOKvjDvMcGBijsyj+VMUH3NxOEvre3HONqtk5sxSHuEGn8CDu8ZzdqY5H3ZfKjMkzqpXhOVuf"
        + "WocVLhrGAg=="
    /// `{"alg":"ES256","typ":"JWT","kid":"shop-2026"}` and `{"sub":"ana","iat":1795000000,"exp":1795003600,"aud":"shop"}`,
    /// signed by OpenSSL.
    private static let signed =
        "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCIsImtpZCI6InNob3AtMjAyNiJ9."
        + "eyJzdWIiOiJhbmEiLCJpYXQiOjE3OTUwMDAwMDAsImV4cCI6MTc5NTAwMzYwMCwiYXVkIjoic2hvcCJ9."
        + "aqDld4Gw9KmKHxqgE1d3Povcuizbiqvz9wq0KX8m5wC0-Tvcj3gxJrepYT-zD7ZSoYWnr1OYRXr98DJtd1GziA"
    /// The same signature in the form that certificates use.
    private static let signedAsDER =
        "MEUCIGqg5XeBsPSpih8aoBNXdz6L3Los24qr8_cKtCl_JucAAiEAtPk73I94MSa3qWE_sw-2UqGFp69TmEV6_fAybXdRs4g"
    private static let secret = TestToken(id: "").secret
    private static let issued: Int64 = 1_795_000_000
    private static let now = Timestamp(rawValue: (issued + 60) * 1_000)

    private static func keys() throws -> RecipientKeys {
        try RecipientKeyFile.parse(
            """
            # application  id         algorithm
            shop           shop-2026  ES256      \(publicKey)

            caf%C3%A9      cafe-1\tHS256 \(Data(secret).base64EncodedString())\r
            """,
            file: "keys"
        )
    }

    private func read(_ text: String, at now: Timestamp = now) throws -> RecipientToken {
        try RecipientToken(text[...], of: Self.keys(), at: now)
    }

    private func refused(
        _ text: String,
        _ refusal: RecipientToken.Refusal,
        at now: Timestamp = now,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: RecipientToken.Refusal.self, sourceLocation: location) {
            try read(text, at: now)
        }
        #expect(error == refusal, "\(text)", sourceLocation: location)
    }

    // MARK: HS256

    private func token(
        header: String = #"{"alg":"HS256","kid":"cafe-1"}"#,
        _ claims: String = claims(),
        _ secret: [UInt8] = secret
    ) -> String {
        TestToken(header: header, secret: secret).signed(claims)
    }

    private static func claims(
        sub: String? = #""ana""#,
        iat: String? = "\(issued)",
        exp: String? = "\(issued + 3_600)",
        _ others: String = ""
    ) -> String {
        let members = [("sub", sub), ("iat", iat), ("exp", exp)].compactMap { name, value in
            value.map { "\"\(name)\":\($0)" }
        }
        return "{\(members.joined(separator: ","))\(others)}"
    }

    // MARK: Accepted

    @Test("A token of either algorithm is good for its sub and the application of its key")
    func accepted() throws {
        let shop = try read(Self.signed)
        #expect(shop.application == "shop" && shop.recipient == "ana")
        let cafe = try read(token())
        #expect(cafe.application == "caf\u{E9}" && cafe.recipient == "ana")
        for audience in [#""caf\u00e9""#, #"["x","caf\u00e9"]"#] {
            #expect(throws: Never.self) { try read(token(Self.claims(#","aud":\#(audience)"#))) }
        }
        #expect(throws: Never.self) { try read(token(Self.claims(exp: "\(Self.issued + 86_400)"))) }
        #expect(throws: Never.self) { try read(token(Self.claims(iat: "\(Self.issued).5", exp: "1.7950036e9"))) }
    }

    // MARK: Signatures

    @Test("The key fixes the algorithm, whatever the token says")
    func algorithms() throws {
        let parts = Self.signed.split(separator: ".").map(String.init)
        for algorithm in ["none", "None", "HS256", "RS256", "PS256", "ES384", "es256", ""] {
            let header = TestToken.base64URL(Data(#"{"alg":"\#(algorithm)","kid":"shop-2026"}"#.utf8))
            refused("\(header).\(parts[1]).\(parts[2])", .algorithm)
            refused("\(header).\(parts[1]).", .algorithm)
            // The public key is known: as the secret of HS256 it must be worth nothing, in any of its forms.
            let der = try #require(Data(base64Encoded: Self.publicKey)).map(\.self)
            let pem = "-----BEGIN PUBLIC KEY-----\n\(Self.publicKey)\n-----END PUBLIC KEY-----\n"
            let signed = "\(header).\(parts[1])"
            for secret in [der, Array(pem.utf8), Array(Self.publicKey.utf8)] {
                refused("\(signed).\(TestToken(header: "", secret: secret).signature(of: signed))", .algorithm)
            }
        }
        refused(token(header: #"{"alg":"ES256","kid":"cafe-1"}"#), .algorithm)
        refused(token(header: #"{"alg":"none","kid":"cafe-1"}"#), .algorithm)
        refused(token(header: #"{"kid":"cafe-1"}"#), .algorithm)
        refused(token(header: #"{"alg":null,"kid":"cafe-1"}"#), .algorithm)
    }

    @Test("A changed token has a wrong signature")
    func signatures() throws {
        let parts = Self.signed.split(separator: ".").map(String.init)
        let other = TestToken.base64URL(Data(#"{"sub":"bob","iat":1795000000,"exp":1795003600,"aud":"shop"}"#.utf8))
        refused("\(parts[0]).\(other).\(parts[2])", .signature)
        refused("\(parts[0]).\(parts[1]).\(Self.signedAsDER)", .signature)
        let zero = TestToken.base64URL(Data(repeating: 0, count: 64))
        for signature in ["", "AA", zero, String(parts[2].dropLast(2)), parts[2] + "AA"] {
            refused("\(parts[0]).\(parts[1]).\(signature)", .signature)
        }
        // A signature in which 0 is R or S verifies everything where nobody checks for it.
        var half = [UInt8](repeating: 0, count: 64)
        half[63] = 1
        refused("\(parts[0]).\(parts[1]).\(TestToken.base64URL(Data(half)))", .signature)
        refused(token(Self.claims(), Self.secret + [1]), .signature)
        refused(token(Self.claims(), []), .signature)
        refused(String(token().dropLast(4)), .signature)
    }

    @Test("A token of no key, or of no form, is unknown")
    func unknown() throws {
        for header in [
            #"{"alg":"HS256"}"#, #"{"alg":"HS256","kid":"cafe-2"}"#, #"{"alg":"HS256","kid":""}"#,
            #"{"alg":"HS256","kid":1}"#, #"{"alg":"HS256","kid":["cafe-1"]}"#, #"["HS256"]"#, "", "x",
            // A second member, which another reader could take.
            #"{"alg":"none","alg":"HS256","kid":"cafe-1"}"#, #"{"kid":"shop-2026","alg":"HS256","kid":"cafe-1"}"#,
            #"{"alg":"HS256","kid":"cafe-1","crit":["b64"],"b64":false}"#, #"{"alg":"HS256","kid":"cafe-1","crit":[]}"#,
        ] {
            refused(token(header: header), .unknown)
        }
        let good = token()
        for text in [
            "", ".", "..", "...", "a.b.c", "\(good).", ".\(good)", "\(good)=", "\(good) ",
            good.replacing(".", with: "+."), String(repeating: "a", count: 5_000),
            token(Self.claims(#","x":"\#(String(repeating: "x", count: 4_096))""#)),
        ] {
            refused(text, .unknown)
        }
        #expect(throws: RecipientToken.Refusal.unknown) {
            try RecipientToken(good[...], of: RecipientKeys([]), at: Self.now)
        }
    }

    // MARK: Claims

    @Test("Claims that are missing or of another type are refused")
    func claims() throws {
        for claims in [
            "", "[]", "{}", Self.claims(sub: nil), Self.claims(sub: "1"), Self.claims(sub: #""""#),
            Self.claims(iat: nil), Self.claims(iat: #""\#(Self.issued)""#), Self.claims(exp: nil),
            Self.claims(exp: "null"), Self.claims(exp: "1e999"), Self.claims(#","nbf":"now""#),
            Self.claims(#","aud":1"#),
            Self.claims(#","aud":null"#), Self.claims(#","sub":"bob""#),
            Self.claims(#","exp":\#(Self.issued + 7_200)"#),
        ] {
            refused(token(claims), .claims)
        }
        for audience in [#""shop""#, #""""#, "[]", #"["shop"]"#, #"["cafe"]"#, "[1]", #""cafe\u0301""#] {
            refused(token(Self.claims(#","aud":\#(audience)"#)), .audience)
        }
    }

    @Test("A token lives from its iat or nbf to its exp, at most 24 hours; a back end's clock may be a minute ahead")
    func life() throws {
        func time(_ seconds: Int64, _ milliseconds: Int64 = 0) -> Timestamp {
            Timestamp(rawValue: (Self.issued + seconds) * 1_000 + milliseconds)
        }
        #expect(throws: Never.self) { try read(token(), at: time(3_599, 999)) }
        refused(token(), .expired, at: time(3_600))
        refused(Self.signed, .expired, at: time(3_600))
        refused(token(), .notYet, at: time(-61))
        #expect(throws: Never.self) { try read(token(), at: time(-60)) }
        refused(token(Self.claims(#","nbf":\#(Self.issued + 200)"#)), .notYet)
        #expect(throws: Never.self) { try read(token(Self.claims(#","nbf":\#(Self.issued + 120)"#))) }
        refused(token(Self.claims(exp: "\(Self.issued + 86_401)")), .life)
        refused(token(Self.claims(iat: "0")), .life)
        // A year's token would otherwise be good on its last day.
        refused(token(Self.claims(iat: "\(Self.issued - 86_400 * 364)")), .life)
        refused(token(Self.claims(exp: "\(Self.issued - 10)")), .expired)
    }

    // MARK: The file

    @Test(
        "A mistake in the file is reported with its line and without the key",
        arguments: [
            ("", "no key"), ("# nothing", "no key"), ("shop k HS256", ":1: must be an application"),
            ("\nshop k HS256 c2VjcmV0 x", ":2: must be an application"), ("%zz k HS256 c2VjcmV0", ":1: the first word"),
            ("%00 k HS256 c2VjcmV0", ":1: the first word"), ("shop k RS256 c2VjcmV0", "ES256 or HS256"),
            ("shop k none c2VjcmV0", "ES256 or HS256"), ("shop k hs256 c2VjcmV0", "ES256 or HS256"),
            ("shop k HS256 c2VjcmV0", ":1: a key of HS256 has 32 to 64 bytes, this one 6"),
            ("shop k HS256 secret!!", ":1: the key must be Base64"),
            ("shop k ES256 c2VjcmV0", ":1: the key of ES256 must be a public key on P-256"),
            ("shop \u{E9} HS256 c2VjcmV0", ":1: a key's id has 1 to 128 characters of ASCII"),
            (
                // P-384, secp256k1, and a point that is not on the curve.
                "shop k ES256 MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEo9lEE3KB+8NMy46cJNy5KPRYFhd+TfoyGRUQC6BP/QsSBXZsXtLB+qQYtndKK"
                    + "Fsgq0K3RfF1fkG1ZBv0JXDAoJqyGLKwfW21CYZx7mBkFEfD0pXO+71bkNwycDj312Hi",
                "on P-256"
            ),
            (
                "shop k ES256 MFYwEAYHKoZIzj0CAQYFK4EEAAoDQgAEO9ni+4ugLx3bil2jIP3BBoYlMEVR8xjkQtwIQXvIuTxAR73eJ6OPmXDwWuB+z"
                    + "D/40uyNMUHrv4c9RJxQ/7f8eA==",
                "on P-256"
            ),
            (
                "shop k ES256 MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEvBTMOKvjDvMcGBijsyj+VMUH3NxOEvre3HONqtk5sxSHuEGn8CDu8Zzd"
                    + "qY5H3ZfKjMkzqpXhOVufWocVLhrGAw==",
                "on P-256"
            ),
        ]
    )
    func wrongFile(text: String, why: String) {
        let error = #expect(throws: ListenerSettingsError.self) { try RecipientKeyFile.parse(text, file: "keys") }
        #expect(error?.key == "http.recipient-keys.file")
        let message = error.map { "\($0)" } ?? ""
        #expect(message.contains(why), "\(message)")
        #expect(!message.contains("c2VjcmV0") && !message.contains("secret"), "\(message)")
    }

    @Test("Keys have different ids; a file that is missing or has too many keys is refused")
    func files() throws {
        let key = Data(Self.secret).base64EncodedString()
        func refusal(_ body: () throws -> RecipientKeys) -> String {
            #expect(throws: ListenerSettingsError.self) { try body() }.map { "\($0)" } ?? ""
        }
        let twice = "shop a HS256 \(key)\nbank a HS256 \(key)"
        #expect(
            refusal { try RecipientKeyFile.parse(twice, file: "keys") }.contains(":2: the key's id is that of line 1")
        )
        let many = (0...RecipientKeyFile.maximumKeys).map { "shop k\($0) HS256 \(key)" }.joined(separator: "\n")
        #expect(refusal { try RecipientKeyFile.parse(many, file: "keys") }.contains("1000"))
        #expect(refusal { try RecipientKeyFile.load(path: "/nowhere/keys") }.contains("/nowhere/keys"))
        #expect("\(try Self.keys())" == "2 keys")
    }

    @Test("what the signer signs is a token of its key, and only a key with a secret signs")
    func signer() throws {
        let folder = try TestFiles()
        let file = try folder.write(
            "shop shop-2026 ES256 \(Self.publicKey)\nbank bank-1 HS256 \(Data(Self.secret).base64EncodedString())\n",
            "keys"
        )
        defer { folder.remove() }
        let signer = try RecipientTokenSigner(keysFile: file, application: "bank")
        let token = try RecipientToken(
            signer.token(for: "ana/\"1\"", at: Self.now)[...],
            of: try RecipientKeyFile.load(path: file),
            at: Self.now
        )
        #expect(token.application == "bank" && token.recipient == "ana/\"1\"")
        #expect(throws: ListenerSettingsError.self) {
            try RecipientTokenSigner(keysFile: file, application: "shop")
        }
        #expect(!"\(signer)".contains(Data(Self.secret).base64EncodedString()))
    }
}
