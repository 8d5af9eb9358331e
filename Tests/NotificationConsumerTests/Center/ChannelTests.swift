import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Notifications of one center that leave through several channels.
struct ChannelTests {
    private static let retention: Int64 = 7 * 24 * 3600 * 1000
    private static let rules = LifecycleRules(
        retention: retention,
        channels: ChannelRules(.events, and: [.webhook, .test]),
        repeatsEvents: false
    )

    /// `channel: deliver` or `channel: recall` of each send.
    private static func sends(_ bench: Bench) -> [String] {
        bench.sends.map { send in
            "\(send.channel): "
                + (send.kind == .remove ? "recall \(send.cause ?? send.requestID)" : "deliver \(send.requestID)")
        }
    }

    private static func channels(_ events: [DeliveryEvent]) -> [String?] { events.map(\.channel) }

    /// Another owner of the same partition, after everything was committed.
    private static func restarted(
        _ bench: inout Bench,
        _ rules: LifecycleRules = rules,
        firedThrough: Int64 = 0,
        at now: Int64 = 0
    ) throws -> Bench {
        try bench.commit()
        var next = Bench(rules, over: bench.store, firedThrough: at(firedThrough))
        next.offset = bench.offset
        try next.center.refill(at: at(now))
        return next
    }

    // MARK: - The channel of a request

    @Test func `a request that names no channel leaves through the default, also when the default changes`() throws {
        var bench = Bench(Self.rules)
        let sent = bench.apply(request("a"))
        #expect(sent.summary == ["delivered a!"] && Self.channels(sent) == ["events"] && bench.sends.isEmpty)
        bench.apply(request("b", interval(5)))
        var rules = Self.rules
        rules.channels = ChannelRules(.webhook)
        var next = try Self.restarted(&bench, rules, at: 5000)
        next.fire(5000)
        #expect(Self.sends(next) == ["webhook: deliver b"])
    }

    @Test func `a request leaves through the channel that it names, whatever its trigger`() throws {
        for plan in [
            .immediate(collapseWindow: 0), .immediate(collapseWindow: 500), interval(5), interval(60, repeats: true),
        ] {
            var bench = Bench(Self.rules)
            bench.apply(request("a", plan, channel: .webhook))
            if bench.sends.isEmpty {
                // It survives a restart.
                bench = try Self.restarted(&bench, at: 60_000)
                bench.fire(60_000)
            }
            #expect(Self.sends(bench) == ["webhook: deliver a"])
            let events = try bench.answer(.accepted, 60_001)
            #expect(Self.channels(events) == ["webhook"] && bench.entry(key("order"))?.delivered?.channel == .webhook)
        }
    }

    @Test func `attempts and recalls go through the channel of the notification`() throws {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .test))
        try bench.answer(.failed(retryAfter: nil))
        bench.fire(600_000)
        try bench.answer(.accepted, 600_000)
        bench.apply(removal("r"), 600_001)
        #expect(Self.sends(bench) == ["test: deliver a", "test: deliver a", "test: recall r"])
        #expect(bench.center.inFlight == 1)
    }

    @Test func `what the event has handed over is not recalled`() {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .events))
        #expect(bench.apply(removal("r"), 1).summary == ["removed a"])
        #expect(bench.sends.isEmpty && bench.entry(key("order"))?.delivered == nil)
    }

    // MARK: - From one channel to another

    @Test func `a newer notification through another channel recalls what the earlier one shows`() throws {
        for (first, second) in [(ChannelName.webhook, ChannelName.events), (.webhook, .test)] {
            var bench = Bench(Self.rules)
            bench.apply(request("a", channel: first))
            try bench.answer(.accepted, 1)
            var events = bench.apply(request("b", channel: second), 2)
            if second != .events { events = try bench.answer(.accepted, 3) }
            #expect(events.summary == ["delivered b!"] && events[0].replaces == id("a"))
            #expect(Self.sends(bench).last == "webhook: recall b")
            try bench.answer(.accepted, 4)
            #expect(bench.entry(key("order"))?.delivered?.requestID == id("b") && bench.center.inFlight == 0)
        }
        // An event needs no recall.
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .events))
        bench.apply(request("b", channel: .webhook), 1)
        try bench.answer(.accepted, 2)
        #expect(Self.sends(bench) == ["webhook: deliver b"])
    }

    @Test func `sends of one key do not overlap, whatever their channels`() throws {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .webhook))
        #expect(bench.apply(request("b", channel: .events), 1).isEmpty)
        #expect(try bench.answer(.accepted, 2).summary == ["delivered a!", "delivered b!"])
        #expect(Self.sends(bench) == ["webhook: deliver a", "webhook: recall b"])
        bench.apply(request("c", channel: .test), 3)
        #expect(bench.sends.count == 2)
        try bench.answer(.failed(retryAfter: nil), 4)
        #expect(Self.sends(bench).last == "test: deliver c", "a removal that waits holds nothing back")
        try bench.answer(.accepted, 5)
        bench.fire(600_000)
        #expect(Self.sends(bench).last == "webhook: recall b" && bench.center.inFlight == 1)
    }

    @Test func `a removal that follows from a timer begins once that is committed: the next owner may be late`() throws
    {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .test))
        try bench.answer(.accepted)
        bench.apply(request("b", interval(5, misfire: .drop), channel: .events), 1)
        bench.center.sendLimit = at(6_000)
        #expect(bench.fire(5_000).summary == ["delivered b!"])
        bench.fire(6_000)
        #expect(Self.sends(bench) == ["test: deliver a"])
        bench.center.sendLimit = at(9_000)
        bench.fire(6_001)
        #expect(Self.sends(bench).last == "test: recall b")
    }

    @Test func `without transactions an event that the clock decides waits for the marker that covers it`() throws {
        var rules = Self.rules
        rules.repeatsEvents = true
        var bench = Bench(rules)
        bench.center.sendLimit = at(5_000)
        #expect(bench.apply(request("a", interval(5.5), channel: .events), 6_000).summary == ["scheduled a"])
        bench.center.sendLimit = at(7_000)
        #expect(bench.fire(6_100).summary == ["delivered a!"])
        // What has waited for its turn.
        bench.apply(request("b", channel: .test), 6_200)
        bench.apply(request("c", key("order"), expiration: at(60_000), channel: .events), 6_300)
        #expect(try bench.answer(.accepted, 7_100).summary == ["delivered b!"])
        bench.center.sendLimit = at(8_000)
        #expect(bench.fire(7_200).summary == ["delivered c!"])
    }

    @Test func `what may not begin before the next marker is looked at once, however few timers fire at a time`() throws
    {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .test))
        try bench.answer(.accepted)
        bench.apply(request("b", interval(5, misfire: .drop), channel: .events), 1)
        bench.center.sendLimit = at(6_000)
        bench.fire(5_000)
        let fired = try bench.center.fireDue(at: at(6_002), limit: 1)
        #expect(fired == (1, true) && Self.sends(bench) == ["test: deliver a"])
    }

    @Test func `a send in doubt is recalled when its successor leaves through another channel`() throws {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .webhook))
        var next = try Self.restarted(&bench)
        let events = next.apply(request("b", channel: .events), 10)
        #expect(events.summary == ["superseded a!", "delivered b!"] && events[0].inDoubt)
        #expect(Self.sends(next) == ["webhook: recall b"])
        try next.answer(.accepted, 11)
        #expect(next.entry(key("order"))?.screen == nil)
    }

    @Test func `a removal recalls a send in doubt through its channel, although an event was delivered`() throws {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .events))
        bench.apply(request("b", channel: .webhook), 1)
        var next = try Self.restarted(&bench)
        #expect(next.apply(removal("r"), 10).summary == ["cancelled b!", "removed a"])
        #expect(Self.sends(next) == ["webhook: recall r"])
    }

    @Test func `an event is in doubt only where a crash can repeat it`() throws {
        for repeatsEvents in [true, false] {
            var rules = Self.rules
            rules.repeatsEvents = repeatsEvents
            var bench = Bench(rules)
            bench.apply(request("a", interval(5), channel: .events))
            var next = try Self.restarted(&bench, rules, firedThrough: 10_000)
            let events = next.fire(10_000)
            #expect(events.summary == ["delivered a!"] && events[0].inDoubt == repeatsEvents)
        }
    }

    @Test func `what an owner whose clock was ahead has queued is sent at once by the next one`() throws {
        var bench = Bench(Self.rules)
        bench.center.holdsTimers = true
        #expect(bench.apply(request("a", channel: .webhook), 60_000).isEmpty && bench.sends.isEmpty)
        var next = try Self.restarted(&bench, firedThrough: 61_000)
        next.fire(1_000)
        #expect(next.sends.map(\.requestID) == [id("a")])
    }

    // MARK: - Channels that the service does not have

    @Test func `what was accepted for a channel that the settings no longer have fails with a reason`() throws {
        var bench = Bench(Self.rules)
        bench.apply(request("a", key("one"), interval(5), channel: .webhook))
        bench.apply(request("b", key("two"), channel: .webhook))
        bench.apply(request("c", key("three"), interval(5), channel: .events))
        for rules in [ChannelRules(.events), ChannelRules(.test)] {
            let lifecycle = LifecycleRules(retention: Self.retention, channels: rules)
            var next = try Self.restarted(&bench, lifecycle, at: 6000)
            let events = next.fire(6000)
            let failed = events.filter { $0.name == .failed }
            #expect(failed.allSatisfy { $0.reason == .unsupportedForm && $0.closes })
            let names = Set(failed.map(\.requestID))
            #expect(names == (rules.standard == .events ? [id("a"), id("b")] : [id("a"), id("b"), id("c")]))
            #expect(next.sends.isEmpty && next.center.pendingCount == 0 && next.center.inFlight == 0)
        }
    }

    @Test func `a recall through a channel that the settings no longer have ends`() throws {
        var bench = Bench(Self.rules)
        bench.apply(request("a", channel: .webhook))
        try bench.answer(.accepted, 1)
        bench.apply(removal("r"), 2)
        var next = try Self.restarted(&bench, LifecycleRules(retention: Self.retention))
        next.fire(10)
        #expect(next.entry(key("order"))?.screen == nil && next.sends.isEmpty)
    }
}
