import NotificationDelivery
import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// What a center says about one recipient.
@Suite("Pages of a recipient's notifications")
struct PageTests {
    private static let recipient = key("")

    /// Every page until there is no next one.
    private func pages(_ bench: Bench, _ query: NotificationQuery) throws -> [NotificationQuery.Page] {
        var (pages, query) = ([NotificationQuery.Page](), query)
        repeat {
            let page = try bench.center.page(for: query)
            pages.append(page)
            query.after = page.next
        } while query.after != nil
        return pages
    }

    private func keys(_ pages: [NotificationQuery.Page]) -> [NotificationKey] {
        pages.flatMap { $0.notifications.map(\.key) }
    }

    /// Recipients with many notifications, some of them in memory only, some in the store only, some removed.
    private func crowd() throws -> (bench: Bench, pending: Set<NotificationKey>, delivered: Set<NotificationKey>) {
        var bench = Bench(limits: .init(maximumResident: 100))
        var (pending, delivered): (Set<NotificationKey>, Set<NotificationKey>) = ([], [])
        // The record of the recipient's own is no notification.
        bench.apply(removal("all", key("")))
        for number in 0..<1500 {
            let own = key("n\(number)")
            if number % 3 == 0 {
                bench.apply(request("d\(number)", own))
                delivered.insert(own)
            } else {
                bench.apply(request("p\(number)", own, interval(3600)))
                pending.insert(own)
            }
            bench.apply(request("o\(number)", key("n\(number)", recipient: "bob\(number % 3)")))
            if number % 200 == 199 { try bench.commit() }
        }
        for number in stride(from: 0, to: 1500, by: 7) {
            let own = key("n\(number)")
            bench.apply(removal("r\(number)", own))
            pending.remove(own)
            delivered.remove(own)
        }
        return (bench, pending, delivered)
    }

    @Test("every notification is on one page, whether it is in memory or in the store", arguments: [7, 64, 1000])
    func complete(limit: Int) throws {
        let (bench, pending, delivered) = try crowd()
        let inMemory = pending.union(delivered).count { bench.center.inUse.slot(of: $0) != nil }
        #expect(inMemory > 0 && inMemory < pending.count)
        var query = NotificationQuery(key: Self.recipient, limit: limit)
        let all = try pages(bench, query)
        #expect(all.allSatisfy { $0.notifications.count <= limit + 1 })
        #expect(keys(all).count == Set(keys(all)).count)
        #expect(Set(keys(all)) == pending.union(delivered))
        query.states = [.pending]
        #expect(Set(keys(try pages(bench, query))) == pending)
        query.states = [.delivered]
        #expect(Set(keys(try pages(bench, query))) == delivered)
    }

    @Test("a page ends when its contents are large")
    func large() throws {
        var bench = Bench()
        let text = String(repeating: "x", count: 200_000)
        for number in 0..<20 {
            bench.apply(
                request(
                    "p\(number)",
                    key("n\(number)"),
                    interval(3600),
                    content: Array(#"{"title":"\#(text)"}"#.utf8)[...]
                )
            )
        }
        let all = try pages(bench, NotificationQuery(key: Self.recipient, limit: 1000))
        #expect(all.map(\.notifications.count) == [6, 6, 6, 2])
    }

    @Test("asking changes nothing and loads nothing")
    func reading() throws {
        let (bench, _, _) = try crowd()
        let resident = bench.center.residentCount
        _ = try pages(bench, NotificationQuery(key: Self.recipient))
        for number in 0..<1500 { _ = try bench.center.notification(for: .init(key: key("n\(number)"))) }
        #expect(bench.center.residentCount == resident)
    }

    @Test("one notification: what waits with its next dates or for a region, what is delivered, what a channel has")
    func one() throws {
        var bench = Bench()
        bench.apply(request("p", interval(60, repeats: true)))
        bench.fire(60_000)
        func text(_ key: NotificationKey = key("order"), _ change: (inout NotificationQuery) -> Void = { _ in }) throws
            -> String?
        {
            var query = NotificationQuery(key: key)
            change(&query)
            return try bench.center.notification(for: query).map { found in
                var json: [UInt8] = []
                found.write(to: &json)
                return String(decoding: json, as: UTF8.self)
            }
        }
        let head = #"{"application":"shop","recipient":"ana","identifier":"order""#
        let (second, third) = (at(120_000).rfc3339, at(180_000).rfc3339)
        let name = id("p").description
        let pending = #""pending":{"requestId":"\#(name)","waitsFor":"time","nextTriggerDate":"\#(second)""#
        let delivered = """
            "delivered":{"requestId":"\(name)","occurrence":"\(at(60_000).rfc3339)","deliveredAt":"\(at(60_000).rfc3339)"}
            """
        #expect(try text() == #"\#(head),\#(pending),"content":{"title":"T"}},\#(delivered)}"#)
        #expect(
            try text { ($0.occurrences, $0.states) = (2, [.pending]) }
                == #"\#(head),\#(pending),"occurrences":["\#(second)","\#(third)"],"content":{"title":"T"}}}"#
        )
        #expect(try text { $0.states = [.delivered] } == "\(head),\(delivered)}")
        #expect(try text(key("other")) == nil)

        let entry = LocationTrigger(
            region: CircularRegion(latitude: 1, longitude: 1, radius: 100),
            notifyOnEntry: true,
            notifyOnExit: false,
            repeats: false
        )
        let waiting = key("near")
        bench.apply(request("w", waiting, .region(entry), expiration: at(900_000)))
        let near =
            #"{"application":"shop","recipient":"ana","identifier":"near","pending":{"requestId":"\#(id("w"))","waitsFor":"region","#
        let expiration = #""expiration":"\#(at(900_000).rfc3339)","content":{"title":"T"}"#
        #expect(try text(waiting) { $0.occurrences = 2 } == "\(near)\(expiration)}}")

        var sending = Bench(LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test)))
        sending.apply(request("s"))
        try sending.answer(.failed(retryAfter: nil))
        bench = sending
        let operation = try #require(sending.sends.last).id
        let pause = try #require(RetryPolicy().pause(after: 1, of: operation, spent: 0, request: nil))
        let attempt = #""sending":{"requestId":"\#(id("s"))","attempt":1,"nextAttempt":"\#(at(pause).rfc3339)""#
        #expect(try text() == #"\#(head),\#(attempt),"content":{"title":"T"}}}"#)
        #expect(try text { $0.states = [.delivered] } == nil)
    }

    /// What the notifications of a bench wait for, by identifier; with `sending.` before what a channel has.
    private func waits(_ bench: Bench, _ names: String...) throws -> [String?] {
        try names.map { name in
            guard let found = try bench.center.notification(for: NotificationQuery(key: key(name))) else { return nil }
            var json: [UInt8] = []
            found.write(to: &json)
            let value = try JSONValue.parse(json)
            return value.value(at: "pending.waitsFor")?.stringValue
                ?? value.value(at: "sending.waitsFor")?.stringValue.map { "sending.\($0)" }
        }
    }

    @Test("a query says what a notification waits for")
    func waitsFor() throws {
        var rules = LimitTests.exactlyOnce
        rules.channels = ChannelRules(.test)
        var bench = Bench(rules)
        bench.apply(request("i", key("interval"), interval(3600)))
        bench.apply(request("w", key("window"), .immediate(collapseWindow: 10_000)))
        bench.apply(try LimitTests.request("quiet", quiet: LimitTests.quiet))
        bench.apply(try LimitTests.request("expiring", quiet: LimitTests.quiet, expiration: at(600_000)))
        bench.apply(
            try LimitTests.request("repeat", LimitTests.ofThread, interval(60, repeats: true), quiet: LimitTests.quiet)
        )
        bench.apply(try LimitTests.request("digest", digest: LimitTests.digest))
        #expect(
            try waits(bench, "interval", "window", "quiet", "expiring", "repeat", "digest")
                == ["time", "collapse-window", "quiet-hours", "quiet-hours", "time", "digest"]
        )
        bench.fire(60_000)
        #expect(try waits(bench, "repeat", "quiet") == ["quiet-hours", "quiet-hours"])
        bench.apply(request("first", key("busy")))
        bench.apply(request("second", key("busy")))
        #expect(try waits(bench, "busy") == ["sending"])
    }

    @Test("a query says that quiet hours hold back an attempt")
    func heldAttempt() throws {
        var rules = LimitTests.exactlyOnce
        rules.channels = ChannelRules(.test)
        var bench = Bench(rules)
        // The clock begins at 08:00.
        bench.apply(try LimitTests.request("late", quiet: #"{"start":"08:01","end":"09:00"}"#))
        try bench.answer(.failed(retryAfter: 120_000))
        #expect(try waits(bench, "late") == [nil])
        bench.fire(200_000)
        #expect(try waits(bench, "late") == ["sending.quiet-hours"])
    }
}
