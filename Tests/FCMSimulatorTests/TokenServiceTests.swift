import Foundation
import HTTPTesting
import NotificationModel
import PushSimulation
import ServiceHTTP
import Testing

@testable import FCMSimulator

/// Access tokens, for assertions that OpenSSL's program has signed.
@Suite struct TokenServiceTests {
    private static let now = Timestamp(rawValue: 1_795_000_000_000)

    private final class Desk {
        let files: TestFiles
        let account: SimulatedAccount
        var service = TokenService()
        var generator = SplitMix64(seed: 1)

        init() throws {
            files = try TestFiles()
            account = SimulatedAccount(project: "p", keyID: "k", key: try RSAKeyPair.generate())
            service.add(account)
            service.url = "http://127.0.0.1/token"
            _ = try files.write(String(decoding: account.key.pem(), as: UTF8.self), "key.pem")
        }

        deinit { files.remove() }

        func assertion(_ change: [String: JSONValue] = [:], key: String = "key.pem") throws -> String {
            let seconds = TokenServiceTests.now.rawValue / 1_000
            var claims: [String: JSONValue] = [
                "iss": .string(account.email), "aud": .string(service.url), "iat": .number("\(seconds)"),
                "exp": .number("\(seconds + 3_600)"), "scope": .string(TokenService.scopes[0]),
            ]
            claims.merge(change) { $1 }
            let object = JSONValue.object(claims.map { JSONValue.Member($0.key, $0.value) })
            let header = Base64URL.encode(Array(#"{"alg":"RS256"}"#.utf8))
            let signed = "\(header).\(Base64URL.encode(object.json))"
            _ = try files.run(
                "openssl",
                [
                    "dgst", "-sha256", "-sign", files.path(key), "-out", files.path("signature"),
                    try files.write(signed, "signed"),
                ]
            )
            let signature = try Data(contentsOf: URL(fileURLWithPath: files.path("signature")))
            return "\(signed).\(Base64URL.encode(Array(signature)))"
        }

        /// What is wrong; nil when there is a token.
        func exchange(_ assertion: String, at time: Timestamp = now) -> String? {
            let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
            do throws(TokenService.Refusal) {
                let form = Array("grant_type=\(grant)&assertion=\(assertion)".utf8)
                let token = try service.exchange(form, at: time, using: &generator)
                let seconds = service.lifetime * 1_000
                #expect(service.project(of: token[...], at: time) == "p")
                #expect(service.project(of: token[...], at: time.adding(milliseconds: seconds)) == nil)
                return nil
            } catch {
                return error.description
            }
        }
    }

    @Test func `an assertion of the account is exchanged`() throws {
        let desk = try Desk()
        #expect(try desk.exchange(desk.assertion()) == nil)
        #expect(try desk.exchange(desk.assertion(["aud": .string(TokenService.googleURL)])) == nil)
    }

    @Test func `each wrong part is refused in Google's words`() throws {
        let desk = try Desk()
        let seconds = Self.now.rawValue / 1_000
        #expect(try desk.exchange(desk.assertion(["iss": .string("nobody")]))?.contains("account not found") == true)
        #expect(try desk.exchange(desk.assertion(["aud": .string("x")]))?.contains("audience") == true)
        #expect(try desk.exchange(desk.assertion(["scope": .string("x")]))?.contains("scope") == true)
        let ahead = try desk.assertion(["iat": .number("\(seconds + 601)"), "exp": .number("\(seconds + 4_000)")])
        #expect(desk.exchange(ahead)?.contains("iat and exp") == true)
        #expect(
            try desk.exchange(desk.assertion(["exp": .number("\(seconds + 3_601)")]))?.contains("iat and exp") == true
        )
        #expect(
            try desk.exchange(desk.assertion(), at: Self.now.adding(milliseconds: 4_300_000))?.contains("iat") == true
        )
        _ = try desk.files.run(
            "openssl",
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", desk.files.path("other.pem")]
        )
        #expect(try desk.exchange(desk.assertion(key: "other.pem")) == "Invalid JWT Signature.")
        for text in ["", "a", "a.b.c", "..", "a.b.c.d"] {
            #expect(desk.exchange(text)?.contains("Invalid JWT") == true)
        }
    }

    @Test func `a disabled account gets no token, and its tokens end`() throws {
        let desk = try Desk()
        let token = try desk.service.exchange(
            Array("grant_type=\(TokenService.grantType)&assertion=\(desk.assertion())".utf8),
            at: Self.now,
            using: &desk.generator
        )
        let isFound = desk.service.setDisabled(true, project: "p")
        #expect(isFound && desk.service.project(of: token[...], at: Self.now) == nil)
        #expect(try desk.exchange(desk.assertion())?.contains("account not found") == true)
    }
}
