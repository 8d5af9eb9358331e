import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// A removal of all of a recipient's notifications is applied in pieces.
struct RemovalInPiecesTests {
    private static let limits = PartitionCenter.Limits(maximumResident: 3, entriesPerPiece: 4)

    /// 25 pending and one delivered notification of ana, one of bo; some in memory and some only in the store.
    private static func bench() throws -> Bench {
        var bench = Bench(limits: limits)
        bench.apply(request("bo", key("k", recipient: "bo"), interval(3600)), 0)
        bench.apply(request("d", key("d")), 0)
        for number in 0..<20 { bench.apply(request("q\(number)", key("k\(number)"), interval(3600)), 0) }
        try bench.commit()
        for number in 20..<25 { bench.apply(request("q\(number)", key("k\(number)"), interval(3600)), 0) }
        return bench
    }

    @Test func `each piece changes a few entries, together they change all, and there is one event for the removal`()
        throws
    {
        var bench = try Self.bench()
        let (all, position) = (removal("all", key("")), bench.offset)
        var events = bench.apply(all, 1)
        var pieces = 0
        while bench.outcomes.last == .unfinished {
            #expect(bench.center.isUnfinished)
            let piece = bench.proceed(1)
            #expect(piece.count <= 4)
            events += piece
            pieces += 1
            try bench.commit()
            #expect(bench.center.residentCount <= 15)
        }
        #expect(!bench.center.isUnfinished && bench.outcomes.last == .applied && pieces >= 6)
        #expect(Set(events.summary) == Set((0..<25).map { "cancelled q\($0)!" } + ["removed d"]))
        #expect(events.count == 26)
        #expect(bench.center.pendingCount == 1)
        #expect(bench.entry(key("k3"))?.applied[.requests].offset == position)
        // Its repeat does nothing, and neither does a replay of its record.
        #expect(bench.apply(all, 2).isEmpty && bench.outcomes.last == .duplicate)
        bench.offset = position
        bench.apply(all, 3)
        while bench.outcomes.last == .unfinished { bench.proceed(3) }
        #expect(bench.events.count == events.count + 27)
    }

    @Test func `no timer of the partition fires before the removal is complete`() throws {
        var bench = Bench(limits: Self.limits)
        for number in 0..<10 { bench.apply(request("q\(number)", key("k\(number)"), interval(1)), 0) }
        bench.apply(removal("all", key("")), 1)
        #expect(bench.outcomes.last == .unfinished)
        bench.proceed(1)
        #expect(bench.fire(5_000).isEmpty)
        while bench.outcomes.last == .unfinished { bench.proceed(5_000) }
        #expect(bench.fire(5_001).isEmpty)
        #expect(bench.events.filter { $0.name == .cancelled }.count == 10)
    }

    @Test(arguments: [true, false], 0..<8)
    func `after a crash the removal continues after the committed piece, and its event is right`(
        findsSomething: Bool,
        pieces: Int
    ) throws {
        var bench = try Self.bench()
        try bench.commit()
        if !findsSomething {
            // With the scope `all`, delivered notifications are removed first.
            bench.apply(removal("d", key("d")), 1)
            try bench.commit()
        }
        let scope: RemovalScope = findsSomething ? .pending : .delivered
        let (all, position) = (removal("all", key(""), scope), bench.offset)
        bench.apply(all, 1)
        for _ in 0..<pieces where bench.outcomes.last == .unfinished { bench.proceed(1) }
        let told = bench.events
        try bench.commit()
        #expect(bench.center.replayOffset(of: .requests) == nil)

        var again = Bench(over: bench.store, limits: Self.limits)
        again.offset = position
        again.apply(all, 10)
        while again.outcomes.last == .unfinished { again.proceed(10) }
        let events = (told + again.events).filter { $0.by == id("all") || $0.requestID == id("all") }.summary
        if findsSomething {
            #expect(events.sorted() == (0..<25).map { "cancelled q\($0)!" }.sorted())
            #expect(again.center.pendingCount == 1)
        } else {
            #expect(Set(events) == ["cancellation.missed all"])
            #expect(again.center.pendingCount == 26)
        }
        #expect(again.apply(all, 11).isEmpty && again.outcomes.last == .duplicate)
    }

    /// An incomplete removal is in the next cut: earlier inputs may still be replayed, but the removal may not.
    @Test func `an incomplete removal is not replayed`() throws {
        var bench = Bench(limits: Self.limits)
        for number in 0..<6 { bench.apply(request("q\(number)", key("k\(number)")), 0) }
        bench.apply(removal("all", key("")), 1)
        #expect((bench.center.replayOffset(of: .requests), bench.center.replayEnd(of: .requests)) == (0, 6))
        #expect(bench.center.cut(at: at(2)).count == 6)
        #expect(bench.center.replayOffset(of: .requests) == nil)
    }
}
