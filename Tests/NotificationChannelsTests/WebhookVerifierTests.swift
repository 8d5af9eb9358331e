import NotificationDelivery
import NotificationModel
import OutboundHTTP
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

    /// The header that is refused; nil for none.
    private func refused(
        id: String? = Self.id,
        timestamp: String? = "\(Self.signed)",
        _ signatures: String?,
        body: [UInt8] = Self.body,
        after seconds: Int64 = 0
    ) -> String? {
        let now = Timestamp(rawValue: (Self.signed + seconds) * 1000)
        do throws(WebhookRefusal) {
            try verifier.check(id: id, timestamp: timestamp, signatures: signatures, body: body, at: now)
            return nil
        } catch {
            #expect(!"\(error)".contains("QUJD") && !"\(error)".contains("g0hM9"))
            return error.header
        }
    }

    @Test("one signature of one of the keys is enough, for five minutes", arguments: [0, 300, -300] as [Int64])
    func valid(seconds: Int64) {
        #expect(refused(Self.signature, after: seconds) == nil)
        #expect(refused("v1,AAAA \(Self.signature)", after: seconds) == nil)
    }

    @Test("anything else is refused, with the header that is wrong")
    func invalid() {
        let (signature, timestamp) = ("webhook-signature", "webhook-timestamp")
        #expect(refused(nil) == signature && refused("") == signature)
        #expect(refused("v1,AAAA") == signature)
        #expect(refused("v2" + Self.signature.dropFirst(2)) == signature)
        #expect(refused(Self.signature, after: 301) == timestamp)
        #expect(refused(Self.signature, after: -301) == timestamp)
        #expect(refused(Self.signature, body: Self.body + [0x20]) == signature)
        #expect(refused(id: "other", Self.signature) == signature)
        #expect(refused(id: nil, Self.signature) == "webhook-id")
        for text in ["", "now", "\(Int64.min)", "\(Int64.max)0"] {
            #expect(refused(timestamp: text, Self.signature) == timestamp, "\(text)")
        }
        for text in ["\(Self.signed + 1)", "0\(Self.signed)"] {
            #expect(refused(timestamp: text, Self.signature) == signature, "\(text)")
        }
    }
}
