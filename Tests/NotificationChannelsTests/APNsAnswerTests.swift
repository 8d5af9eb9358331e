import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("Answers of APNs")
struct APNsAnswerTests {
    private static let statuses = Array(-1...700)

    /// What Apple's page "Handling notification responses from APNs" says of each, and what others have found.
    private static let table: [(status: Int, reason: String, action: APNsAction)] = [
        (400, "BadCollapseId", .refuse(.rejected)), (400, "BadDeviceToken", .tryOtherEnvironment),
        (400, "BadExpirationDate", .refuse(.rejected)), (400, "BadMessageId", .refuse(.rejected)),
        (400, "BadPriority", .refuse(.rejected)), (400, "BadTopic", .refuse(.rejected)),
        (400, "BadDate", .refuse(.rejected)), (400, "DeviceTokenNotForTopic", .refuseDevice),
        (400, "DuplicateHeaders", .refuse(.rejected)), (400, "IdleTimeout", .reconnect),
        (400, "InvalidPushType", .refuse(.rejected)), (400, "MissingDeviceToken", .refuse(.rejected)),
        (400, "MissingTopic", .refuse(.rejected)), (400, "MissingPushType", .refuse(.rejected)),
        (400, "PayloadEmpty", .refuse(.rejected)), (400, "TopicDisallowed", .stop),
        (400, "MissingChannelId", .refuse(.rejected)), (400, "BadChannelId", .refuse(.rejected)),
        (400, "ChannelNotRegistered", .retireBroadcastChannel), (400, "CannotCreateChannelConfig", .refuse(.rejected)),
        (403, "FeatureNotEnabled", .refuse(.rejected)), (403, "BadCertificate", .stop),
        (403, "BadCertificateEnvironment", .stop), (403, "ExpiredProviderToken", .renewToken),
        (403, "Forbidden", .refuse(.rejected)), (403, "InvalidProviderToken", .stop),
        (403, "MissingProviderToken", .stop), (403, "UnrelatedKeyIdInToken", .reconnect),
        (403, "BadEnvironmentKeyIdInToken", .stop), (403, "BadEnvironmentKeyInToken", .stop),
        (404, "BadPath", .refuse(.rejected)), (405, "MethodNotAllowed", .refuse(.rejected)),
        (410, "ExpiredToken", .retire), (410, "Unregistered", .retire),
        (413, "PayloadTooLarge", .refuse(.payloadTooLarge)), (429, "TooManyProviderTokenUpdates", .keepToken),
        (429, "TooManyRequests", .delayDevice), (500, "InternalServerError", .retry),
        (503, "ServiceUnavailable", .retry), (503, "Shutdown", .reconnect),
    ]

    private func answer(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> APNsAnswer {
        APNsAnswer(status: status, body: Array(body.utf8)) { headers[$0] }
    }

    @Test func `every reason has its action`() {
        #expect(Set(Self.table.map(\.reason)) == Set(APNsReason.allCases.map(\.rawValue)))
        for (status, reason, action) in Self.table {
            let body = #"{"reason":"\#(reason)"}"#
            #expect(answer(status, body).action == action, "\(reason)")
        }
    }

    @Test func `every status with every reason, known or not, gives an action and an outcome`() {
        for status in Self.statuses {
            for reason in APNsReason.allCases.map(Optional.some) + [nil] {
                let action = APNsAction(status: status, reason: reason)
                #expect((action == .accept) == (200..<300).contains(status), "\(status)")
                #expect((action.result(retryAfter: nil) == .accepted) == (action == .accept))
                #expect(!action.explanation.isEmpty)
                if action.closesConnection { #expect(action.repeatsAtOnce) }
            }
        }
    }

    @Test(arguments: [
        "", "{}", "[]", "{", "null", #"{"reason":5}"#, #"{"reason":null}"#, #"{"reason":""}"#, #"{"reason":"News"}"#,
        "\u{0}",
    ])
    func `without a known reason the class of the status decides`(_ body: String) {
        let expected: [(Int, APNsAction)] = [
            (200, .accept), (201, .accept), (299, .accept), (400, .refuse(.rejected)), (401, .stop),
            (402, .refuse(.rejected)),
            (403, .stop), (404, .refuse(.rejected)), (405, .refuse(.rejected)), (408, .retry), (410, .retire),
            (413, .refuse(.payloadTooLarge)), (425, .retry), (429, .delayDevice), (499, .refuse(.rejected)),
            (500, .retry),
            (502, .retry), (503, .retry), (599, .retry), (100, .retry), (302, .retry), (0, .retry), (999, .retry),
        ]
        for (status, action) in expected { #expect(answer(status, body).action == action, "\(status)") }
    }

    @Test func `outcomes tell a device that is gone, a push that is wrong and a time to wait apart`() {
        func result(_ reason: APNsReason, _ pause: Int64? = nil) -> ChannelResult {
            APNsAction(status: 0, reason: reason).result(retryAfter: pause)
        }
        #expect(result(.unregistered) == .rejected(.unregistered))
        #expect(result(.badDeviceToken) == .rejected(.unregistered), "when the other environment refused it, too")
        #expect(result(.deviceTokenNotForTopic) == .rejected(.rejected))
        #expect(result(.payloadTooLarge) == .rejected(.payloadTooLarge))
        #expect(result(.serviceUnavailable) == .failed(retryAfter: nil))
        #expect(result(.serviceUnavailable, 900_000) == .failed(retryAfter: 900_000))
        #expect(result(.tooManyRequests) == .failed(retryAfter: APNsAction.pauseOfDevice))
        // What waits for an operator is no attempt.
        #expect(result(.invalidProviderToken) == .deferred(retryAfter: APNsAction.pauseWithoutCredentials))
        #expect(result(.expiredProviderToken) == .deferred(retryAfter: APNsAction.pauseWithoutCredentials))
    }

    @Test func `whom an answer concerns`() {
        func subject(_ reason: APNsReason) -> APNsAction.Subject { APNsAction(status: 0, reason: reason).subject }
        #expect(subject(.unregistered) == .device && subject(.badPriority) == .request)
        #expect(subject(.badCertificate) == .credentials && subject(.shutdown) == .provider)
        #expect(APNsAction(status: 200, reason: nil).subject == .none)
    }

    @Test func `since when a token is gone is a whole number`() {
        let gone = answer(410, #"{"reason":"Unregistered","timestamp":1795251600000}"#)
        #expect(gone.timestamp == Timestamp(rawValue: 1_795_251_600_000))
        for timestamp in ["1.5", "\"soon\"", "null", "99999999999999999999"] {
            let answer = answer(410, #"{"reason":"Unregistered","timestamp":\#(timestamp)}"#)
            #expect(answer.timestamp == nil && answer.action == .retire)
        }
    }

    @Test func `a hint is whole seconds, and bounded`() {
        func pause(_ text: String?) -> Int64? { answer(503, "", text.map { ["retry-after": $0] } ?? [:]).retryAfter }
        #expect(pause("7") == 7000 && pause("0") == 0 && pause(nil) == nil)
        #expect(pause("99999999999999999999") == 86_400_000 && pause("86400") == 86_400_000)
        for text in ["", "-1", "1.5", "soon", "+7", " 7", "７"] { #expect(pause(text) == nil, "\(text)") }
    }

    @Test func `ids are read, and long or disguised reasons are bounded`() {
        let headers = ["apns-id": "0d8f4e6c-0000-4000-8000-000000000001", "apns-unique-id": "u"]
        let answer = answer(200, "", headers)
        #expect(answer.id == headers["apns-id"] && answer.uniqueID == "u" && answer.reasonText == nil)
        #expect(self.answer(400, #"{"reason":"\#(String(repeating: "x", count: 129))"}"#).reasonText == nil)
        #expect(self.answer(400, #"{"reason":"a\u001b[2J"}"#).reasonText == #"a\u{1b}[2J"#)
        let long = #"{"reason":"Unregistered","x":"\#(String(repeating: "x", count: 5000))"}"#
        #expect(self.answer(410, long).reason == nil && self.answer(410, long).action == .retire)
    }
}
