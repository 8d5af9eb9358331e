import NotificationModel
import ServiceHTTP
import Testing

@testable import NotificationChannels

@Suite("Verifying signatures of webhooks")
struct WebhookVerifierTests {
    // The example of the Standard Webhooks specification.
    private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private static let body = Array(#"{"test": 2432232314}"#.utf8)
    private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    private static let signed: Int64 = 1_614_265_330

    private let verifier: WebhookVerifier

    init() throws {
        let keys = "whsec_" + String(repeating: "QUJD", count: 8) + "\nwhsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        verifier = WebhookVerifier(RequestSigner(keys: try SigningKeyFile.keys(in: keys, of: "keys")))
    }

    private func verifies(
        id: String = Self.id,
        timestamp: String = "\(Self.signed)",
        _ signatures: String,
        body: [UInt8] = Self.body,
        after seconds: Int64 = 0
    ) -> Bool {
        let now = Timestamp(rawValue: (Self.signed + seconds) * 1000)
        return verifier.verifies(id: id, timestamp: timestamp, signatures: signatures, body: body, at: now)
    }

    @Test("one signature of one of the keys is enough, for five minutes", arguments: [0, 300, -300] as [Int64])
    func valid(seconds: Int64) {
        #expect(verifies(Self.signature, after: seconds))
        #expect(verifies("v1,AAAA \(Self.signature)", after: seconds))
    }

    @Test("anything else is not verified")
    func invalid() {
        #expect(!verifies(""))
        #expect(!verifies("v1,AAAA"))
        #expect(!verifies("v2" + Self.signature.dropFirst(2)))
        #expect(!verifies(Self.signature, after: 301))
        #expect(!verifies(Self.signature, after: -301))
        #expect(!verifies(Self.signature, body: Self.body + [0x20]))
        #expect(!verifies(id: "other", Self.signature))
        for timestamp in ["", "now", "\(Self.signed + 1)", "\(Int64.min)", "\(Int64.max)0", "0\(Self.signed)"] {
            #expect(!verifies(timestamp: timestamp, Self.signature), "\(timestamp)")
        }
    }
}
