import NIOCore
import NIOHPACK
import NIOHTTP2
import NotificationModel
import Testing

@testable import APNsSimulator
@testable import PushSimulation

/// Bad days, as values.
struct FaultTests {
    @Test func `an answer of one's choice takes the place of the true one, without an effect`() throws {
        var desk = try Desk()
        try desk.state.faults.set(
            "a",
            Fault(.answer(.init(status: 403, reason: "BadEnvironmentKeyIdInToken", retryAfter: 7)))
        )
        let answer = desk.push()
        #expect((answer?.status, answer?.reason, answer?.retryAfter) == (403, "BadEnvironmentKeyIdInToken", 7))
        #expect(desk.shown.isEmpty)
        #expect(desk.state.faults.clear("a") == true)
        #expect(desk.said() == "200")
    }

    @Test func `silence leaves the effect, and takes the answer`() throws {
        var desk = try Desk()
        try desk.state.faults.set("a", Fault(.silence))
        #expect(desk.said() == "-")
        #expect(desk.shown.count == 1)
        #expect(desk.state.statistics.unanswered == 1)
    }

    @Test func `what ends streams and connections has no effect on devices`() throws {
        var desk = try Desk()
        for effect in [Fault.Effect.refuseStream, .goAway(.shutdown), .cut] {
            try desk.state.faults.set("a", Fault(effect))
            #expect(desk.said() == "-")
        }
        #expect(desk.phone?.receivedCount == 0)
        #expect((desk.state.statistics.refusedStreams, desk.state.statistics.cuts) == (1, 1))
    }

    @Test func `delays add to the round trip, and the first other fault counts`() throws {
        var desk = try Desk()
        desk.state.behaviour.roundTrip = .milliseconds(40)
        try desk.state.faults.set("a", Fault(.delay(.milliseconds(5))))
        try desk.state.faults.set("b", Fault(.delay(.milliseconds(10))))
        try desk.state.faults.set("c", Fault(.answer(.init(.tooManyRequests))))
        try desk.state.faults.set("d", Fault(.cut))
        let outcome = desk.send()
        #expect(outcome.delay == .milliseconds(55))
        guard case .answer(let answer) = outcome.action else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 429)
    }

    @Test func `a fault concerns what it names, for as long as it says`() throws {
        var desk = try Desk()
        let other = String(repeating: "cd", count: 32)
        try desk.register(other, device: "tablet")
        func both() -> [String] { [desk.said(), desk.said(to: other)] }
        let refusal = Fault.Effect.answer(.init(.tooManyRequests))
        try desk.state.faults.set("a", Fault(refusal, device: "tablet"))
        #expect(both() == ["200", "TooManyRequests"])
        try desk.state.faults.set("a", Fault(refusal, token: Desk.token))
        #expect(both() == ["TooManyRequests", "200"])
        try desk.state.faults.set("a", Fault(refusal, environment: .development))
        #expect(both() == ["200", "200"])
        try desk.state.faults.set("a", Fault(refusal, connection: 2))
        #expect(both() == ["200", "200"])
        desk.reconnect()
        #expect(both() == ["TooManyRequests", "TooManyRequests"])
        try desk.state.faults.set("a", Fault(refusal, remaining: 1))
        #expect(both() == ["TooManyRequests", "200"])
    }

    @Test(arguments: [(0.0, 0...0), (0.1, 70...130), (1.0, 1_000...1_000)])
    func `a share of the requests is concerned`(_ share: Double, _ expected: ClosedRange<Int>) throws {
        var desk = try Desk()
        try desk.state.faults.set("a", Fault(.answer(.init(.serviceUnavailable)), share: share))
        let refused = (0..<1_000).count { _ in desk.said() == "ServiceUnavailable" }
        #expect(expected.contains(refused), "\(refused)")
    }

    @Test func `one stream is announced until the first success, and again after a refusal if wanted`() throws {
        var desk = try Desk()
        #expect(desk.connection.streams == 1)
        #expect(desk.send(to: String(repeating: "cd", count: 32)).streams == nil)
        #expect(desk.send().streams == 500)
        #expect(desk.send().streams == nil)
        desk.state.behaviour.streamsAfterRefusal = 1
        #expect(desk.send(to: String(repeating: "cd", count: 32)).streams == 1)
        #expect(desk.send().streams == 500)
        desk.state.behaviour.maximumStreams = 20
        #expect(desk.send().streams == 20)
    }

    @Test func `behaviour outside of its ranges is refused`() {
        let wrong: [(inout ConnectionBehaviour) -> Void] = [
            { $0.maximumStreams = 0 }, { $0.firstStreams = 10_001 }, { $0.streamsAfterRefusal = 0 },
            { $0.streamWindow = 0 }, { $0.streamWindow = 1 << 31 }, { $0.roundTrip = .seconds(-1) },
            { $0.settingsDelay = .seconds(3_601) }, { $0.windowDelay = .nanoseconds(-1) },
        ]
        for change in wrong {
            var behaviour = ConnectionBehaviour()
            change(&behaviour)
            #expect(throws: APNsSimulatorError.self) { try behaviour.check() }
        }
    }

    // MARK: Delayed answers

    private static func item(_ stream: Int, _ milliseconds: Int64) -> DelayedAnswers.Item {
        .init(
            time: .uptimeNanoseconds(0) + .milliseconds(milliseconds),
            stream: HTTP2StreamID(stream),
            answer: ServerAnswer(HPACKHeaders(), body: nil)
        )
    }

    @Test func `answers go out in the order of their times, whatever the order in which they came`() {
        var delayed = DelayedAnswers()
        for (stream, time) in [(1, 40), (3, 50), (5, 10), (7, 40)] as [(Int, Int64)] {
            delayed.add(Self.item(stream, time))
        }
        #expect(delayed.next == .uptimeNanoseconds(0) + .milliseconds(10))
        delayed.cancel(7)
        var taken: [HTTP2StreamID] = []
        while let item = delayed.take(at: .uptimeNanoseconds(0) + .milliseconds(45)) { taken.append(item.stream) }
        #expect(taken == [5, 1])
        #expect(!delayed.isEmpty)
        #expect(delayed.take(at: .uptimeNanoseconds(0) + .milliseconds(50))?.stream == 3)
        #expect(delayed.isEmpty)
    }
}
