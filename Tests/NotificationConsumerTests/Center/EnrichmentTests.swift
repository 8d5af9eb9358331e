import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// The lifecycle of notifications that are enriched before they are sent.
struct EnrichmentTests {
    private static let mutable = Array(#"{"mutableContent":true,"title":"T"}"#.utf8)[...]
    private static let enriched = Array(#"{"mutableContent":true,"title":"T","subtitle":"E"}"#.utf8)[...]

    private static func rules(_ channel: ChannelName = .events, repeatsEvents: Bool = false) -> LifecycleRules {
        var rules = LifecycleRules(retention: 7 * 24 * 3600 * 1000)
        rules.channels = ChannelRules(channel)
        rules.repeatsEvents = repeatsEvents
        rules.enrichment = EnrichmentTimes(deadline: 30_000, lead: 10_000)
        return rules
    }

    private static func bench(_ channel: ChannelName = .events) -> Bench { Bench(rules(channel)) }

    private func ask(
        _ name: String,
        _ plan: CenterInput.Plan = .immediate(collapseWindow: 0),
        expiration: Timestamp? = nil
    ) -> CenterInput {
        guard case .request(let input) = request(name, plan, expiration: expiration) else { return request(name) }
        return .request(input.with(content: Self.mutable, isEnriched: true))
    }

    @Test func `a notification waits for its enrichment, and its event has the content and the report`() throws {
        var bench = Self.bench()
        #expect(bench.apply(ask("a")).isEmpty)
        #expect(bench.enrichments.map(\.requestID) == [id("a")] && bench.enrichments[0].content == Self.mutable)
        #expect(bench.enrichments[0].end == at(30_000))
        let events = try #require(try bench.enrich(.modified(Self.enriched), 400))
        #expect(events.summary == ["delivered a!"] && events[0].content == Self.enriched)
        #expect(events[0].enrichment == Array(#"{"milliseconds":5}"#.utf8)[...] && !events[0].inDoubt)
    }

    @Test func `what does not ask for it is sent at once, without a report`() {
        var bench = Self.bench()
        let events = bench.apply(request("a"))
        #expect(events.summary == ["delivered a!"] && events[0].enrichment == nil && bench.enrichments.isEmpty)
    }

    @Test func `a channel gets the enriched content, again at each attempt`() throws {
        var bench = Self.bench(.test)
        bench.apply(ask("a"))
        #expect(bench.sends.isEmpty && bench.center.inFlight == 0)
        try bench.enrich(.modified(Self.enriched), 400)
        #expect(bench.sends.map(\.kind) == [.deliver(content: Self.enriched)] && bench.sends[0].attempt == 1)
        try bench.answer(.failed(retryAfter: nil), 500)
        let due = try #require(bench.entry(key("order"))?.due)
        bench.fire(due.rawValue - at(0).rawValue)
        #expect(bench.sends.count == 2 && bench.sends[1].kind == .deliver(content: Self.enriched))
        #expect(bench.sends[1].attempt == 2)
        let events = try bench.answer(.accepted, 3_000)
        #expect(events.summary == ["delivered a!"] && events[0].enrichment != nil)
    }

    @Test func `without a result in time the notification is sent as requested, and a later result is late`() throws {
        var bench = Self.bench()
        bench.apply(ask("a"))
        #expect(bench.fire(29_999).isEmpty)
        let events = bench.fire(30_000)
        #expect(events.summary == ["delivered a!"] && events[0].content == Self.mutable)
        #expect(events[0].enrichment == EnrichedContent.gaveUp.report && bench.stopped == [id("a")])
        #expect(try bench.enrich(.modified(Self.enriched), 30_001) == nil)
    }

    @Test func `an enricher may leave the content as it is, or forbid the delivery`() throws {
        var bench = Self.bench()
        bench.apply(ask("a"))
        let original = try #require(try bench.enrich(.original, 1))
        #expect(original.summary == ["delivered a!"] && original[0].content == Self.mutable)
        bench.apply(ask("b"), 2)
        let withheld = try #require(try bench.enrich(.withheld, 3))
        #expect(withheld.summary == ["suppressed b!"] && withheld[0].reason == .notEnriched)
        #expect(bench.entry(key("order"))?.delivered?.requestID == id("a"), "it still shows the earlier one")
    }

    @Test func `content that is too large for an event is not used`() throws {
        var rules = Self.rules()
        rules.contentBytes = Self.mutable.count
        var bench = Bench(rules)
        bench.apply(ask("a"))
        #expect(try bench.enrich(.modified(Self.enriched), 1)?.first?.content == Self.mutable)
    }

    @Test func `a newer request or a removal comes at once, and the result for the older one is late`() throws {
        var bench = Self.bench()
        bench.apply(ask("a"))
        #expect(bench.apply(ask("b"), 10).summary == ["superseded a!"] && bench.stopped == [id("a")])
        #expect(try bench.enrich(.modified(Self.enriched), 20, number: 0) == nil)
        let events = bench.apply(removal("r", at: at(30)), 30)
        #expect(events.summary == ["cancelled b!"] && !events[0].inDoubt && bench.stopped == [id("a"), id("b")])
        #expect(try bench.enrich(.modified(Self.enriched), 40) == nil)
        #expect(bench.fire(100_000).isEmpty)
    }

    @Test func `the removal of what is shown does not put in doubt what is being enriched`() throws {
        var bench = Self.bench()
        bench.apply(request("a"))
        bench.apply(ask("b"), 10)
        #expect(bench.apply(removal("r", key("order"), .delivered, at: at(20)), 20).summary == ["removed a"])
        #expect(try bench.enrich(.original, 30)?.first?.inDoubt == false)
    }

    /// A bench whose device is asked to remove `a` while `b` is being enriched.
    private func removing(_ channel: ChannelName) throws -> Bench {
        var rules = Self.rules(.test)
        rules.channels = ChannelRules(.test, and: [.events])
        var bench = Bench(rules)
        bench.apply(request("a"))
        try bench.answer(.accepted, 1)
        bench.apply(enriched("b", channel), 2)
        #expect(bench.apply(removal("r", key("order"), .delivered), 3).summary == ["removed a"])
        #expect(bench.sends.last?.kind == .remove && bench.center.inFlight == 1)
        return bench
    }

    /// The end of an enrichment, or of the time for it.
    @Test(arguments: [true, false])
    func `what an enriched notification takes away is removed once that is committed`(isAnswered: Bool) throws {
        var rules = Self.rules(.test)
        rules.channels = ChannelRules(.test, and: [.events])
        var bench = Bench(rules)
        bench.apply(request("a"))
        try bench.answer(.accepted, 1)
        bench.apply(enriched("b", .events), 2)
        bench.center.sendLimit = at(40_000)
        let events = isAnswered ? try bench.enrich(.original, 500) : bench.fire(30_002)
        #expect(events?.summary == ["delivered b!"] && bench.sends.count == 1)
        bench.center.sendLimit = at(50_000)
        bench.fire(40_001)
        #expect(bench.sends.last?.kind == .remove && bench.sends.last?.cause == id("b"))
    }

    private func enriched(_ name: String, _ channel: ChannelName) -> CenterInput {
        guard case .request(let input) = request(name, channel: channel) else { return request(name) }
        return .request(input.with(content: Self.mutable, isEnriched: true))
    }

    @Test(arguments: [ChannelName.events, .test], [RemovalScope.pending, .all])
    func `what is enriched while something else is being removed ends at once by what is newer`(
        _ channel: ChannelName,
        _ scope: RemovalScope
    ) throws {
        var bench = try removing(channel)
        #expect(bench.apply(removal("s", key("order"), scope), 4).summary == ["cancelled b!"])
        try bench.answer(.accepted, 5)
        #expect(bench.fire(100_000).isEmpty && bench.sends.count == 2)

        bench = try removing(channel)
        #expect(bench.apply(request("c", interval(1000)), 4).summary == ["superseded b!", "scheduled c"])
        try bench.answer(.accepted, 5)
        #expect(bench.fire(100_000).isEmpty && bench.sends.count == 2)
    }

    @Test func `what waits for the removal of something else is not sent when it is cancelled meanwhile`() throws {
        var bench = try removing(.test)
        #expect(try bench.enrich(.original, 4)?.isEmpty == true && bench.sends.count == 2)
        #expect(bench.apply(removal("s", key("order"), .pending), 5).summary == ["cancelled b!"])
        try bench.answer(.accepted, 6)
        #expect(bench.fire(100_000).isEmpty && bench.sends.count == 2)
    }

    @Test func `what expires meanwhile is not sent`() throws {
        var bench = Self.bench()
        bench.apply(ask("a", expiration: at(5_000)))
        #expect(try bench.enrich(.modified(Self.enriched), 5_000)?.summary == ["expired a!"])
    }

    // MARK: - Ahead of the due time

    @Test func `a timed notification is enriched ahead, and sent when it is due`() throws {
        var bench = Self.bench()
        #expect(bench.apply(ask("a", interval(60))).summary == ["scheduled a"])
        #expect(bench.fire(49_999).isEmpty && bench.enrichments.isEmpty)
        #expect(bench.fire(50_000).isEmpty && bench.enrichments.map(\.end) == [at(80_000)])
        #expect(try bench.enrich(.modified(Self.enriched), 51_000)?.isEmpty == true)
        #expect(bench.fire(59_999).isEmpty)
        let events = bench.fire(60_000)
        #expect(events.summary == ["delivered a!"] && events[0].content == Self.enriched)
        #expect(events[0].enrichment != nil && bench.enrichments.count == 1)
    }

    @Test func `an enrichment that is not done when the notification is due has its time until the deadline`() throws {
        var bench = Self.bench()
        bench.apply(ask("a", interval(60)))
        bench.fire(50_000)
        #expect(bench.fire(60_000).isEmpty && bench.fire(79_999).isEmpty)
        #expect(bench.enrichments.count == 1, "it goes on")
        #expect(try bench.enrich(.modified(Self.enriched), 79_999)?.first?.content == Self.enriched)
    }

    @Test func `each occurrence is enriched by itself`() throws {
        var bench = Self.bench()
        bench.apply(ask("a", interval(60, repeats: true)))
        for minute in 1...3 as ClosedRange<Int64> {
            bench.fire(minute * 60_000 - 10_000)
            #expect(bench.enrichments.count == Int(minute))
            try bench.enrich(.modified(Self.enriched), minute * 60_000 - 9_000)
            #expect(bench.fire(minute * 60_000).first?.content == Self.enriched)
        }
    }

    @Test func `a removal ends the enrichment ahead`() throws {
        var bench = Self.bench()
        bench.apply(ask("a", interval(60)))
        bench.fire(50_000)
        #expect(bench.apply(removal("r", at: at(51_000)), 51_000).summary == ["cancelled a!"])
        #expect(bench.stopped == [id("a")])
        #expect(try bench.enrich(.modified(Self.enriched), 52_000) == nil && bench.fire(70_000).isEmpty)
    }

    @Test func `an entry that is enriched ahead stays in memory`() throws {
        var bench = Self.bench()
        bench.apply(ask("a", interval(60)))
        bench.fire(50_000)
        try bench.commit()
        #expect(bench.center.residentCount == 1)
        try bench.enrich(.modified(Self.enriched), 51_000)
        #expect(bench.fire(60_000).first?.content == Self.enriched)
    }

    @Test func `an entry that is being enriched stays in memory until its deadline`() throws {
        var bench = Self.bench()
        bench.apply(ask("a"))
        try bench.commit()
        #expect(bench.center.residentCount == 1)
        #expect(try bench.enrich(.modified(Self.enriched), 1_000)?.summary == ["delivered a!"])
        bench.apply(ask("b"), 2_000)
        try bench.commit()
        #expect(bench.fire(32_000).summary == ["delivered b!"])
    }

    // MARK: - After a restart

    @Test func `the next owner starts the enrichment again, within the same time`() throws {
        var first = Self.bench()
        first.apply(ask("a"))
        try first.commit()
        var bench = Bench(Self.rules(), over: first.store, firedThrough: at(1_000))
        bench.fire(5_000)
        #expect(bench.enrichments.map(\.end) == [at(30_000)])
        let events = try #require(try bench.enrich(.modified(Self.enriched), 6_000))
        #expect(events.summary == ["delivered a!"] && events[0].content == Self.enriched)
        #expect(!events[0].inDoubt, "in a transaction nothing was published")
    }

    @Test func `what a channel may have got before the restart is in doubt`() throws {
        var first = Self.bench(.test)
        first.apply(ask("a"))
        try first.commit()
        var bench = Bench(Self.rules(.test), over: first.store, firedThrough: at(1_000))
        bench.fire(5_000)
        try bench.enrich(.modified(Self.enriched), 6_000)
        #expect(bench.sends.map(\.isInDoubt) == [true])
    }

    @Test func `what an event may have delivered before the restart stays in doubt, whatever else happens to its key`()
        throws
    {
        let rules = Self.rules(repeatsEvents: true)
        var first = Bench(rules)
        first.apply(ask("a"))
        try first.commit()
        var bench = Bench(rules, over: first.store, firedThrough: at(1_000))
        bench.offset = 10
        #expect(bench.apply(removal("r", key("order"), .delivered), 5_000).summary == ["cancellation.missed r"])
        let events = bench.apply(request("b", interval(60)), 5_000)
        #expect(events.first?.name == .superseded && events.first?.inDoubt == true)
    }

    @Test func `after its time the next owner sends the notification as requested`() throws {
        var first = Self.bench()
        first.apply(ask("a"))
        try first.commit()
        var bench = Bench(Self.rules(), over: first.store, firedThrough: at(1_000))
        #expect(bench.fire(31_000).first?.content == Self.mutable && bench.enrichments.isEmpty)
    }

    @Test func `an owner without enrichment sends the notification as requested`() throws {
        var first = Self.bench()
        first.apply(ask("a"))
        try first.commit()
        var bench = Bench(over: first.store, firedThrough: at(1_000))
        #expect(bench.fire(5_000).first?.content == Self.mutable && bench.enrichments.isEmpty)
    }

    @Test func `the next owner enriches a timed notification ahead`() throws {
        var first = Self.bench()
        first.apply(ask("a", interval(60)))
        try first.commit()
        var bench = Bench(Self.rules(), over: first.store, firedThrough: at(1_000))
        for second in 0..<50 as Range<Int64> { _ = try bench.center.refill(at: at(second * 1_000)) }
        bench.fire(50_000)
        #expect(bench.enrichments.count == 1)
    }
}
