import NotificationDelivery
import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("What an attempt at a push does after each answer")
struct APNsAttemptTests {
    private static let begun = Timestamp(rawValue: 1_000)

    private static func answer(_ status: Int, _ reason: String, _ more: String = "") -> APNsAnswer {
        APNsAnswer(status: status, body: Array(#"{"reason":"\#(reason)"\#(more)}"#.utf8))
    }

    private static func step(
        _ attempt: inout APNsAttempt,
        _ answer: APNsAnswer,
        hasOther: Bool = true,
        mayRepeat: Bool = true
    ) -> APNsAttempt.Step {
        attempt.step(after: answer, answer.action, hasOther: hasOther) { mayRepeat }
    }

    @Test func `a token that is gone since a time retires what registered before it`() {
        var attempt = APNsAttempt(to: .production, at: Self.begun)
        let gone = Self.answer(410, "Unregistered", #","timestamp":500"#)
        #expect(Self.step(&attempt, gone) == .end(.gone(Timestamp(rawValue: 500))))
        #expect(Self.step(&attempt, Self.answer(410, "ExpiredToken")) == .end(.gone(Self.begun)))
    }

    @Test func `a token that one environment does not know is gone only when the other one does not know it either`() {
        var attempt = APNsAttempt(to: .production, at: Self.begun)
        let bad = Self.answer(400, "BadDeviceToken")
        #expect(Self.step(&attempt, bad) == .toOtherEnvironment)
        #expect(attempt.environment == .development)
        #expect(Self.step(&attempt, bad) == .end(.gone(Self.begun)))
    }

    @Test func `without credentials for the other environment the device stays registered`() {
        var attempt = APNsAttempt(to: .production, at: Self.begun)
        #expect(
            Self.step(&attempt, Self.answer(400, "BadDeviceToken"), hasOther: false) == .end(.rejected(.unregistered))
        )
    }

    @Test(arguments: ["ExpiredProviderToken", "TooManyProviderTokenUpdates", "UnrelatedKeyIdInToken"])
    func `what a new connection cures is sent once more`(reason: String) {
        var attempt = APNsAttempt(to: .production, at: Self.begun)
        let refused = Self.answer(403, reason)
        #expect(Self.step(&attempt, refused) == .again)
        guard case .end(let result) = Self.step(&attempt, refused) else {
            Issue.record("it is sent a third time")
            return
        }
        switch result {
        case .failed, .deferred: break
        default: Issue.record("\(result)")
        }
    }

    @Test func `without a budget for repeats nothing is repeated`() {
        var attempt = APNsAttempt(to: .production, at: Self.begun)
        guard case .end = Self.step(&attempt, Self.answer(403, "ExpiredProviderToken"), mayRepeat: false) else {
            Issue.record("it is repeated")
            return
        }
    }

    @Test func `every reason ends an attempt after three pushes at most`() {
        for reason in APNsReason.allCases {
            for status in [400, 403, 404, 405, 410, 413, 429, 500, 503] {
                var attempt = APNsAttempt(to: .development, at: Self.begun)
                var pushes = 1
                while case let step = Self.step(&attempt, Self.answer(status, reason.rawValue)), pushes < 10 {
                    if case .end = step { break }
                    pushes += 1
                }
                #expect(pushes <= 3)
            }
        }
    }
}

@Suite("Applications whose credentials APNs refuses")
struct ApplicationStopsTests {
    private static func at(_ seconds: Int64) -> Timestamp { Timestamp(rawValue: seconds * 1000) }

    @Test func `nothing is sent for a stopped application but one push after each pause`() {
        var stops = ApplicationStops(of: "APNs")
        #expect(stops.pause(of: "shop", at: Self.at(0)) == nil)
        let isNew = stops.stop("shop", because: "InvalidProviderToken", at: Self.at(0))
        #expect(isNew && stops.pause(of: "shop", at: Self.at(1)) == 59_000)
        #expect(stops.pause(of: "bank", at: Self.at(1)) == nil)
        #expect(stops.pause(of: "shop", at: Self.at(60)) == nil)
        #expect(stops.pause(of: "shop", at: Self.at(61)) == 59_000)
    }

    @Test func `a reload lets each try at once, and an accepted push resumes it`() {
        var stops = ApplicationStops(of: "APNs")
        _ = stops.stop("shop", because: "a", at: Self.at(0))
        stops.tryAll()
        #expect(stops.pause(of: "shop", at: Self.at(1)) == nil)
        let isRepeated = stops.stop("shop", because: "a", at: Self.at(2))
        #expect(!isRepeated && stops.summary?.contains("shop") == true)
        let isResumed = stops.resume("shop")
        #expect(isResumed && stops.summary == nil)
    }
}
