import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("Answers of push services")
struct WebPushAnswerTests {
    private static let begun = Timestamp(rawValue: 7)

    private static func result(_ status: Int, body: String = "", pause: Int64? = nil, isProven: Bool = true)
        -> ChannelResult
    {
        WebPushAnswer(status: status, body: Array(body.utf8)).action
            .result(retryAfter: pause, begun: begun, isProven: isProven)
    }

    private static let results: [(Int, ChannelResult)] = [
        (200, .accepted), (201, .accepted), (202, .accepted), (204, .accepted),
        (301, .rejected(.rejected)), (307, .rejected(.rejected)), (400, .rejected(.rejected)),
        (401, .rejected(.rejected)), (403, .rejected(.rejected)), (404, .gone(begun)), (405, .rejected(.rejected)),
        (408, .failed(retryAfter: nil)), (410, .gone(begun)), (413, .rejected(.payloadTooLarge)),
        (418, .rejected(.rejected)), (425, .failed(retryAfter: nil)), (429, .failed(retryAfter: nil)),
        (500, .failed(retryAfter: nil)), (502, .unanswered(retryAfter: nil)), (503, .failed(retryAfter: nil)),
        (504, .unanswered(retryAfter: nil)), (599, .failed(retryAfter: nil)), (100, .failed(retryAfter: nil)),
        (999, .failed(retryAfter: nil)),
    ]

    @Test(arguments: results)
    func `each status has a result`(_ status: Int, _ result: ChannelResult) {
        #expect(Self.result(status) == result)
    }

    @Test(arguments: [401, 403])
    func `a refused key is no attempt, until the push service has accepted it once`(_ status: Int) {
        #expect(Self.result(status, isProven: false) == .deferred(retryAfter: 60_000))
        #expect(Self.result(status, pause: 5, isProven: false) == .deferred(retryAfter: 5))
    }

    @Test func `a refused token is no attempt, whatever was accepted`() {
        for reason in ["BadJwtToken", "ExpiredJwtToken"] {
            #expect(Self.result(403, body: #"{"reason":"\#(reason)"}"#) == .deferred(retryAfter: 60_000))
        }
        #expect(Self.result(403, body: #"{"reason":"VapidPkHashMismatch"}"#) == .rejected(.rejected))
        for body in ["", "{", "[]", #"{"reason":7}"#, #"{"reason":"a b"}"#] {
            #expect(WebPushAnswer(status: 403, body: Array(body.utf8)).reason == nil)
        }
    }

    @Test func `a pause is passed on`() {
        #expect(Self.result(429, pause: 30_000) == .failed(retryAfter: 30_000))
        #expect(Self.result(503, pause: 30_000) == .failed(retryAfter: 30_000))
    }
}
