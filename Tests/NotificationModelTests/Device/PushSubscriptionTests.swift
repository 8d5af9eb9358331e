import NotificationModel
import NotificationState
import Testing

@Suite("Subscriptions of Web Push")
struct PushSubscriptionTests {
    private static let endpoint = "https://push.example.net/push/JzLQ3raZ"
    /// Those of RFC 8291.
    private static let key = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
    private static let secret = "BTBZMqHH6r4Tts7J_aSIgg"
    private static let normal =
        #"{"endpoint":"\#(endpoint)","keys":{"p256dh":"\#(key)","auth":"\#(secret)"}}"#

    private static func token(_ endpoint: String = endpoint, _ key: String = key, _ secret: String = secret) -> String {
        #"{"endpoint":"\#(endpoint)","expirationTime":null,"keys":{"auth":"\#(secret)","p256dh":"\#(key)"}}"#
    }

    private static func problem(_ token: String) -> ModelError? {
        do throws(ModelError) {
            _ = try DeviceRegistration(platform: "webpush", token: token)
            return nil
        } catch { return error }
    }

    @Test("a token is kept in one form, whatever the order, spaces and padding were")
    func normalForm() throws {
        for token in [
            Self.token(), Self.normal, " " + Self.token(Self.endpoint, Self.key + "=", Self.secret + "==") + "\n",
            Self.token(Self.endpoint.replacing("/", with: "\\/")),
        ] {
            let device = try DeviceRegistration(platform: "webpush", token: token)
            #expect(device.token == Self.normal && device.hasToken(Self.normal))
        }
        let subscription = try PushSubscription(token: Self.token())
        #expect(subscription.publicKey.count == 65 && subscription.authentication.count == 16)
        #expect(subscription.endpoint == Self.endpoint && "\(subscription)" == "a subscription of Web Push")
    }

    @Test("an endpoint has at most 2,048 bytes")
    func sizes() throws {
        let longest = Self.endpoint + String(repeating: "a", count: 2_048 - Self.endpoint.utf8.count)
        #expect(try PushSubscription(token: Self.token(longest)).endpoint == longest)
        #expect(Self.problem(Self.token(longest + "a"))?.field == "token.endpoint")
    }

    private static var offTheCurve: String { key.replacing("iw4", with: "iw8") }

    @Test("what is wrong is named, and not quoted")
    func mistakes() {
        let cases: [(String, String)] = [
            ("c1:APA91b", "token"), ("[]", "token"), ("\"x\"", "token"), ("{}", "token.endpoint"),
            (Self.token("http://push.example.net/x"), "token.endpoint"), (Self.token("https://"), "token.endpoint"),
            (Self.token("https://push.example.net/a b"), "token.endpoint"),
            (Self.token("https://push.example.net/é"), "token.endpoint"), (Self.token(""), "token.endpoint"),
            (#"{"endpoint":"\#(Self.endpoint)"}"#, "token.keys.p256dh"),
            (Self.token(Self.endpoint, "AAAA"), "token.keys.p256dh"),
            (Self.token(Self.endpoint, "*"), "token.keys.p256dh"),
            (Self.token(Self.endpoint, Self.offTheCurve), "token.keys.p256dh"),
            // Compressed, and a point of another form.
            (Self.token(Self.endpoint, "A\(Self.key.dropFirst())"), "token.keys.p256dh"),
            (Self.token(Self.endpoint, Self.key, ""), "token.keys.auth"),
            (Self.token(Self.endpoint, Self.key, Self.secret + "AA"), "token.keys.auth"),
            (Self.token(Self.endpoint, Self.key, "BTBZMqHH6r4Tts7J_aSIgh"), "token.keys.auth"),
        ]
        for (token, field) in cases {
            let error = Self.problem(token)
            #expect(error?.reason == .invalid && error?.field == field, "\(token) \(String(describing: error))")
            for secret in ["APA91b", "JzLQ3raZ", "BTBZMqHH", "BCVxsr7N"] {
                #expect(error?.detail.contains(secret) == false)
            }
        }
    }

    @Test("a body and a record are checked alike")
    func registrations() throws {
        func json(_ token: String) -> [UInt8] {
            JSONValue.object([.init("platform", .string("webpush")), .init("token", .string(token))]).json
        }
        #expect(try DeviceRegistration(body: json(Self.token())).token == Self.normal)
        #expect(try DeviceRegistration(json: json(Self.token())).token == Self.normal)
        #expect(throws: ModelError.self) { try DeviceRegistration(body: json("opaque")) }
        #expect(throws: ModelError.self) { try DeviceRegistration(json: json("opaque")) }
    }
}
