import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// The lifecycle with a channel that answers later, and sends in doubt after a restart.
struct SendingTests {
    private static let rules = LifecycleRules(
        retention: 7 * 24 * 3600 * 1000,
        channels: ChannelRules(.test)
    )

    private static func bench() -> Bench { Bench(rules) }

    private static func kinds(_ bench: Bench) -> [String] {
        bench.sends.map { send in
            switch send.kind {
            case .deliver: "deliver \(send.requestID) \(send.attempt)"
            case .remove: "recall \(send.attempt)"
            }
        }
    }

    @Test func `a notification is delivered when the channel has accepted it, not before`() throws {
        var bench = Self.bench()
        #expect(bench.apply(request("a")).isEmpty)
        #expect(Self.kinds(bench) == ["deliver a 1"] && bench.center.inFlight == 1)
        let events = try bench.answer(.accepted, 5)
        #expect(events.summary == ["delivered a!"] && events[0].channel == "test")
        #expect(bench.entry(key("order"))?.delivered?.at == at(5) && bench.center.inFlight == 0)
    }

    @Test func `sends of one key never overlap: the newest request waits, and those in between close immediately`()
        throws
    {
        var bench = Self.bench()
        bench.apply(request("a"))
        #expect(bench.apply(request("b"), 1).isEmpty)
        #expect(bench.apply(request("c"), 2).summary == ["superseded b!"])
        #expect(bench.fire(3).isEmpty && bench.sends.count == 1)
        #expect(try bench.answer(.accepted, 4).summary == ["delivered a!"])
        bench.fire(4)
        #expect(Self.kinds(bench) == ["deliver a 1", "deliver c 1"])
        let last = try bench.answer(.accepted, 5)
        #expect(last.summary == ["delivered c!"] && last[0].replaces == id("a"))
    }

    @Test func `a failed send is retried after increasing pauses, and finally fails`() throws {
        var rules = Self.rules
        rules.retry.attempts = 14
        var bench = Bench(rules)
        bench.apply(request("a"))
        var now: Int64 = 0
        var pauses: [Int64] = []
        for _ in 1..<rules.retry.attempts {
            #expect(try bench.answer(.failed(retryAfter: nil), now).isEmpty)
            let due = try #require(bench.entry(key("order"))?.due)
            #expect(bench.fire(due.rawValue - at(1).rawValue).isEmpty)
            pauses.append(due.rawValue - at(now).rawValue)
            now = due.rawValue - at(0).rawValue
            bench.fire(now)
        }
        let longest: [Int64] = (0..<13).map { min(300_000, 1000 << Int64($0)) }
        #expect(zip(pauses, longest).allSatisfy { ($1 / 2...$1).contains($0) }, "\(pauses)")
        #expect(Set(zip(pauses, longest).map { Double($0) / Double($1) }).count > 10, "with jitter")
        let end = try bench.answer(.failed(retryAfter: nil), now)
        #expect(end.summary == ["failed a!"] && end[0].reason == .gaveUp)
        #expect(bench.sends.count == rules.retry.attempts)
    }

    @Test func `a failed send is given up when the next attempt would be too late, counted from the first`() throws {
        var rules = Self.rules
        rules.retry.age = 100_000
        var bench = Bench(rules)
        bench.apply(request("a"))
        var now: Int64 = 0
        var events: [DeliveryEvent] = []
        while events.isEmpty, now < 1_000_000 {
            events = try bench.answer(.failed(retryAfter: nil), now)
            guard let due = bench.entry(key("order"))?.due else { break }
            now = due.rawValue - at(0).rawValue
            bench.fire(now)
        }
        #expect(events.summary == ["failed a!"] && events[0].reason == .gaveUp)
        // Five pauses of at most 31 seconds in total fit; the next one may.
        #expect((50_000..<100_000).contains(now) && (7...8).contains(bench.sends.count), "\(now) \(bench.sends.count)")
    }

    @Test func `a send whose next attempt would come after its expiration expires at that time`() throws {
        var bench = Self.bench()
        bench.apply(request("a", expiration: at(90_000)))
        try bench.answer(.failed(retryAfter: 3_000_000))
        #expect(bench.entry(key("order"))?.due == at(90_000))
        #expect(bench.fire(90_000).summary == ["expired a!"])
    }

    @Test func `a removal requests once to withdraw the send in flight, and its event follows the outcome`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        #expect(bench.apply(removal("r", key("order"), .pending), 1).isEmpty)
        bench.apply(removal("s", key("order"), .pending), 2)
        #expect(bench.withdrawn == [bench.sends[0].id])
        // A withdrawn send counts as failed; a send that has begun may still be accepted.
        var begun = bench
        #expect(try bench.answer(.failed(retryAfter: nil), 3).summary == ["cancelled a!"])
        #expect(try begun.answer(.accepted, 3).summary.first == "delivered a!")
    }

    @Test func `a removal of delivered notifications does not withdraw a send`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        bench.apply(removal("r", key("order"), .delivered), 1)
        #expect(bench.withdrawn.isEmpty)
    }

    @Test func `a longer pause requested by the channel is used`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        try bench.answer(.failed(retryAfter: 20_000))
        let due = try #require(bench.entry(key("order"))?.due)
        #expect((at(20_000)..<at(25_000)).contains(due), "never earlier, and with jitter")
    }

    @Test func `between two attempts a newer request supersedes immediately`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        try bench.answer(.failed(retryAfter: nil))
        #expect(bench.apply(request("b"), 10).summary == ["superseded a!"])
        #expect(Self.kinds(bench).last == "deliver b 1")
    }

    @Test func `if a send fails while a newer request waits, it is superseded and the newer one is sent`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        bench.apply(request("b"), 1)
        let events = try bench.answer(.failed(retryAfter: nil), 2)
        #expect(events.summary == ["superseded a!"] && events[0].by == id("b"))
        bench.fire(2)
        #expect(Self.kinds(bench).last == "deliver b 1")
    }

    // MARK: - Without an answer

    @Test func `a delivery after an attempt without an answer is in doubt; after a refused one it is not`() throws {
        for (result, isInDoubt) in [
            (ChannelResult.unanswered(retryAfter: nil), true), (.failed(retryAfter: nil), false),
            (.deferred(retryAfter: nil), false),
        ] {
            var bench = Self.bench()
            bench.apply(request("a"))
            try bench.answer(result)
            bench.fire(1000)
            #expect(bench.sends.count == 2 && bench.sends[1].isInDoubt == isInDoubt)
            // A later answer does not make the first attempt certain.
            try bench.answer(.failed(retryAfter: nil), 1000)
            bench.fire(3000)
            let events = try bench.answer(.accepted, 3000)
            #expect(events.summary == ["delivered a!"] && events[0].inDoubt == isInDoubt)
        }
    }

    @Test func `a notification that is removed after an attempt without an answer is recalled`() throws {
        var between = Self.bench()
        between.apply(request("a"))
        try between.answer(.unanswered(retryAfter: nil))
        let events = between.apply(removal("r", key("order"), .pending), 10)
        #expect(events.summary == ["cancelled a!"] && events[0].inDoubt)
        #expect(Self.kinds(between).last == "recall 1")
        var during = Self.bench()
        during.apply(request("a"))
        during.apply(removal("r", key("order"), .pending), 1)
        let later = try during.answer(.unanswered(retryAfter: nil), 2)
        #expect(later.summary == ["cancelled a!"] && later[0].inDoubt)
        #expect(Self.kinds(during).last == "recall 1")
    }

    @Test func `a notification that expires or is given up after an attempt without an answer is recalled`() throws {
        var expired = Self.bench()
        expired.apply(request("a", expiration: at(90_000)))
        try expired.answer(.unanswered(retryAfter: 3_000_000))
        #expect(expired.entry(key("order"))?.due == at(90_000))
        let end = expired.fire(90_000)
        #expect(end.summary == ["expired a!"] && end[0].inDoubt)
        #expect(Self.kinds(expired) == ["deliver a 1", "recall 1"])
        var rules = Self.rules
        rules.retry.attempts = 1
        var givenUp = Bench(rules)
        givenUp.apply(request("a"))
        let last = try givenUp.answer(.unanswered(retryAfter: nil), 1)
        #expect(last.summary == ["failed a!"] && last[0].inDoubt && last[0].reason == .gaveUp)
        #expect(Self.kinds(givenUp).last == "recall 1")
    }

    @Test func `a recall without an answer is repeated, and nothing else`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        try bench.answer(.accepted)
        bench.apply(removal("r", key("order"), .delivered), 1)
        #expect(try bench.answer(.unanswered(retryAfter: nil), 2).isEmpty)
        bench.fire(1002)
        #expect(Self.kinds(bench) == ["deliver a 1", "recall 1", "recall 2"] && bench.sends.last?.isInDoubt == false)
    }

    @Test func `what the channel did not try is not counted as an attempt`() throws {
        var rules = Self.rules
        rules.retry.attempts = 2
        var bench = Bench(rules)
        bench.apply(request("a"))
        var now: Int64 = 0
        func next() throws {
            now = try #require(bench.entry(key("order"))?.due).rawValue - at(0).rawValue
            bench.fire(now)
        }
        for _ in 0..<5 {
            #expect(try bench.answer(.deferred(retryAfter: nil), now).isEmpty)
            try next()
        }
        #expect(try bench.answer(.failed(retryAfter: nil), now).isEmpty)
        try next()
        for _ in 0..<5 {
            #expect(try bench.answer(.deferred(retryAfter: nil), now).isEmpty)
            try next()
        }
        #expect(try bench.answer(.failed(retryAfter: nil), now).summary == ["failed a!"])
        #expect(bench.sends.map(\.attempt) == [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    }

    @Test func `a permanent rejection closes as failed, with the channel's reason`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        let events = try bench.answer(.rejected(.unregistered))
        #expect(events.summary == ["failed a!"] && events[0].reason == .unregistered)
        #expect(bench.entry(key("order"))?.isIdle == true)
    }

    @Test func `the event of a removal during a send depends on the outcome`() throws {
        var accepted = Self.bench()
        accepted.apply(request("a"))
        #expect(accepted.apply(removal("r", key("order"), .pending), 1).isEmpty)
        #expect(try accepted.answer(.accepted, 2).summary == ["delivered a!", "cancellation.missed r"])
        var failed = Self.bench()
        failed.apply(request("a"))
        failed.apply(removal("r", key("order"), .pending), 1)
        let events = try failed.answer(.failed(retryAfter: nil), 2)
        #expect(events.summary == ["cancelled a!"] && events[0].by == id("r"))
    }

    @Test func `removing a delivered notification recalls it, and a newer request waits for the recall`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        try bench.answer(.accepted)
        #expect(bench.apply(removal("r", key("order"), .delivered), 1).summary == ["removed a"])
        #expect(Self.kinds(bench).last == "recall 1")
        bench.apply(request("b"), 2)
        #expect(bench.sends.count == 2)
        try bench.answer(.accepted, 3)
        bench.fire(3)
        #expect(Self.kinds(bench).last == "deliver b 1")
    }

    @Test func `a removal of a notification in flight recalls it after its delivery`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        #expect(bench.apply(removal("r", key("order"), .all), 1).isEmpty)
        let events = try bench.answer(.accepted, 2)
        #expect(events.map(\.name) == [.delivered, .removed])
        #expect(Self.kinds(bench).last == "recall 1")
        #expect(bench.entry(key("order"))?.delivered == nil)
    }

    @Test func `what is removed during a newer send is recalled when that send fails`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        try bench.answer(.accepted)
        bench.apply(request("b"), 1)
        #expect(bench.apply(removal("r", key("order"), .all), 2).summary == ["removed a"])
        let events = try bench.answer(.failed(retryAfter: nil), 3)
        #expect(events.summary == ["cancelled b!"])
        #expect(Self.kinds(bench) == ["deliver a 1", "deliver b 1", "recall 1"])
    }

    @Test func `a repeated or late outcome has no effect`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        let first = try #require(bench.sends.last)
        try bench.answer(.failed(retryAfter: nil), 1)
        bench.fire(1001)
        let isLate = try bench.center.apply(.accepted, to: first, at: at(1002))
        let events = bench.center.takeEffects().events
        #expect(!isLate && events.isEmpty && bench.center.inFlight == 1)
    }

    // MARK: - After a restart

    /// Another owner of the same partition, after everything was committed.
    private static func restarted(_ bench: inout Bench, firedThrough: Int64, at now: Int64) throws -> Bench {
        try bench.commit()
        var next = Bench(rules)
        next.store = bench.store
        next.offset = bench.offset
        next.center = try PartitionCenter(
            rules: rules,
            limits: .init(),
            store: bench.store,
            zones: zones.database,
            firedThrough: at(firedThrough),
            at: at(now)
        )
        return next
    }

    @Test func `a notification due up to firedThrough is sent again with the same ids`() throws {
        var bench = Self.bench()
        bench.apply(request("a", interval(60)))
        var crashed = bench
        crashed.fire(60_000)
        var next = try Self.restarted(&bench, firedThrough: 60_500, at: 3_600_000)
        next.fire(3_600_000)
        #expect(Self.kinds(next) == ["deliver a 1"] && next.sends.last?.isInDoubt == true)
        #expect(crashed.sends.map(\.id) == next.sends.map(\.id))
        let events = try next.answer(.accepted, 3_600_001)
        #expect(events.summary == ["delivered a!"] && events[0].inDoubt && events[0].occurrence == at(60_000))
    }

    @Test func `a notification due up to firedThrough that has expired is removed from where it may be shown`() throws {
        var bench = Self.bench()
        bench.apply(request("a", interval(60), expiration: at(61_000)))
        var next = try Self.restarted(&bench, firedThrough: 60_500, at: 3_600_000)
        let events = next.fire(3_600_000)
        #expect(events.summary == ["expired a!"] && events[0].inDoubt && Self.kinds(next) == ["recall 1"])
    }

    @Test func `a notification due after firedThrough was not sent, and is treated like any late one`() throws {
        var bench = Self.bench()
        bench.apply(request("a", interval(60), expiration: at(61_000)))
        var next = try Self.restarted(&bench, firedThrough: 59_999, at: 3_600_000)
        try next.center.refill(at: at(3_600_000))
        let events = next.fire(3_600_000)
        #expect(events.summary == ["expired a!"] && !events[0].inDoubt && next.sends.isEmpty)
    }

    @Test func `a cancelled notification in doubt is recalled, and its event is in doubt`() throws {
        var bench = Self.bench()
        bench.apply(request("a", interval(60)))
        var next = try Self.restarted(&bench, firedThrough: 60_500, at: 59_000)
        let events = next.apply(removal("r", key("order"), .pending), 59_001)
        #expect(events.summary == ["cancelled a!"] && events[0].inDoubt)
        #expect(Self.kinds(next) == ["recall 1"])
    }

    @Test func `a superseded notification in doubt is replaced by the newer one, or recalled if that is due later`()
        throws
    {
        var bench = Self.bench()
        bench.apply(request("a", interval(60)))
        var next = try Self.restarted(&bench, firedThrough: 60_500, at: 59_000)
        let events = next.apply(request("b"), 59_001)
        #expect(events.summary == ["superseded a!"] && events[0].inDoubt)
        #expect(Self.kinds(next) == ["deliver b 1"])
        var other = Self.bench()
        other.apply(request("a", interval(60)))
        var later = try Self.restarted(&other, firedThrough: 60_500, at: 59_000)
        later.apply(request("b", interval(600)), 59_001)
        #expect(Self.kinds(later) == ["recall 1"])
    }

    @Test func `a send that has expired between two attempts is not sent again; what may have been sent is recalled`()
        throws
    {
        for (pause, isInDoubt) in [(10_000 as Int64, true), (80_000, false)] {
            var bench = Self.bench()
            bench.apply(request("a", expiration: at(90_000)))
            try bench.answer(.failed(retryAfter: pause))
            var next = try Self.restarted(&bench, firedThrough: 60_500, at: 3_600_000)
            try next.center.refill(at: at(3_600_000))
            let events = next.fire(3_600_000)
            #expect(events.summary == ["expired a!"] && events[0].inDoubt == isInDoubt)
            #expect(Self.kinds(next) == (isInDoubt ? ["recall 1"] : []))
        }
    }

    @Test func `a send in flight is repeated with the same id, unless a newer one waits`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        var next = try Self.restarted(&bench, firedThrough: 1000, at: 5000)
        next.fire(5000)
        #expect(next.sends.map(\.id) == [bench.sends[0].id])
        #expect(try next.answer(.accepted, 5001)[0].inDoubt)
        // The older one must not win: a receiver may know the id of the newer one.
        bench.apply(request("b"), 1)
        var last = try Self.restarted(&bench, firedThrough: 1000, at: 5000)
        let events = last.fire(5000)
        #expect(events.summary == ["superseded a!"] && events[0].inDoubt)
        #expect(last.sends.map(\.requestID) == [id("b")])
    }

    @Test func `reading any part of the log again after a restart changes nothing`() throws {
        var bench = Self.bench()
        for step in 0..<300 { bench.apply(request("q\(step)", interval(60)), Int64(step)) }
        var next = try Self.restarted(&bench, firedThrough: 0, at: 1000)
        next.offset = 0
        for step in 0..<300 { #expect(next.apply(request("q\(step)", interval(60)), 1000).isEmpty) }
        #expect(next.outcomes.allSatisfy { $0 == .duplicate })
        #expect(next.entry(key("order"))?.pending?.requestID == id("q299"))
    }

    @Test func `a repeating request in doubt fires that occurrence, and missed ones according to its policy`() throws {
        var bench = Self.bench()
        bench.apply(request("a", interval(60, repeats: true, misfire: .next)))
        var next = try Self.restarted(&bench, firedThrough: 60_500, at: 600_000)
        next.fire(600_000)
        #expect(next.sends.map(\.occurrence) == [at(60_000)])
        let events = try next.answer(.accepted, 600_001)
        #expect(events.summary == ["delivered a"] && events[0].inDoubt)
        let late = next.fire(630_000)
        #expect(late.summary == ["missed a"] && late[0].first == at(120_000) && late[0].last == at(600_000))
    }
}
