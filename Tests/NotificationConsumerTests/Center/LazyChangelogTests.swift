import NotificationModel
import NotificationState
import Testing
import TestSupport

@testable import NotificationConsumer

/// Which changes are in the next cut, which in a later one, and how a replay reproduces the rest.
struct LazyChangelogTests {
    private static func keys(_ changes: [StoreChange]) -> [String] {
        changes.map { String(decoding: $0.key, as: UTF8.self) + ($0.value == nil ? " gone" : "") }
    }

    @Test
    func
        `an unfinished entry is in the next cut; one that finished immediately is in a later cut, once for all its changes`()
    {
        var bench = Bench()
        bench.apply(request("a", key("sent")), 0)
        bench.apply(request("b", key("waits"), interval(600)), 1)
        bench.apply(request("c", key("sent")), 2)
        #expect(Self.keys(bench.center.cut(at: at(100))) == ["shop/ana/waits"])
        #expect(bench.center.replayOffset(of: .requests) == 0)
        #expect(bench.center.cut(at: at(9_000)).isEmpty)
        #expect(Self.keys(bench.center.cut(at: at(10_001))) == ["shop/ana/sent"])
        #expect(bench.center.replayOffset(of: .requests) == nil)
    }

    @Test func `the end of an entry that is unfinished in the changelog is in the next cut`() throws {
        var bench = Bench()
        bench.apply(request("a", key("order"), interval(60)))
        try bench.commit()
        try bench.center.refill(at: at(60_000))
        bench.fire(60_000)
        #expect(Self.keys(bench.center.cut(at: at(60_001))) == ["shop/ana/order"])
        // From here on it is finished.
        bench.apply(request("b", key("order")), 60_002)
        #expect(bench.center.cut(at: at(60_003)).isEmpty)
    }

    @Test func `at a handover all changes are in the cut`() {
        var bench = Bench()
        bench.apply(request("a"))
        #expect(Self.keys(bench.center.cut(at: at(1), all: true)) == ["shop/ana/order"])
        #expect(bench.center.replayOffset(of: .requests) == nil)
    }

    private static func version(_ random: inout SeededGenerator) -> Int64? {
        Bool.random(using: &random) ? Int64.random(in: 0..<20, using: &random) : nil
    }

    /// Inputs of all kinds that finish immediately, and some that do not.
    private static func input(_ step: Int, _ random: inout SeededGenerator) -> CenterInput {
        let target = key(
            "k\(Int.random(in: 0..<6, using: &random))",
            recipient: Bool.random(using: &random) ? "ana" : "bo"
        )
        let earlier = max(0, step - Int.random(in: 1...20, using: &random))
        switch Int.random(in: 0..<15, using: &random) {
        case 0..<6: return request("q\(step)", target, version: version(&random))
        case 6: return request("q\(step)", target, interval(Double.random(in: 0.1...30)))
        case 7: return request("q\(step)", target, .immediate(collapseWindow: 500))
        case 8: return request("q\(max(0, step - 7))", target)
        case 9: return removal("r\(step)", target, .delivered)
        case 10: return removal("r\(step)", key("", recipient: target.recipient))
        case 11: return removal("r\(earlier)", target, .pending)
        case 12: return removal("r\(earlier)", key("", recipient: target.recipient))
        case 13: return request("q\(earlier)", target, interval(5))
        default: return removal("r\(step)", target, .pending)
        }
    }

    /// One partition with room for all entries, and one that constantly forgets entries and suppresses requests.
    @Test(arguments: 0..<100, [1_000_000, 6])
    func `from any cut, a replay of the log reproduces the center`(seed: Int, entries: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let limits = PartitionCenter.Limits(maximumEntries: entries, entriesPerPiece: seed % 2 == 0 ? 1000 : 2)
        var bench = Bench(limits: limits)
        var log: [CenterInput] = []
        /// Dead letters for a reason that may not apply at the replay.
        var refused: Set<Int64> = []
        // Cuts at irregular times, as in the lane.
        for step in 0..<400 {
            let now = Int64(step) * 100
            let next = Self.input(step, &random)
            log.append(next.placed(at: Int64(step)))
            if Int.random(in: 0..<20, using: &random) == 0 {
                refused.insert(Int64(step))
                bench.center.noteUndecided(at: .init(.requests, offset: Int64(step)))
                bench.offset += 1
            } else {
                bench.apply(next, now)
                while bench.center.isUnfinished { bench.proceed(now) }
            }
            bench.fire(now)
            _ = try bench.center.forget(at: at(now))
            if Int.random(in: 0..<5, using: &random) == 0 {
                let position = StorePosition(lineage: "test", offset: 1, writtenAt: at(now))
                try bench.center.noteCommitted(bench.center.cut(at: at(now)), position: position)
            }
        }
        let wall = at(40_000)
        let position = StorePosition(lineage: "test", offset: 1, writtenAt: wall)
        try bench.center.noteCommitted(bench.center.cut(at: wall), position: position)

        var again = Bench(over: bench.store, limits: limits)
        let range = (bench.center.replayOffset(of: .requests) ?? 400)..<(bench.center.replayEnd(of: .requests) ?? 400)
        #expect(refused.isDisjoint(with: range))
        for input in log[Int(range.lowerBound)..<Int(range.upperBound)] { try again.center.replay(input, at: wall) }
        var effects: [Effect] = []
        again.center.exchangeEffects(with: &effects)
        #expect(effects.isEmpty)
        for recipient in ["ana", "bo"] {
            for target in (0..<6).map({ key("k\($0)", recipient: recipient) }) {
                let (was, now) = (bench.entry(target), again.entry(target))
                #expect(was?.pending == now?.pending)
                #expect(was?.delivered?.requestID == now?.delivered?.requestID)
                #expect(was?.version == now?.version)
                #expect(was?.known.map(\.id) ?? [] == now?.known.map(\.id) ?? [])
            }
            let everything = key("", recipient: recipient)
            let (was, now) = (bench.recipient(everything)?.removals ?? [], again.recipient(everything)?.removals ?? [])
            #expect(was.map(\.id) == now.map(\.id))
        }
        #expect(again.center.pendingCount == bench.center.pendingCount)
        #expect(again.center.entryCount == bench.center.entryCount)
    }

    @Test func `decisions that depend on the clock or on the limit of entries are not replayed`() throws {
        var bench = Bench(limits: .init(maximumEntries: 2))
        bench.apply(request("sent", key("sent")), 0)
        // A dead letter because of its timestamp, at offset 1.
        bench.center.noteUndecided(at: .init(.requests, offset: 1))
        bench.offset = 2
        bench.apply(request("waits", key("waits"), interval(60)), 0)
        #expect(bench.center.cut(at: at(1)).map(\.key) == [key("waits"), key("sent")].map(\.encoded))
        bench.apply(request("more", key("more"), interval(60)), 0)
        #expect(bench.apply(request("capped", key("capped")), 0).map(\.reason) == [.capped])
        #expect(bench.center.replayOffset(of: .requests) == nil)
        // There was no waiting change, so the replay has no end; then there is one.
        bench.apply(request("late", key("waits"), version: 1), 1)
        bench.apply(request("again", key("capped")), 2)
        #expect(bench.center.replayOffset(of: .requests).map { $0 >= 5 } ?? true)
    }

    @Test func `after the end of the replay all changes are in the next cut, until that end is committed`() throws {
        var bench = Bench()
        bench.apply(request("a", key("a")), 0)  // 0
        bench.center.noteUndecided(at: .init(.requests, offset: 1))
        bench.offset = 2
        bench.apply(request("b", key("b")), 0)  // 2
        #expect((bench.center.replayOffset(of: .requests), bench.center.replayEnd(of: .requests)) == (0, 1))
        #expect(Set(Self.keys(bench.center.cut(at: at(1)))) == ["shop/ana/a", "shop/ana/b"])
        bench.apply(request("c", key("c")), 2)  // 3
        #expect((bench.center.replayOffset(of: .requests), bench.center.replayEnd(of: .requests)) == (3, nil))
        #expect(bench.center.cut(at: at(3)).isEmpty)
        // After a takeover the end is the same.
        try bench.commit()
        var again = Bench(over: bench.store)
        try again.center.replay(request("d", key("d")).placed(at: 4), at: at(4))
        again.center.endReplay(before: .init(.requests, offset: 5), of: 7)
        #expect((again.center.replayOffset(of: .requests), again.center.replayEnd(of: .requests)) == (4, 5))
    }

    /// The replay discards events: only what the log decides may follow from it.
    @Test func `what waits for its turn does not leave in a replay`() throws {
        var bench = Bench()
        bench.center.sendLimit = at(0)
        let records = [removal("r"), request("q", expiration: at(60_000)), removal("r")]
        for record in records { bench.apply(record, 10) }
        #expect(bench.events.summary == ["cancellation.missed r"])
        #expect(bench.center.replayOffset(of: .requests) == 0)
        let position = StorePosition(lineage: "test", offset: 1, writtenAt: at(10))
        try bench.center.noteCommitted(bench.center.cut(at: at(10)), position: position)

        var again = Bench(over: bench.store, firedThrough: at(1_000))
        for (offset, record) in records.enumerated() {
            try again.center.replay(record.placed(at: Int64(offset)), at: at(20))
        }
        #expect(again.entry(key("order"))?.pending?.requestID == id("q"))
        #expect(again.fire(30).summary == ["delivered q!"])
    }

    @Test func `a repeat beside what waits is not written`() throws {
        var bench = Bench()
        bench.apply(removal("r"))
        bench.apply(request("q", interval(60)))
        try bench.commit()
        bench.apply(removal("r"), 10)
        #expect(bench.center.cut(at: at(20), all: true).isEmpty)
    }

    @Test func `what only the store has is forgotten there, too`() throws {
        let limits = PartitionCenter.Limits(retention: 60_000)
        var bench = Bench(limits: limits)
        bench.apply(request("x", key("x")), 0)
        bench.apply(request("y", key("y")), 0)
        try bench.commit()
        var next = Bench(over: bench.store, limits: limits)
        _ = try next.center.forget(at: at(100_000))
        // One of them comes back before the cut.
        next.offset = 10
        next.apply(request("z", key("y")), 100_000)
        try next.commit()
        #expect(next.store.counts.entries == 1 && next.entry(key("x")) == nil && next.entry(key("y")) != nil)
    }

    @Test func `an entry is not forgotten while a record that concerns it may be replayed`() throws {
        var bench = Bench(limits: .init(maximumEntries: 2))
        bench.apply(request("x", key("x")), 0)  // 0
        try bench.commit()
        bench.apply(request("y", key("y")), 100_000)  // 1
        // A repeat that only the entry can detect.
        bench.apply(request("x", key("x")), 100_001)  // 2
        bench.apply(request("z", key("z")), 100_002)  // 3
        bench.apply(request("w", key("w")), 100_003)  // 4
        #expect(bench.entry(key("x"))?.delivered != nil)
        #expect(bench.center.replayOffset(of: .requests) == 1)
        let position = StorePosition(lineage: "test", offset: 1, writtenAt: at(120_000))
        try bench.center.noteCommitted(bench.center.cut(at: at(120_000)), position: position)
        #expect(bench.center.replayOffset(of: .requests) == nil)
        _ = try bench.center.forget(at: at(122_000))
        #expect(bench.center.entryCount < 4)
    }
}
