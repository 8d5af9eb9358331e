import Logging
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceSupport
import Synchronization
import Testing

@testable import NotificationChannels
@testable import NotificationConsumer

/// A clock that the test moves.
final class ManualClock: Clock, Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Contents {
        var now = ContinuousClock.now
        var sleepers: [(until: Instant, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let contents = Mutex(Contents())

    var now: Instant { contents.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await withCheckedContinuation { continuation in
            let isOver = contents.withLock { contents in
                guard deadline > contents.now else { return true }
                contents.sleepers.append((deadline, continuation))
                return false
            }
            if isOver { continuation.resume() }
        }
    }

    func advance(by time: Duration) {
        let awake = contents.withLock { contents in
            contents.now += time
            let now = contents.now
            defer { contents.sleepers.removeAll { $0.until <= now } }
            return contents.sleepers.filter { $0.until <= now }
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }
}

@Suite("The channel for trying out", .timeLimit(.minutes(10)))
struct TestChannelTests {
    private typealias Channel = TestChannel<ManualClock>

    /// The sends of a lane; the test waits for their wakes.
    private final class Desk {
        let clock = ManualClock()
        let channel: Channel
        private let wakes: AsyncStream<Void>
        private var sends: SideWork<Issued<ChannelSend>, ChannelResult>

        init(_ answers: TestChannelConfiguration, seed: UInt64 = 0) {
            channel = Channel(answers, seed: seed, clock: clock)
            let (wakes, wake) = AsyncStream<Void>.makeStream()
            self.wakes = wakes
            sends = SideWork(
                concurrency: 100_000,
                bound: 100_000,
                mailbox: .init(wake: { wake.yield() }, onLate: { Issue.record("late") })
            )
        }

        func begin(_ send: ChannelSend) {
            sends.add(Issued(send, of: 0, in: 1), within: .seconds(3600))
            sends.begin(at: clock.now) { channel.begin($0, $1) }
        }

        /// The ended sends, by name.
        func take() -> [String: ChannelResult] {
            var results: [String: ChannelResult] = [:]
            for case (let send, .answered(let result)) in sends.take(at: clock.now) {
                results["\(send.requestID)"] = result
            }
            return results
        }

        func next() async -> [String: ChannelResult] {
            for await _ in wakes {
                let results = take()
                if !results.isEmpty { return results }
            }
            return [:]
        }

        func cancelAll() { for reply in sends.cancel(where: { _ in true }) { channel.cancel(reply) } }
    }

    @Test func `it accepts after its latency, in order, not before`() async throws {
        let desk = Desk(.init(latency: .milliseconds(50)))
        desk.begin(try send("a"))
        desk.clock.advance(by: .milliseconds(20))
        desk.begin(try send("b"))
        desk.clock.advance(by: .milliseconds(29))
        #expect(desk.take().isEmpty)
        desk.clock.advance(by: .milliseconds(1))
        #expect(await desk.next() == ["a": .accepted])
        desk.clock.advance(by: .milliseconds(20))
        #expect(await desk.next() == ["b": .accepted])
        // It was idle, and starts again.
        desk.begin(try send("c"))
        desk.clock.advance(by: .milliseconds(50))
        #expect(await desk.next() == ["c": .accepted])
    }

    @Test func `the outcome depends on the send, in about the configured shares`() throws {
        func answers(seed: UInt64, attempt: Int = 1) throws -> [String: ChannelResult] {
            let desk = Desk(.init(latency: .zero, rejections: 100, timeouts: 200), seed: seed)
            for number in 0..<5000 { desk.begin(try send("\(number)", attempt: attempt)) }
            return desk.take()
        }
        func rejected(_ answers: [String: ChannelResult]) -> Set<String> {
            Set(answers.filter { $0.value == .rejected(.rejected) }.keys)
        }
        let first = try answers(seed: 1)
        #expect(try answers(seed: 1) == first)
        // Far more than chance allows on either side.
        #expect((3800...4200).contains(first.count) && (300...500).contains(rejected(first).count))
        let second = try answers(seed: 1, attempt: 2)
        let both = Set(first.keys).intersection(second.keys)
        #expect(rejected(first).intersection(both) == rejected(second).intersection(both), "for good")
        #expect(Set(first.keys) != Set(second.keys), "a time-out is of one attempt")
        #expect(try rejected(answers(seed: 2)) != rejected(first))
    }

    @Test func `a removal is not rejected`() throws {
        let desk = Desk(.init(latency: .zero, rejections: 1000))
        desk.begin(try send("a", kind: .remove))
        desk.begin(try send("b"))
        #expect(desk.take() == ["a": .accepted, "b": .rejected(.rejected)])
    }

    @Test func `a cancelled send is not answered, and uses no memory`() async throws {
        let desk = Desk(.init(latency: .seconds(600)))
        for round in 0..<10 {
            for number in 0..<100 { desk.begin(try send("\(round)-\(number)")) }
            desk.cancelAll()
        }
        #expect(desk.channel.kept < 200)
        desk.begin(try send("last"))
        desk.clock.advance(by: .seconds(600))
        #expect(await desk.next() == ["last": .accepted])
        #expect(desk.channel.kept == 0)
    }
}
