import NotificationModel
import ServiceHTTP
import Testing

@testable import NotificationChannels

@Suite("The encryption of Web Push")
struct WebPushEncryptionTests {
    private static func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(Substring(text).utf8)) }

    private static let endpoint = "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV"

    @Test func `the example of RFC 8291`() throws {
        let browser = try TestBrowser(
            Self.endpoint,
            privateKey: Self.bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"),
            authentication: Self.bytes("BTBZMqHH6r4Tts7J_aSIgg")
        )
        let secrets = WebPushSecrets(
            privateKey: try Self.bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
            salt: try Self.bytes("DGv6ra1nlYgDCS1FRnbzlw")
        )
        let plaintext = Array("When I grow up, I want to be a watermelon".utf8)
        let body = try #require(WebPushEncryption.body(plaintext, for: browser.subscription, with: secrets))
        let known = """
            DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_\
            yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
            """
        #expect(Base64URL.encode(body) == known)
        #expect(try browser.read(body) == plaintext)
    }

    @Test func `a body has at most 4,096 bytes, so that a plaintext has 3,993`() throws {
        let browser = try TestBrowser(Self.endpoint)
        let secrets = try #require(WebPushSecrets.random())
        let longest = [UInt8](repeating: 0x78, count: 3993)
        let body = try #require(WebPushEncryption.body(longest, for: browser.subscription, with: secrets))
        #expect(body.count == 4096)
        #expect(try browser.read(body) == longest)
        #expect(WebPushEncryption.body(longest + [1], for: browser.subscription, with: secrets) == nil)
        let empty = try #require(WebPushEncryption.body([], for: browser.subscription, with: secrets))
        #expect(empty.count == 103)
    }

    @Test func `each message has keys of its own, and no other browser reads it`() throws {
        let (browser, other) = (try TestBrowser(Self.endpoint), try TestBrowser(Self.endpoint))
        let bodies = try (0..<2).map { _ in
            let secrets = try #require(WebPushSecrets.random())
            return try #require(WebPushEncryption.body([1], for: browser.subscription, with: secrets))
        }
        #expect(bodies[0][..<86] != bodies[1][..<86])
        #expect(try browser.read(bodies[0]) == [1] && browser.read(bodies[1]) == [1])
        #expect(try other.read(bodies[0]) == nil)
    }

    @Test func `what is no private key, and no point of the curve, gives no body`() throws {
        let browser = try TestBrowser(Self.endpoint)
        let salt = [UInt8](repeating: 1, count: 16)
        let order = try Self.bytes("_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE")
        for key in [[UInt8](repeating: 0, count: 32), order, [1]] {
            let secrets = WebPushSecrets(privateKey: key, salt: salt)
            #expect(WebPushEncryption.body([1], for: browser.subscription, with: secrets) == nil)
        }
        var point = browser.subscription.publicKey
        point[40] ^= 1
        let wrong = try PushSubscription(kept: TestBrowser.token(Self.endpoint, point, browser.authentication))
        let secrets = try #require(WebPushSecrets.random())
        #expect(WebPushEncryption.body([1], for: wrong, with: secrets) == nil)
        #expect("\(secrets) \(browser.subscription)" == "the secrets of a message a subscription of Web Push")
    }
}
