import NotificationDelivery
import NotificationModel
import OutboundHTTP
import Synchronization
import Testing

@testable import NotificationChannels
@testable import NotificationConsumer

/// A channel and what is behind it, for the tests that every channel must pass.
protocol ChannelSubject: AnyObject {
    var channel: any DeliveryChannel & Sendable { get }

    /// What happens to sends that begin from now on.
    func behave(_ behavior: ChannelBehavior) async throws
    /// Waits until so many sends are held: they have begun, and are not answered.
    func holds(_ count: Int) async
    /// Ends the sends that are held, as accepted.
    func release() async
    /// What identifies the sends that arrived, in order; nil if nothing is behind the channel.
    var arrivals: [String]? { get }
    /// The most sends that were held at one time.
    var mostHeld: Int { get }
    func end() async throws
}

enum ChannelBehavior: Sendable {
    case accept, reject, hold
    /// Fails temporarily, and requests this pause in seconds.
    case fail(pause: Int)
}

/// The channel cannot be made to behave so.
struct NotApplicable: Error {}

enum SubjectKind: String, CaseIterable, Sendable {
    case test, webhook, apns, fcm, webpush

    func make() async throws -> any ChannelSubject {
        switch self {
        case .test: TestChannelSubject()
        case .webhook: try await WebhookSubject()
        case .apns: try await APNsSubject()
        case .fcm: try await FCMSubject()
        case .webpush: try await WebPushSubject()
        }
    }
}

/// What a lane relies on. `events` has no channel of its own: the delivered event is the hand-over.
@Suite("Every channel", .timeLimit(.minutes(10)))
struct ConformanceTests {
    private func with(
        _ kind: SubjectKind,
        concurrency: Int = 1000,
        _ test: (any ChannelSubject, Desk) async throws -> Void
    ) async throws {
        let subject = try await kind.make()
        do {
            try await test(subject, Desk(subject.channel, concurrency: concurrency))
        } catch is NotApplicable {}
        try await subject.end()
    }

    @Test(arguments: SubjectKind.allCases)
    func `accepts a notification and its removal, which differ`(_ kind: SubjectKind) async throws {
        try await with(kind) { subject, desk in
            try await subject.behave(.accept)
            #expect(await desk.result(of: try send("a")) == .accepted)
            switch await desk.result(of: try send("a", kind: .remove)) {
            case .accepted?, .removed?: break
            case let other: Issue.record("\(String(describing: other))")
            }
            if let arrivals = subject.arrivals { #expect(Set(arrivals).count == 2) }
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `rejects for good, each attempt alike`(_ kind: SubjectKind) async throws {
        try await with(kind) { subject, desk in
            try await subject.behave(.reject)
            for attempt in 1...3 {
                guard case .rejected = await desk.result(of: try send("a", attempt: attempt)) else {
                    Issue.record("attempt \(attempt) was not rejected")
                    continue
                }
            }
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `fails for now, with the pause that the other side requests`(_ kind: SubjectKind) async throws {
        try await with(kind) { subject, desk in
            try await subject.behave(.fail(pause: 20))
            #expect(await desk.result(of: try send("a")) == .failed(retryAfter: 20_000))
            try await subject.behave(.accept)
            #expect(await desk.result(of: try send("a", attempt: 2)) == .accepted)
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `answers each of many sends once, also the same send begun twice`(_ kind: SubjectKind) async throws {
        try await with(kind) { subject, desk in
            try await subject.behave(.accept)
            let sends = try (0..<300).map { try send("\($0 % 200)", attempt: $0 / 200 + 1) }
            desk.begin(sends)
            let outcomes = await desk.outcomes(300)
            #expect(outcomes.count == 300 && Set(outcomes.map(\.send)) == Set(sends))
            #expect(outcomes.allSatisfy { $0.result == .accepted })
            try await subject.end()
            #expect(await desk.hasNoMore(), "a second answer")
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `the id of a send is the same for every attempt`(_ kind: SubjectKind) async throws {
        try await with(kind) { subject, desk in
            try await subject.behave(.accept)
            for attempt in 1...3 {
                var send = try send("a", occurrence: Timestamp(rawValue: 5), attempt: attempt)
                send.isInDoubt = attempt > 1
                #expect(await desk.result(of: send) == .accepted)
            }
            #expect(await desk.result(of: try send("a", occurrence: Timestamp(rawValue: 6))) == .accepted)
            if let arrivals = subject.arrivals {
                #expect(arrivals.count == 4 && Set(arrivals).count == 2 && Set(arrivals.prefix(3)).count == 1)
            }
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `a cancelled send is not answered, also when the other side answers later`(_ kind: SubjectKind) async throws {
        try await with(kind) { subject, desk in
            try await subject.behave(.hold)
            desk.begin(try (0..<20).map { try send("\($0)") })
            await subject.holds(20)
            desk.cancelAll()
            await subject.release()
            try await subject.behave(.accept)
            #expect(await desk.result(of: try send("after")) == .accepted)
            try await subject.end()
            #expect(await desk.hasNoMore())
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `a cancel immediately after the begin, and one after the answer, do no harm`(_ kind: SubjectKind) async throws
    {
        try await with(kind) { subject, desk in
            try await subject.behave(.hold)
            for number in 0..<50 {
                desk.begin(try send("\(number)"))
                desk.cancelAll()
            }
            try await subject.behave(.accept)
            let replies = Replies(subject.channel)
            #expect(await desk.result(of: try send("answered")) == .accepted)
            replies.cancelAfterAnswer(try send("cancelled after its answer"))
            #expect(await replies.answered == .accepted)
            #expect(await desk.result(of: try send("last")) == .accepted)
            try await subject.end()
            #expect(await desk.hasNoMore())
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `of many sends it has as many at one time as the lane allows, and loses none`(_ kind: SubjectKind) async throws
    {
        try await with(kind, concurrency: 7) { subject, desk in
            try await subject.behave(.hold)
            desk.begin(try (0..<30).map { try send("\($0)") })
            var accepted: Set<ChannelSend> = []
            while accepted.count < 30 {
                await subject.holds(min(7, 30 - accepted.count))
                await subject.release()
                let outcomes = await desk.outcomes(min(7, 30 - accepted.count))
                #expect(outcomes.allSatisfy { $0.result == .accepted && accepted.insert($0.send).inserted })
            }
            #expect(subject.mostHeld == 7)
        }
    }

    @Test(arguments: SubjectKind.allCases)
    func `it can be closed with sends in progress`(_ kind: SubjectKind) async throws {
        try await with(kind) { subject, desk in
            try await subject.behave(.hold)
            desk.begin(try (0..<10).map { try send("\($0)") })
            await subject.holds(10)
            desk.cancelAll()
            await subject.channel.close()
            #expect(await desk.hasNoMore())
        }
    }
}

extension Desk {
    /// Whether no outcome has arrived that was not taken, and none too many.
    func hasNoMore() async -> Bool { await outcomes(0).isEmpty && lateOutcomes == 0 }
}

/// One send outside a lane, to cancel it at any time.
private final class Replies {
    private let channel: any DeliveryChannel
    private let mailbox: SideWorkMailbox<ChannelResult>
    private let wakes: AsyncStream<Void>

    init(_ channel: any DeliveryChannel) {
        self.channel = channel
        let (wakes, wake) = AsyncStream<Void>.makeStream()
        self.wakes = wakes
        mailbox = .init(wake: { wake.yield() }, onLate: { Issue.record("late") })
    }

    private var reply: ChannelReply?

    func cancelAfterAnswer(_ send: ChannelSend) {
        let reply = ChannelReply(to: mailbox, SideWorkID(1, slot: 0))
        channel.begin(Issued(send, of: 0, in: 1), reply)
        channel.flush()
        self.reply = reply
    }

    var answered: ChannelResult? {
        get async {
            for await _ in wakes { break }
            if let reply { channel.cancel(reply) }
            return mailbox.take().first?.outcome
        }
    }
}

// MARK: - The subjects

final class TestChannelSubject: ChannelSubject {
    private typealias Channel = TestChannel<ManualClock>

    private let clock = ManualClock()
    private let switched = SwitchedChannel()

    var channel: any DeliveryChannel & Sendable { switched }
    var arrivals: [String]? { nil }
    var mostHeld: Int { switched.mostHeld }

    func behave(_ behavior: ChannelBehavior) async throws {
        switch behavior {
        case .accept: switched.use(Channel(.init(latency: .zero), clock: clock))
        case .reject: switched.use(Channel(.init(latency: .zero, rejections: 1000), clock: clock))
        case .hold: switched.use(Channel(.init(latency: .seconds(1)), clock: clock))
        case .fail: throw NotApplicable()
        }
    }

    func holds(_ count: Int) async {
        // It has them when `begin` returns.
        #expect(switched.held == count)
    }

    func release() async { clock.advance(by: .seconds(1)) }

    func end() async throws {}
}

/// Passes sends to test channels, which do not change their answers.
private final class SwitchedChannel: DeliveryChannel, Sendable {
    private struct Contents {
        var current: TestChannel<ManualClock>?
        var all: [TestChannel<ManualClock>] = []
        var mostHeld = 0
    }

    private let contents = Mutex(Contents())

    let name = ChannelName.test
    var held: Int { contents.withLock { $0.all.reduce(0) { $0 + $1.kept } } }
    var mostHeld: Int { contents.withLock { $0.mostHeld } }

    func use(_ channel: TestChannel<ManualClock>) {
        contents.withLock { contents in
            contents.current = channel
            contents.all.append(channel)
        }
    }

    func begin(_ send: Issued<ChannelSend>, _ reply: ChannelReply) {
        contents.withLock { $0.current }?.begin(send, reply)
        let held = held
        contents.withLock { $0.mostHeld = max($0.mostHeld, held) }
    }

    func cancel(_ reply: ChannelReply) {
        for channel in contents.withLock({ $0.all }) { channel.cancel(reply) }
    }
}

final class WebhookSubject: ChannelSubject {
    private let endpoint: ScriptedEndpoint
    private let bench: WebhookBench
    private let behavior: Shared<ChannelBehavior>

    private final class Shared<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }

    init() async throws {
        let behavior = Shared(ChannelBehavior.accept)
        self.behavior = behavior
        endpoint = try await ScriptedEndpoint { _ in
            switch behavior.value.withLock({ $0 }) {
            case .accept: .answer(204)
            case .reject: .answer(400)
            case .hold: .hang
            case .fail(let pause): .answer(503, headers: ["Retry-After": "\(pause)"])
            }
        }
        bench = try WebhookBench(endpoint.url)
    }

    var channel: any DeliveryChannel & Sendable { bench.channel }
    var arrivals: [String]? { endpoint.requests.map { $0.headers["webhook-id"] ?? "" } }
    var mostHeld: Int { endpoint.mostActive }

    func behave(_ behavior: ChannelBehavior) async throws { self.behavior.value.withLock { $0 = behavior } }

    func holds(_ count: Int) async { await endpoint.wait { $0.hanging == count } }

    func release() async { endpoint.release() }

    func end() async throws {
        await bench.channel.close()
        try? await endpoint.stop()
    }
}
