import NotificationModel
import Testing

@testable import NotificationConsumer

/// What the changelog is told at once, what later, and how the rest is made again.
struct LazyChangelogTests {
    private static func keys(_ changes: [StoreChange]) -> [String] {
        changes.map { String(decoding: $0.key, as: UTF8.self) + ($0.value == nil ? " gone" : "") }
    }

    @Test func `what is unfinished is told at once, what was finished at once after a while, however often it changed`()
    {
        var bench = Bench()
        bench.apply(request("a", key("sent")), 0)
        bench.apply(request("b", key("waits"), interval(600)), 1)
        bench.apply(request("c", key("sent")), 2)
        #expect(Self.keys(bench.center.cut(at: at(100))) == ["shop/ana/waits"])
        #expect(bench.center.replayOffset == 0)
        #expect(bench.center.cut(at: at(9_000)).isEmpty)
        #expect(Self.keys(bench.center.cut(at: at(10_001))) == ["shop/ana/sent"])
        #expect(bench.center.replayOffset == nil)
    }

    @Test func `the end of what the changelog has as unfinished is told at once`() throws {
        var bench = Bench()
        bench.apply(request("a", key("order"), interval(60)))
        try bench.commit()
        try bench.center.refill(at: at(60_000))
        bench.fire(60_000)
        #expect(Self.keys(bench.center.cut(at: at(60_001))) == ["shop/ana/order"])
        // From then on it is finished.
        bench.apply(request("b", key("order")), 60_002)
        #expect(bench.center.cut(at: at(60_003)).isEmpty)
    }

    @Test func `at the end of an owner's work nothing waits`() {
        var bench = Bench()
        bench.apply(request("a"))
        #expect(Self.keys(bench.center.cut(at: at(1), all: true)) == ["shop/ana/order"])
        #expect(bench.center.replayOffset == nil)
    }

    /// Inputs of all kinds that are finished at once, and some that are not.
    private static func input(_ step: Int, _ random: inout SystemRandomNumberGenerator) -> PartitionCenter.Input {
        let target = key("k\(Int.random(in: 0..<6, using: &random))", recipient: Bool.random() ? "ana" : "bo")
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<6: return request("q\(step)", target, version: Bool.random() ? Int64.random(in: 0..<20) : nil)
        case 6: return request("q\(step)", target, interval(Double.random(in: 0.1...30)))
        case 7: return request("q\(step)", target, .immediate(collapseWindow: 500))
        case 8: return request("q\(max(0, step - 7))", target)
        case 9: return removal("r\(step)", target, .delivered)
        case 10: return removal("r\(step)", key("", recipient: target.recipient))
        default: return removal("r\(step)", target, .pending)
        }
    }

    @Test(arguments: 0..<100)
    func `from any cut, reading the log again makes the centre that was there`(seed: Int) throws {
        var random = SystemRandomNumberGenerator()
        var bench = Bench()
        var log: [PartitionCenter.Input] = []
        // A changelog that is told at irregular times, as by the lane.
        for step in 0..<400 {
            let now = Int64(step) * 100
            let next = Self.input(step, &random)
            log.append(next.placed(at: Int64(step)))
            bench.apply(next, now)
            bench.fire(now)
            if Int.random(in: 0..<5, using: &random) == 0 {
                let position = StorePosition(lineage: "test", offset: 1, writtenAt: at(now))
                try bench.center.settle(bench.center.cut(at: at(now)), position: position)
            }
        }
        let wall = at(40_000)
        let position = StorePosition(lineage: "test", offset: 1, writtenAt: wall)
        try bench.center.settle(bench.center.cut(at: wall), position: position)

        var again = try PartitionCenter(
            rules: NotificationCenter(retention: PartitionCenter.Limits().retention),
            limits: .init(),
            store: bench.store,
            firedThrough: at(0),
            at: wall
        )
        for input in log[Int(bench.center.replayOffset ?? 400)...] { try again.replay(input, at: wall) }
        for recipient in ["ana", "bo"] {
            for number in 0..<6 {
                let target = key("k\(number)", recipient: recipient)
                let (was, now) = (try bench.center.entry(of: target), try again.entry(of: target))
                #expect(was?.pending == now?.pending)
                #expect(was?.delivered?.requestID == now?.delivered?.requestID)
                #expect(was?.version == now?.version)
                #expect(was?.known.map(\.id) ?? [] == now?.known.map(\.id) ?? [])
            }
        }
        #expect(again.pendingCount == bench.center.pendingCount)
        #expect(again.entryCount == bench.center.entryCount)
    }
}
