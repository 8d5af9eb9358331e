import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// A repeat changes nothing, even if the first record found nothing.
struct RepeatTests {
    private static let everything = key("")

    @Test func `a repeat of a cancellation that found nothing removes nothing`() {
        var bench = Bench()
        #expect(bench.apply(removal("r"), 0).summary == ["cancellation.missed r"])
        bench.apply(request("q", interval(3)), 1)
        #expect(bench.apply(removal("r"), 2).isEmpty)
        #expect(bench.apply(request("q", interval(3)), 3).isEmpty)
        #expect(bench.outcomes == [.applied, .applied, .duplicate, .duplicate])
        #expect(bench.fire(3_000).summary == ["delivered q!"])
    }

    @Test(arguments: RemovalScope.allCases)
    func `a removal of everything is applied once, with any entries`(scope: RemovalScope) {
        for isEmpty in [true, false] {
            var bench = Bench()
            if !isEmpty {
                bench.apply(request("a", key("delivered")), 0)
                bench.apply(request("b", key("pending"), interval(60)), 0)
            }
            #expect(!bench.apply(removal("all", Self.everything, scope), 1).isEmpty)
            bench.apply(request("c", key("pending"), interval(60)), 2)
            bench.apply(request("d", key("delivered")), 2)
            #expect(bench.apply(removal("all", Self.everything, scope), 3).isEmpty)
            #expect(bench.outcomes.last == .duplicate)
            #expect(bench.entry(key("pending"))?.pending?.requestID == id("c"))
            #expect(bench.entry(key("delivered"))?.delivered?.requestID == id("d"))
        }
    }

    @Test func `the record of a removal of everything is not a notification of the recipient`() throws {
        var bench = Bench()
        bench.apply(removal("first", Self.everything), 0)
        #expect(bench.recipient(Self.everything)?.removals.map(\.id) == [id("first")])
        #expect(bench.apply(removal("second", Self.everything), 1).summary == ["cancellation.missed second"])
        #expect(bench.center.pendingCount == 0)
        // It is in the changelog and in the store like any entry.
        #expect(bench.center.cut(at: at(2), all: true).map(\.key) == [Self.everything.encoded])
        try bench.commit()
        bench.apply(request("q"), 3)
        #expect(bench.apply(removal("second", Self.everything), 4).isEmpty)
        #expect(bench.apply(removal("third", Self.everything), 5).summary == ["removed q"])
    }

    @Test func `removals are forgotten after the retention, and no more of them are kept`() {
        var bench = Bench(limits: .init(retention: 60_000))
        bench.apply(removal("one", at: at(0)), 0)
        bench.apply(removal("all", Self.everything, at: at(0)), 0)
        bench.apply(request("q", interval(3600)), 1)
        bench.apply(removal("one", at: at(60_000)), 60_000)
        bench.apply(removal("all", Self.everything, at: at(60_000)), 60_000)
        #expect(bench.outcomes.suffix(2) == [.duplicate, .duplicate])
        #expect(bench.apply(removal("one", at: at(60_001)), 60_001).summary == ["cancelled q!"])
        #expect(
            bench.apply(removal("all", Self.everything, at: at(60_001)), 60_001).summary == ["cancellation.missed all"]
        )
        for number in 0..<1000 {
            bench.apply(removal("r\(number)", Self.everything), 60_002)
            bench.apply(removal("s\(number)"), 60_002)
        }
        #expect((64...128).contains(bench.recipient(Self.everything)?.removals.count ?? 0))
        #expect((64...128).contains(bench.entry(key("order"))?.known.count ?? 0))
    }

    @Test func `remembered removals count towards the limit on entries`() throws {
        var bench = Bench(limits: .init(maximumEntries: 3))
        for number in 0..<3 { bench.apply(request("q\(number)", key("k\(number)"), interval(60)), 0) }
        try bench.commit()
        bench.apply(removal("r", key("other")), 1_000)
        bench.apply(removal("all", key("", recipient: "bo")), 1_000)
        #expect(bench.center.entryCount == 3)
    }

    /// A replayed removal of everything applies to the entries that it has not changed yet; at another offset it is a repeat.
    @Test func `a replayed removal of everything is applied to older requests, and to no others`()
        throws
    {
        var bench = Bench()
        bench.apply(request("a", key("a"), interval(60)), 0)  // 0
        bench.apply(request("b", key("b"), interval(60)), 0)  // 1
        try bench.commit()
        let before = try #require(bench.store.entry(of: key("b").encoded))
        bench.apply(removal("all", Self.everything, .pending), 1)  // 2
        bench.apply(request("c", key("c"), interval(60)), 2)  // 3
        bench.apply(removal("all", Self.everything, .pending), 3)  // 4: a repeat
        bench.apply(removal("other", Self.everything, .delivered), 4)  // 5
        try bench.commit()
        // Only the entry of `b` did not reach the changelog.
        bench.store.write(
            [StoreChange(key: before.key, value: before.value, due: at(60_000), touched: at(0))],
            position: try #require(bench.store.position)
        )
        var again = Bench(over: bench.store)
        again.offset = 2
        #expect(again.apply(removal("all", Self.everything, .pending), 10).summary == ["cancelled b!"])
        again.apply(request("c", key("c"), interval(60)), 10)
        #expect(again.apply(removal("all", Self.everything, .pending), 10).isEmpty)
        #expect(again.entry(key("c"))?.pending?.requestID == id("c"))
    }

    /// Every way in which a request can end immediately.
    @Test func `a request is remembered however it ended`() throws {
        var bench = Bench(limits: .init(maximumEntries: 4))
        let requests = [
            request("new", key("versioned"), version: 5), request("old", key("versioned"), version: 4),
            request("late", key("expired"), expiration: at(0)),
            request("never", key("planned"), interval(60), expiration: at(1_000)),
            request("held", key("window"), .immediate(collapseWindow: 5_000), expiration: at(1_000)),
        ]
        for request in requests { #expect(!bench.apply(request, 10).isEmpty) }
        for request in requests { #expect(bench.apply(request, 20).isEmpty) }
        #expect(bench.outcomes.suffix(5).allSatisfy { $0 == .duplicate })
    }
}
