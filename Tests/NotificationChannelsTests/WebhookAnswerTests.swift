import NotificationConsumer
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import Testing

@testable import NotificationChannels

struct WebhookAnswerTests {
    private static let now = Timestamp(rawValue: 784_111_777_000)
    private static let longest: Int64 = 3_600_000

    private static func result(_ status: UInt, _ retryAfter: String? = nil) -> ChannelResult {
        WebhookAnswer.status(.init(status: status, retryAfter: retryAfter)).result(at: now, longest: longest).result
    }

    @Test(arguments: [200, 201, 202, 204, 299] as [UInt])
    func `2xx is accepted`(_ status: UInt) { #expect(Self.result(status) == .accepted) }

    @Test func `other 4xx are final, with a reason`() {
        for status in [400, 402, 405, 422, 451, 499] as [UInt] {
            #expect(Self.result(status, "5") == .rejected(.rejected), "\(status)")
        }
        #expect(Self.result(410) == .rejected(.unregistered))
        #expect(Self.result(413) == .rejected(.payloadTooLarge))
    }

    @Test(arguments: [401, 403, 404, 408, 409, 425, 429, 500, 501, 503, 599] as [UInt])
    func `what may pass is temporary, with the requested pause`(_ status: UInt) {
        #expect(Self.result(status) == .failed(retryAfter: nil))
        #expect(Self.result(status, "7") == .failed(retryAfter: 7000))
    }

    @Test(arguments: [502, 504] as [UInt])
    func `behind a gateway without an answer the notification may have been accepted`(_ status: UInt) {
        #expect(Self.result(status, "7") == .unanswered(retryAfter: 7000))
    }

    @Test(arguments: OutboundFailure.Code.allCases.map(\.rawValue) + ["address-refused"])
    func `a request that was not sent has certainly not arrived`(_ code: String) {
        var failure = OutboundFailure(code: code, detail: "")
        func result() -> ChannelResult {
            WebhookAnswer.failure(failure).result(at: Self.now, longest: Self.longest).result
        }
        #expect(result() == .failed(retryAfter: nil))
        failure.isSent = true
        #expect(result() == .unanswered(retryAfter: nil))
    }

    @Test(arguments: [300, 301, 302, 303, 304, 307, 308, 399] as [UInt])
    func `a redirect is not followed, and the notification waits for a corrected URL`(_ status: UInt) {
        #expect(Self.result(status) == .failed(retryAfter: nil))
    }

    @Test(arguments: [0, 99, 100, 101, 199, 600, 999] as [UInt])
    func `a status that ends no request, or that HTTP does not have, is temporary`(_ status: UInt) {
        let (kind, result) = WebhookAnswer.status(.init(status: status, retryAfter: "5")).result(
            at: Self.now,
            longest: Self.longest
        )
        #expect(kind == .invalid && result == .unanswered(retryAfter: nil))
    }

    @Test func `Retry-After is seconds or a date, and bounded`() {
        func pause(_ text: String) -> Int64? { RetryAfter.milliseconds(text, at: Self.now, longest: Self.longest) }
        #expect(pause("0") == 0 && pause("120") == 120_000)
        #expect(pause("3599") == 3_599_000 && pause("86400") == 3_600_000)
        #expect(pause("99999999999999999999999") == 3_600_000)
        #expect(pause("Sun, 06 Nov 1994 08:49:47 GMT") == 10_000)
        #expect(pause("Sunday, 06-Nov-94 08:49:47 GMT") == 10_000)
        #expect(pause("Sun Nov  6 08:49:47 1994") == 10_000)
        #expect(pause("Sun, 06 Nov 1994 08:49:37 GMT") == 0)
        #expect(pause("Sun, 06 Nov 1993 08:49:37 GMT") == 0, "a date that has passed")
        #expect(pause("Fri, 31 Dec 9999 23:59:59 GMT") == 3_600_000)
        for text in ["", "-5", "+5", "1.5", "5s", " 5", "soon", "Sun, 06 Nov 1994 25:49:47 GMT", "1 Nov 1994", "１"] {
            #expect(pause(text) == nil, "\(text)")
        }
    }

    @Test func `a year of two digits is at most 50 years ahead`() {
        let now = Timestamp(rfc3339: "2026-11-23T00:00:00Z")!
        #expect(HTTPDate.parse("Sunday, 06-Nov-94 08:49:37 GMT", at: now)?.rfc3339 == "1994-11-06T08:49:37.000Z")
        #expect(HTTPDate.parse("Sunday, 06-Nov-76 08:49:37 GMT", at: now)?.rfc3339 == "2076-11-06T08:49:37.000Z")
        #expect(HTTPDate.parse("Sunday, 06-Nov-77 08:49:37 GMT", at: now)?.rfc3339 == "1977-11-06T08:49:37.000Z")
    }
}
