import NotificationDelivery
import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// Quiet hours, caps and digests in the center. The tests' clock begins at 08:00 UTC.
@Suite("Limits of a recipient in the center")
struct LimitTests {
    // MARK: - Inputs

    static let quiet = #"{"start":"07:00","end":"09:00"}"#
    static let suppressing = #"{"start":"07:00","end":"09:00","policy":"suppress"}"#
    private static let cap = #"{"count":2,"period":600}"#
    static let digest = #"{"by":"thread","window":60,"title":"{{count}} updates","body":"{{titles}}"}"#
    static let ofThread = #"{"title":"T","threadIdentifier":"orders"}"#
    private static let critical =
        #"{"title":"T","threadIdentifier":"orders","interruptionLevel":"critical","sound":{"critical":true}}"#

    static let hour: Int64 = 3_600_000

    private static func limits(quiet: String?, cap: String?, digest: String?) throws -> DeliveryLimits? {
        let members = [("quietHours", quiet), ("cap", cap), ("digest", digest)].compactMap { name, json in
            json.map { #","\#(name)":\#($0)"# }
        }
        let json = #"{"content":{"title":"T","threadIdentifier":"orders"}\#(members.joined())}"#
        return try NotificationRequest(json: Array(json.utf8), key: key("a")).limits
    }

    static func request(
        _ name: String,
        _ content: String = ofThread,
        _ plan: CenterInput.Plan = .immediate(collapseWindow: 0),
        quiet: String? = nil,
        cap: String? = nil,
        digest: String? = nil,
        expiration: Timestamp? = nil,
        channel: ChannelName? = nil
    ) throws -> CenterInput {
        guard
            case .request(let input) = NotificationConsumerTests.request(
                name,
                key(name),
                plan,
                expiration: expiration,
                channel: channel
            )
        else { return NotificationConsumerTests.request(name) }
        return .request(
            input.with(
                content: Array(content.utf8)[...],
                limits: try limits(quiet: quiet, cap: cap, digest: digest)
            )
        )
    }

    static var exactlyOnce: LifecycleRules {
        var rules = LifecycleRules(retention: 7 * 24 * hour)
        rules.repeatsEvents = false
        rules.zones = zones
        return rules
    }

    static var atLeastOnce: LifecycleRules {
        var rules = exactlyOnce
        rules.repeatsEvents = true
        return rules
    }

    static func restarted(
        _ bench: inout Bench,
        _ rules: LifecycleRules,
        firedThrough: Int64,
        committing: Bool = true
    ) throws -> Bench {
        if committing { try bench.commit() }
        var next = Bench(rules, over: bench.store, firedThrough: at(firedThrough))
        next.offset = bench.offset
        return next
    }

    // MARK: - Quiet hours

    @Test func `what is due in quiet hours is sent at their end, and says until when it is held`() throws {
        var bench = Bench(Self.exactlyOnce)
        let held = bench.apply(try Self.request("a", quiet: Self.quiet))
        #expect(held.summary == ["held a"] && held[0].reason == .quietHours && held[0].until == at(Self.hour))
        #expect(bench.fire(Self.hour - 1).isEmpty)
        #expect(bench.fire(Self.hour).summary == ["delivered a!"])
    }

    @Test func `a trigger that is due in quiet hours is held, and a repeat goes on after them`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try Self.request("a", Self.ofThread, interval(60, repeats: true), quiet: Self.quiet))
        let held = bench.fire(60_000)
        #expect(held.summary == ["held a"] && held[0].occurrence == at(60_000))
        let sent = bench.fire(Self.hour)
        #expect(sent.last?.name == .delivered && sent.last?.closes == false)
        #expect(bench.entry(key("a"))?.pending != nil)
    }

    @Test func `nobody can have answered what quiet hours hold after its enrichment`() throws {
        var rules = Self.exactlyOnce
        rules.enrichment = EnrichmentTimes(deadline: 30_000, lead: 10_000)
        var bench = Bench(rules)
        let quiet = #"{"start":"08:01","end":"09:00"}"#
        guard case .request(let input) = try Self.request("a", #"{"mutableContent":true,"title":"T"}"#, quiet: quiet)
        else { return }
        bench.apply(.request(input.with(isEnriched: true)), 59_000)
        #expect(try bench.enrich(.original, 61_000)?.summary == ["held a"])
        let response = ResponseSignal(
            identifier: "a",
            requestID: id("a"),
            responseID: id("r"),
            actionIdentifier: "default"
        )
        #expect(bench.apply(DeviceTests.signal(.response(response)), 62_000).isEmpty)
        #expect(bench.responses.map(\.matched) == [false])
        #expect(bench.fire(Self.hour).summary == ["delivered a!"])
    }

    @Test func `with the policy suppress it ends`() throws {
        var bench = Bench(Self.exactlyOnce)
        let events = bench.apply(try Self.request("a", quiet: Self.suppressing))
        #expect(events.summary == ["suppressed a!"] && events[0].reason == .quietHours)
    }

    @Test func `what no device may present is not enriched beside a cap that does not count it`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try DeviceTests.device(status: .denied))
        guard case .request(let input) = try Self.request("a", cap: #"{"count":1,"period":600}"#) else { return }
        let events = bench.apply(.request(input.with(isEnriched: true)))
        #expect(events.summary == ["suppressed a!"] && events[0].reason == .notAuthorized && bench.enrichments.isEmpty)
        bench.apply(try DeviceTests.device(at: 1), 1)
        #expect(bench.apply(try Self.request("b", cap: #"{"count":1,"period":600}"#), 2).summary == ["delivered b!"])
    }

    @Test func `a critical notification passes quiet hours, caps and digests`() throws {
        var bench = Bench(Self.exactlyOnce)
        let cap = #"{"count":1,"period":600}"#
        for (name, quiet) in [("a", Self.quiet), ("b", Self.suppressing), ("c", Self.quiet)] {
            let request = try Self.request(name, Self.critical, quiet: quiet, cap: cap, digest: Self.digest)
            #expect(bench.apply(request).summary == ["delivered \(name)!"])
        }
    }

    @Test func `quiet hours without a zone are those of the recipient's device`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try DeviceTests.device(zone: "Asia/Tokyo"))
        // 08:00 UTC is 17:00 in Tokyo.
        let tokyo = #"{"start":"16:00","end":"18:00"}"#
        let held = bench.apply(try Self.request("a", quiet: tokyo))
        #expect(held.summary == ["held a"] && held[0].until == at(Self.hour))
        #expect(bench.apply(try Self.request("b", quiet: Self.quiet)).summary == ["delivered b!"])
    }

    @Test func `one that expires in quiet hours ends then`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try Self.request("a", quiet: Self.quiet, expiration: at(600_000)))
        #expect(bench.fire(600_000).summary == ["expired a!"])
    }

    @Test func `a held notification can be replaced and removed`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try Self.request("a", quiet: Self.quiet))
        #expect(bench.apply(removal("r", key("a"), .pending), 1).summary == ["cancelled a!"])
        #expect(bench.fire(Self.hour).isEmpty)
    }

    @Test func `a held notification stays held after a restart in the quiet hours`() throws {
        for rules in [Self.exactlyOnce, Self.atLeastOnce] {
            var bench = Bench(rules)
            bench.apply(try Self.request("a", quiet: Self.quiet))
            var next = try Self.restarted(&bench, rules, firedThrough: 1000)
            try next.center.refill(at: at(Self.hour))
            #expect(next.fire(Self.hour - 1).isEmpty)
            #expect(next.fire(Self.hour).summary == ["delivered a!"])
        }
    }

    @Test func `a request that is read again is held again, and expires meanwhile`() throws {
        for expiration in [nil, at(600_000)] {
            let rules = Self.atLeastOnce
            var bench = Bench(rules)
            // Its events were published, its state was not committed.
            let request = try Self.request("a", quiet: Self.quiet, expiration: expiration)
            bench.apply(request)
            var next = try Self.restarted(&bench, rules, firedThrough: 1000, committing: false)
            #expect(next.apply(request, 2000).summary == ["held a"])
            let expired = next.fire(Self.hour - 1)
            #expect(expired.summary == (expiration == nil ? [] : ["expired a!"]))
            let delivered = next.fire(Self.hour)
            #expect(delivered.summary == (expiration == nil ? ["delivered a!"] : []))
            // Quiet hours have held it when it was read first.
            #expect((expired + delivered).allSatisfy { !$0.inDoubt })
        }
    }

    // MARK: - Caps

    @Test func `a cap lets so many of a category through in any period`() throws {
        var bench = Bench(Self.exactlyOnce)
        func send(_ name: String, _ content: String = Self.ofThread, at time: Int64) throws -> [String] {
            bench.apply(try Self.request(name, content, cap: Self.cap), time).summary
        }
        #expect(try send("a", at: 0) == ["delivered a!"])
        #expect(try send("b", at: 300_000) == ["delivered b!"])
        #expect(try send("c", at: 599_999) == ["suppressed c!"] && bench.events.last?.reason == .capped)
        #expect(try send("d", #"{"categoryIdentifier":"NEWS"}"#, at: 599_999) == ["delivered d!"])
        #expect(try send("e", at: 600_000) == ["delivered e!"])
        #expect(try send("f", at: 899_999) == ["suppressed f!"])
    }

    @Test func `requests with different caps of one category each count all of its notifications`() throws {
        var bench = Bench(Self.exactlyOnce)
        func send(_ name: String, _ cap: String, at time: Int64) throws -> [String] {
            bench.apply(try Self.request(name, cap: cap), time).summary
        }
        let (wide, narrow) = (#"{"count":3,"period":600}"#, #"{"count":1,"period":10}"#)
        #expect(try send("a", wide, at: 0) == ["delivered a!"])
        #expect(try send("b", narrow, at: 20_000) == ["delivered b!"])
        #expect(try send("c", narrow, at: 40_000) == ["delivered c!"])
        var next = try Self.restarted(&bench, Self.exactlyOnce, firedThrough: 41_000)
        #expect(next.apply(try Self.request("d", cap: wide), 60_000).summary == ["suppressed d!"])
        #expect(next.apply(try Self.request("e", cap: wide), 600_000).summary == ["delivered e!"])
    }

    @Test func `a cap counts over a restart`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try Self.request("a", cap: Self.cap))
        bench.apply(try Self.request("b", cap: Self.cap))
        var next = try Self.restarted(&bench, Self.exactlyOnce, firedThrough: 1000)
        #expect(next.apply(try Self.request("c", cap: Self.cap), 2000).summary == ["suppressed c!"])
    }

    @Test func `requests in doubt count; without room they end, except where each must be sent at least once`() throws {
        for (rules, channel, last) in [
            (Self.exactlyOnce, ChannelName.test, "suppressed c!"), (Self.atLeastOnce, .test, "suppressed c!"),
            (Self.atLeastOnce, .events, "delivered c!"),
        ] {
            var rules = rules
            rules.channels = ChannelRules(channel)
            var bench = Bench(rules, over: MemoryEntryStore(), firedThrough: at(1000))
            for name in ["a", "b"] {
                var events = bench.apply(try Self.request(name, cap: Self.cap), 2000)
                if events.isEmpty {
                    #expect(bench.sends.last?.isInDoubt == true)
                    events = try bench.answer(.accepted, 2000)
                }
                #expect(events.summary == ["delivered \(name)!"])
            }
            let events = bench.apply(try Self.request("c", cap: Self.cap), 2000)
            #expect(events.summary == [last] && events[0].inDoubt)
            // What may be shown is taken away.
            #expect(channel == .events || bench.sends.last?.kind == .remove)
        }
    }

    @Test func `what no device may present does not count`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try DeviceTests.device(status: .denied))
        for name in ["a", "b", "c"] {
            bench.apply(try Self.request(name, cap: Self.cap))
            #expect(bench.events.last?.reason == .notAuthorized)
        }
        bench.apply(try DeviceTests.device(at: 1), 1)
        #expect(bench.apply(try Self.request("d", cap: Self.cap), 2).summary == ["delivered d!"])
    }

    @Test func `a cap counts for longer than closed notifications are remembered`() throws {
        let month: Int64 = 30 * 24 * Self.hour
        let cap = #"{"count":1,"period":2592000}"#
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try Self.request("a", cap: cap))
        for (name, days) in [("b", Int64(9)), ("c", 29)] {
            try bench.commit()
            _ = try bench.center.forget(at: at(days * 24 * Self.hour))
            let time = days * 24 * Self.hour
            #expect(bench.apply(try Self.request(name, cap: cap), time).summary == ["suppressed \(name)!"])
        }
        try bench.commit()
        _ = try bench.center.forget(at: at(month + 2000))
        #expect(bench.apply(try Self.request("d", cap: cap), month + 2000).summary == ["delivered d!"])
    }

    @Test func `a category at its cap is not forgotten before categories that were used earlier`() throws {
        var bench = Bench(Self.exactlyOnce)
        func send(_ name: String, _ category: String) throws -> [String] {
            let cap = #"{"count":1,"period":600}"#
            return bench.apply(try Self.request(name, #"{"categoryIdentifier":"\#(category)"}"#, cap: cap)).summary
        }
        #expect(try send("a", "NEWS") == ["delivered a!"])
        for number in 1..<ModelLimits.cappedCategories { _ = try send("o\(number)", "C\(number)") }
        #expect(try send("b", "NEWS") == ["suppressed b!"])
        _ = try send("p", "ANOTHER")
        #expect(try send("c", "NEWS") == ["suppressed c!"])
    }

    // MARK: - Digests

    @Test func `the notifications of a thread become one at the end of the window`() throws {
        var bench = Bench(Self.exactlyOnce)
        for (name, time) in [("a", Int64(0)), ("b", 10_000), ("c", 20_000)] {
            let events = bench.apply(try Self.request(name, digest: Self.digest), time)
            #expect(events.summary == ["held \(name)"] && events[0].reason == .digest && events[0].until == at(60_000))
        }
        #expect(bench.fire(59_999).isEmpty)
        let events = bench.fire(60_000)
        #expect(events.map(\.name) == [.digested, .digested, .digested, .delivered])
        let digest = try #require(events.last)
        #expect(events.dropLast().allSatisfy { $0.into == digest.requestID && $0.closes })
        #expect(digest.closes && digest.key.identifier == "digest:thread:orders" && !digest.inDoubt)
        #expect(String(decoding: digest.content ?? [], as: UTF8.self).contains(#""title":"3 updates""#))
        #expect(bench.fire(Self.hour).isEmpty && bench.center.pendingCount == 0)
    }

    @Test func `a trigger keeps its occurrence in a digest, also alone and after a restart`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try Self.request("a", Self.ofThread, interval(10), digest: Self.digest))
        #expect(bench.fire(10_000).map(\.occurrence) == [at(10_000)])
        var next = try Self.restarted(&bench, Self.exactlyOnce, firedThrough: 20_000)
        try next.center.refill(at: at(70_000))
        let events = next.fire(70_000)
        #expect(events.summary == ["delivered a!"] && events.map(\.occurrence) == [at(10_000)])
    }

    @Test func `one alone is sent as it is, and so is one without a thread at once`() throws {
        var bench = Bench(Self.exactlyOnce)
        bench.apply(try Self.request("a", digest: Self.digest))
        #expect(bench.fire(60_000).summary == ["delivered a!"])
        #expect(bench.apply(try Self.request("b", #"{"title":"T"}"#, digest: Self.digest)).summary == ["delivered b!"])
    }

    @Test func `a member that is removed, replaced or expires does not come into the digest`() throws {
        var bench = Bench(Self.exactlyOnce)
        for name in ["a", "b", "c", "d"] { bench.apply(try Self.request(name, digest: Self.digest)) }
        bench.apply(removal("r", key("a"), .pending), 1)
        bench.apply(NotificationConsumerTests.request("b2", key("b")), 2)
        bench.apply(try Self.request("e", digest: Self.digest, expiration: at(30_000)), 3)
        #expect(bench.fire(30_000).summary == ["expired e!"])
        let events = bench.fire(60_000)
        #expect(events.map(\.name) == [.digested, .digested, .delivered])
        #expect(events.dropLast().map(\.key.identifier) == ["c", "d"])
    }

    @Test func `the next window of a thread replaces the earlier digest`() throws {
        var bench = Bench(Self.exactlyOnce)
        for name in ["a", "b"] { bench.apply(try Self.request(name, digest: Self.digest)) }
        let first = try #require(bench.fire(60_000).last)
        for name in ["c", "d"] { bench.apply(try Self.request(name, digest: Self.digest), 70_000) }
        let second = try #require(bench.fire(130_000).last)
        #expect(first.key == second.key && first.requestID != second.requestID)
    }

    @Test func `a group that cannot be part of a key has a digest under a name of its own`() throws {
        for thread in [#"a\nb"#, #"\u0085"#, String(repeating: "t", count: 300)] {
            var bench = Bench(Self.exactlyOnce)
            let content = #"{"title":"T","threadIdentifier":"\#(thread)"}"#
            for name in ["a", "b"] { bench.apply(try Self.request(name, content, digest: Self.digest)) }
            // Such members may be in the state of an earlier version.
            var next = try Self.restarted(&bench, Self.exactlyOnce, firedThrough: 1000)
            try next.center.refill(at: at(60_000))
            let events = next.fire(60_000)
            #expect(events.map(\.name) == [.digested, .digested, .delivered])
            #expect(events.last?.key.identifier.wholeMatch(of: /digest:[0-9a-f-]{36}/) != nil)
        }
    }

    @Test func `a digest whose window ends in quiet hours is held until their end`() throws {
        var bench = Bench(Self.exactlyOnce)
        let quiet = #"{"start":"08:01","end":"09:00"}"#
        for name in ["a", "b"] { bench.apply(try Self.request(name, quiet: quiet, digest: Self.digest)) }
        let events = bench.fire(60_000)
        #expect(!events.map(\.name).contains(.delivered) && events.last?.reason == .quietHours)
        #expect(bench.fire(Self.hour).last?.name == .delivered)
    }

    @Test func `a digest survives a restart within its window`() throws {
        for rules in [Self.exactlyOnce, Self.atLeastOnce] {
            var bench = Bench(rules)
            for name in ["a", "b"] { bench.apply(try Self.request(name, digest: Self.digest)) }
            var next = try Self.restarted(&bench, rules, firedThrough: 1000)
            try next.center.refill(at: at(60_000))
            let events = next.fire(60_000)
            #expect(events.map(\.name) == [.digested, .digested, .delivered] && events.allSatisfy { !$0.inDoubt })
        }
    }

    @Test func `a digest in doubt is sent again under its own id`() throws {
        let rules = Self.atLeastOnce
        var bench = Bench(rules)
        for name in ["a", "b"] { bench.apply(try Self.request(name, digest: Self.digest)) }
        try bench.commit()
        try bench.center.refill(at: at(60_000))
        let sent = try #require(bench.fire(60_000).last)
        var next = try Self.restarted(&bench, rules, firedThrough: 60_500, committing: false)
        let events = next.fire(61_000)
        #expect(events.map(\.name) == [.digested, .digested, .delivered] && events.allSatisfy(\.inDoubt))
        #expect(events.last?.requestID == sent.requestID)
    }

    @Test func `requests that are read again are collected again`() throws {
        let rules = Self.atLeastOnce
        var bench = Bench(rules)
        let requests = try ["a", "b", "c"].map { try Self.request($0, digest: Self.digest) }
        for request in requests { bench.apply(request) }
        // Their events were published, their state was not committed.
        var next = try Self.restarted(&bench, rules, firedThrough: 1000, committing: false)
        for request in requests { #expect(next.apply(request, 2000).map(\.name) == [.held]) }
        let events = next.fire(62_000)
        #expect(events.map(\.name) == [.digested, .digested, .digested, .delivered])
        #expect(events.allSatisfy { !$0.inDoubt }, "their window had not ended")
    }
}
