import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("Answers of FCM")
struct FCMAnswerTests {
    private static let token = FCMTarget(FCMSample.token)
    private static let installation = FCMTarget("dQw4w9WgXcQ_-012345678")

    private static func answer(
        _ status: Int,
        _ rpc: String? = nil,
        code: String? = nil,
        details: String = "",
        header: String? = nil
    ) -> FCMAnswer {
        var all = details.isEmpty ? [] : [details]
        if let code {
            all.append(
                #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"\#(code)"}"#
            )
        }
        let rpc = rpc.map { #","status":"\#($0)""# } ?? ""
        let body = #"{"error":{"code":\#(status),"message":"m"\#(rpc),"details":[\#(all.joined(separator: ","))]}}"#
        return FCMAnswer(status: status, body: Array(body.utf8), at: FCMSample.now) {
            $0 == "retry-after" ? header : nil
        }
    }

    private static func violation(_ field: String) -> String {
        #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"\#(field)","description":"d"}]}"#
    }

    private static func quota(_ subject: String) -> String {
        #"{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"subject":"\#(subject)"}]}"#
    }

    // MARK: - The table

    @Test(arguments: [
        (FCMErrorCode.unregistered, 404, FCMAction.retire), (.senderIDMismatch, 403, .retireFromProject),
        (.invalidArgument, 400, .refuseDevice), (.thirdPartyAuthError, 401, .refuseDevice),
        (.quotaExceeded, 429, .delayProject), (.unavailable, 503, .retry), (.internalError, 500, .retry),
        (.unspecifiedError, 500, .retry),
    ])
    func `each error code has its action`(_ code: FCMErrorCode, _ status: Int, _ action: FCMAction) {
        #expect(Self.answer(status, code: code.rawValue).action(for: Self.token) == action)
    }

    @Test func `the details tell whose fault an invalid argument is`() {
        func action(_ field: String) -> FCMAction {
            Self.answer(400, "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", details: Self.violation(field))
                .action(for: Self.token)
        }
        #expect(action("message.token") == .retire && action("message.fid") == .retire)
        #expect(action("message.android.ttl") == .refuse(.rejected))
        let bug = Self.answer(400, "INVALID_ARGUMENT", details: Self.violation("message.data"))
        #expect(bug.action(for: Self.token) == .refuse(.rejected))
    }

    @Test func `an installation that is not found is gone, a token without a code of FCM is not`() {
        let answer = Self.answer(404, "NOT_FOUND")
        #expect(answer.action(for: Self.installation) == .retire)
        #expect(answer.action(for: Self.token) == .refuseDevice)
        // A page of some other server must not retire all devices.
        let page = FCMAnswer(status: 404, body: Array("<html>".utf8), at: FCMSample.now)
        #expect(page.action(for: Self.token) == .stop && page.action(for: Self.installation) == .stop)
    }

    @Test func `a quota is the device's or the project's`() {
        let device = Self.answer(429, "RESOURCE_EXHAUSTED", code: "QUOTA_EXCEEDED", details: Self.quota("device:1"))
        #expect(device.action(for: Self.token) == .delayDevice)
        let project = Self.answer(429, "RESOURCE_EXHAUSTED", details: Self.quota("project:1"))
        #expect(project.action(for: Self.token) == .delayProject)
    }

    @Test(arguments: [
        (200, FCMAction.accept), (400, .refuse(.rejected)), (401, .renewToken), (403, .stop), (408, .retry),
        (413, .refuse(.payloadTooLarge)), (418, .refuse(.rejected)), (425, .retry), (429, .delayProject), (500, .retry),
        (502, .retry), (503, .retry), (302, .retry),
    ])
    func `an answer without a code follows its status`(_ status: Int, _ action: FCMAction) {
        #expect(FCMAnswer(status: status, body: [], at: FCMSample.now).action(for: Self.token) == action)
        #expect(Self.answer(status, "NEW_STATUS", code: "NEW_CODE").action(for: Self.token) == action)
    }

    @Test(arguments: [
        (RPCStatus.unauthenticated, FCMAction.renewToken), (.permissionDenied, .stop), (.unavailable, .retry),
        (.internalError, .retry), (.deadlineExceeded, .retry), (.invalidArgument, .refuse(.rejected)),
        (.failedPrecondition, .refuse(.rejected)), (.resourceExhausted, .delayProject), (.notFound, .refuseDevice),
    ])
    func `a status without a code of FCM has its action`(_ status: RPCStatus, _ action: FCMAction) {
        #expect(Self.answer(500, status.rawValue).action(for: Self.token) == action)
    }

    // MARK: - What follows

    @Test func `each action ends an attempt in one way`() {
        func result(_ action: FCMAction, retryAfter: Int64? = nil, isProven: Bool = true) -> ChannelResult {
            action.result(retryAfter: retryAfter, begun: FCMSample.now, isProven: isProven)
        }
        #expect(result(.accept) == .accepted && result(.retire) == .gone(FCMSample.now))
        #expect(result(.retireFromProject) == .gone(FCMSample.now))
        // Whoever configures the wrong account must not lose all devices.
        #expect(result(.retireFromProject, isProven: false) == .rejected(.rejected))
        #expect(result(.delayProject) == .deferred(retryAfter: 60_000))
        #expect(result(.delayProject, retryAfter: 5_000) == .deferred(retryAfter: 5_000))
        #expect(result(.delayDevice) == .failed(retryAfter: 60_000))
        #expect(
            result(.retry, retryAfter: 7_000) == .failed(retryAfter: 7_000)
                && result(.retry) == .failed(retryAfter: nil)
        )
        #expect(result(.stop) == .deferred(retryAfter: ApplicationStops.pause))
        #expect(result(.refuse(.payloadTooLarge)) == .rejected(.payloadTooLarge))
    }

    @Test func `a message is repeated once, with another access token and within the budget`() {
        var attempt = FCMAttempt(at: FCMSample.now)
        func step(_ action: FCMAction, mayRepeat: Bool = true) -> FCMAttempt.Step {
            attempt.step(after: action, retryAfter: nil, isProven: true) { mayRepeat }
        }
        #expect(step(.renewToken, mayRepeat: false) == .end(.deferred(retryAfter: 60_000)))
        #expect(step(.renewToken) == .again)
        #expect(step(.renewToken) == .end(.deferred(retryAfter: 60_000)))
        #expect(step(.accept) == .end(.accepted))
    }

    @Test func `pauses are read as seconds, dates and durations`() {
        #expect(Self.answer(503, header: "30").retryAfter == 30_000)
        #expect(Self.answer(503, header: "never").retryAfter == nil)
        #expect(Self.answer(503, header: "99999999999999999999").retryAfter == 86_400_000)
        let information = #"{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}"#
        #expect(Self.answer(429, details: information).retryAfter == 1_500)
    }

    @Test(arguments: [
        "", "{}", "[]", "null", #"{"error":null}"#, #"{"error":{"details":[1,null,{"@type":3}]}}"#, "\u{FF}",
        String(repeating: "[", count: 5000), #"{"error":{"details":{"a":1}}}"#,
    ])
    func `what is no error of FCM follows its status`(_ body: String) {
        let answer = FCMAnswer(status: 503, body: Array(body.utf8), at: FCMSample.now)
        #expect(answer.code == nil && answer.action(for: Self.token) == .retry)
    }
}
