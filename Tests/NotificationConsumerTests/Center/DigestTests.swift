import NotificationDelivery
import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// The windows of digests: who is in them, and what happens when they end. The tests' clock begins at 08:00 UTC.
@Suite("Windows of digests")
struct DigestTests {
    private static let quiet = #"{"start":"08:01","end":"09:00"}"#
    private static let suppressing = #"{"start":"08:01","end":"09:00","policy":"suppress"}"#

    private static func request(
        _ name: String,
        quiet: String? = nil,
        cap: String? = nil,
        expiration: Timestamp? = nil,
        channel: ChannelName? = nil
    ) throws -> CenterInput {
        try LimitTests.request(
            name,
            quiet: quiet,
            cap: cap,
            digest: LimitTests.digest,
            expiration: expiration,
            channel: channel
        )
    }

    private static var sending: LifecycleRules {
        var rules = LimitTests.exactlyOnce
        rules.channels = ChannelRules(.test)
        return rules
    }

    // MARK: - Members

    @Test func `a window that all members have left ends, and the next one begins with the next notification`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        bench.apply(try Self.request("a"))
        bench.apply(removal("r", key("a"), .pending), 10_000)
        #expect(bench.apply(try Self.request("b"), LimitTests.hour)[0].until == at(LimitTests.hour + 60_000))
        #expect(bench.apply(try Self.request("c"), LimitTests.hour + 1000)[0].until == at(LimitTests.hour + 60_000))
        let events = bench.fire(LimitTests.hour + 60_000)
        #expect(events.map(\.name) == [.digested, .digested, .delivered])
    }

    @Test func `what goes into a digest is not enriched any more`() throws {
        var rules = LimitTests.exactlyOnce
        rules.enrichment = EnrichmentTimes(deadline: 30_000, lead: 10_000)
        var bench = Bench(rules)
        let content = #"{"mutableContent":true,"title":"T","threadIdentifier":"orders"}"#
        guard
            case .request(let input) = try LimitTests.request("a", content, interval(60), digest: LimitTests.digest)
        else {
            Issue.record("this is no request")
            return
        }
        bench.apply(.request(input.with(isEnriched: true)))
        bench.fire(50_000)
        #expect(bench.enrichments.map(\.requestID) == [id("a")] && bench.stopped.isEmpty)
        #expect(bench.fire(60_000).map(\.reason) == [.digest] && bench.stopped == [id("a")])
    }

    @Test func `a member in doubt that has expired leaves its window with it`() throws {
        var bench = Bench(LimitTests.atLeastOnce)
        bench.apply(try Self.request("a", expiration: at(30_000)))
        try bench.commit()
        var next = Bench(LimitTests.atLeastOnce, over: bench.store, firedThrough: at(90_000))
        next.center.keepsRecipients = true
        next.fire(60_000)
        #expect(next.entry(key("a"))?.isIdle == true)
        #expect(next.recipient(key(""))?.digests.allSatisfy(\.members.isEmpty) == true)
    }

    @Test(arguments: ["removed", "replaced", "removed with all"])
    func `a recipient without members and devices is forgotten`(_ way: String) throws {
        var bench = Bench(LimitTests.exactlyOnce)
        bench.apply(try Self.request("a"))
        switch way {
        case "removed": bench.apply(removal("r", key("a")), 1)
        case "replaced": bench.apply(NotificationConsumerTests.request("a2", key("a")), 1)
        default: bench.apply(removal("r", key("")), 1)
        }
        let found = bench.recipient(key(""))
        let record = try #require(found)
        #expect(!record.isLasting && record.digests.allSatisfy(\.members.isEmpty))
    }

    @Test func `updates of its only member do not postpone the end of a window`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        for second in Int64(0)..<6 {
            guard case .request(let input) = try Self.request("a\(second)") else { return }
            #expect(bench.apply(.request(input.with(key: key("a"))), second * 10_000).last?.until == at(60_000))
        }
        #expect(bench.fire(60_000).summary == ["delivered a5!"])
    }

    @Test func `one that comes when the digest is full is sent by itself`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        for number in 1...ModelLimits.digestMembers { bench.apply(try Self.request("a\(number)")) }
        #expect(bench.apply(try Self.request("b")).summary == ["delivered b!"])
        let events = bench.fire(0)
        #expect(events.filter { $0.name == .digested }.count == ModelLimits.digestMembers)
        #expect(events.last?.name == .delivered)
    }

    @Test func `it expires only when all of its members have`() throws {
        var bench = Bench(Self.sending)
        bench.apply(try Self.request("a"))
        bench.apply(try Self.request("b", expiration: at(70_000)))
        bench.fire(60_000)
        try bench.answer(.failed(retryAfter: nil), 60_000)
        #expect(bench.fire(100_000).isEmpty && bench.sends.last?.attempt == 2)
        var next = Bench(Self.sending)
        for name in ["a", "b"] { next.apply(try Self.request(name, expiration: at(70_000))) }
        next.fire(60_000)
        try next.answer(.failed(retryAfter: nil), 60_000)
        #expect(next.fire(100_000).map(\.name) == [.expired])
    }

    @Test func `the strictest cap of its members counts`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        bench.apply(try LimitTests.request("x", cap: #"{"count":1,"period":600}"#))
        bench.apply(try Self.request("a", cap: #"{"count":1,"period":600}"#))
        bench.apply(try Self.request("b", cap: #"{"count":9,"period":600}"#))
        let events = bench.fire(60_000)
        #expect(events.map(\.name) == [.digested, .digested, .suppressed] && events.last?.reason == .capped)
    }

    // MARK: - Quiet hours

    @Test func `quiet hours hold the members that have them, and the others are sent`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        bench.apply(try Self.request("a", quiet: Self.quiet))
        for name in ["b", "c"] { bench.apply(try Self.request(name)) }
        let events = bench.fire(60_000)
        #expect(events.map(\.name) == [.held, .digested, .digested, .delivered])
        #expect(events[0].reason == .quietHours && events[0].until == at(LimitTests.hour))
        // What comes meanwhile has a window of its own, and waits no longer.
        let joined = bench.apply(try Self.request("d"), 62_000)
        #expect(joined.summary == ["held d"] && joined[0].until == at(122_000))
        bench.apply(try Self.request("e"), 63_000)
        #expect(bench.fire(122_000).map(\.name) == [.digested, .digested, .delivered])
        let last = bench.fire(LimitTests.hour)
        #expect(last.summary == ["delivered a!"])
        #expect(bench.recipient(key(""))?.digests.isEmpty ?? true)
    }

    @Test func `members that are held until one instant are one digest then, and each can still be cancelled`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        for name in ["a", "b", "c"] { bench.apply(try Self.request(name, quiet: Self.quiet)) }
        #expect(bench.fire(60_000).summary == ["held a", "held b", "held c"])
        #expect(bench.apply(removal("r", key("b"), .pending), 61_000).summary == ["cancelled b!"])
        let events = bench.fire(LimitTests.hour)
        #expect(events.map(\.name) == [.digested, .digested, .delivered])
        #expect(events.dropLast().map(\.key.identifier) == ["a", "c"])
    }

    @Test func `while the digest before is being sent, its group waits and nothing of it is written`() throws {
        var bench = Bench(Self.sending)
        for name in ["a", "b"] { bench.apply(try Self.request(name)) }
        bench.fire(60_000)
        for name in ["c", "d"] { bench.apply(try Self.request(name), 61_000) }
        _ = bench.center.cut(at: at(61_000), all: true)
        for second in stride(from: Int64(121), through: 300, by: 1) {
            #expect(bench.fire(second * 1000).isEmpty)
            #expect(bench.center.dirtyCount == 0)
        }
        try bench.answer(.accepted, 300_500)
        #expect(bench.fire(311_000).map(\.name) == [.digested, .digested])
    }

    @Test func `a member that quiet hours suppress ends, and the others are sent`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        bench.apply(try Self.request("a", quiet: Self.suppressing))
        for name in ["b", "c"] { bench.apply(try Self.request(name)) }
        let events = bench.fire(60_000)
        #expect(events.map(\.name) == [.digested, .digested, .delivered, .suppressed])
        #expect(events.last?.requestID == id("a") && events.last?.reason == .quietHours)
    }

    @Test func `a member that joins a later window is sent with it, also when it left the memory meanwhile`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        bench.apply(try Self.request("a", quiet: Self.quiet))
        #expect(bench.fire(60_000).summary == ["held a"])
        bench.apply(try Self.request("b"), LimitTests.hour - 30_000)
        #expect(bench.fire(LimitTests.hour).isEmpty)
        try bench.commit()
        #expect(bench.fire(LimitTests.hour + 30_000).map(\.name) == [.digested, .digested, .delivered])
    }

    @Test func `what a member's devices show is removed while it waits`() throws {
        var bench = Bench(Self.sending)
        bench.apply(NotificationConsumerTests.request("z", key("a")))
        try bench.answer(.accepted)
        bench.apply(try Self.request("a"), 1)
        bench.apply(removal("r", key("a"), .delivered), 2)
        try bench.answer(.failed(retryAfter: 5000), 3)
        bench.fire(10_000)
        #expect(bench.sends.last?.kind == .remove && bench.sends.last?.attempt == 2)
        try bench.answer(.accepted, 10_001)
        #expect(bench.fire(60_001).summary.isEmpty && bench.sends.last?.requestID == id("a"))
    }

    // MARK: - The digest before

    @Test func `while the digest before is being sent, the members go on waiting`() throws {
        var bench = Bench(Self.sending)
        for name in ["a", "b"] { bench.apply(try Self.request(name)) }
        bench.fire(60_000)
        try bench.answer(.failed(retryAfter: 300_000), 60_000)
        for name in ["c", "d"] { bench.apply(try Self.request(name), 70_000) }
        #expect(bench.fire(130_000).isEmpty && bench.sends.count == 1)
        #expect(bench.apply(removal("r", key("d"), .pending), 131_000).summary == ["cancelled d!"])
        bench.apply(try Self.request("e"), 132_000)
        bench.fire(400_000)
        #expect(try bench.answer(.accepted, 400_000).map(\.name) == [.delivered])
        #expect(bench.fire(500_000).map(\.name) == [.digested, .digested])
        let last = try bench.answer(.accepted, 500_000)
        #expect(last.map(\.name) == [.delivered] && last[0].closes && last[0].replaces != nil)
        #expect(bench.center.pendingCount == 0)
    }

    @Test func `without the window that it was in, a member is sent by itself`() throws {
        var bench = Bench(LimitTests.exactlyOnce)
        for name in ["a", "b"] { bench.apply(try Self.request(name)) }
        let found = bench.recipient(key(""))
        var record = try #require(found)
        _ = record.leaveDigest("a", of: "thread:orders")
        bench.center.keep(record, of: key(""), at: at(0))
        #expect(bench.fire(60_000).summary == ["delivered a!", "delivered b!"])
    }
}
