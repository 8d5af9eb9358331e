import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

struct RestoreTests {
    private static let hour: Int64 = 3_600_000

    private static func refusal(
        lineage: String = "l",
        offset: Int64 = 50,
        low: Int64 = 0,
        high: Int64 = 100,
        age: Int64 = 0
    ) -> String? {
        Restore.refusal(
            of: StorePosition(lineage: lineage, offset: offset, writtenAt: at(-age)),
            low: low,
            high: high,
            at: at(0),
            deletionsKept: 23 * hour
        )
    }

    @Test func `a store is used only if the changelog contains all later changes`() {
        #expect(Self.refusal() == nil)
        #expect(Self.refusal(offset: 100) == nil)
        #expect(Self.refusal(offset: 101)?.contains("ahead") == true)
        // The marker of its last write is the record before its offset.
        #expect(Self.refusal(offset: 21, low: 20) == nil)
        #expect(Self.refusal(offset: 20, low: 20)?.contains("no longer holds") == true)
        #expect(Self.refusal(age: 23 * Self.hour) == nil)
        #expect(Self.refusal(age: 23 * Self.hour + 1)?.contains("deletions") == true)
        #expect(Self.refusal(lineage: "")?.contains("not filled") == true)
    }

    @Test func `a limit from before the clock was set back is reported once more, and then no longer applies`() throws {
        let bench = Bench()
        let partition = OwnedPartition(
            center: bench.center,
            inputs: .at(7),
            lineage: "l",
            firedThrough: at(5000),
            hasMarker: true
        )
        func cut(_ now: Int64) -> Timestamp? {
            _ = partition.takeCut(topics: TopicNames(), partitions: 1, timeZoneDataVersion: "", at: at(now), all: false)
            return partition.marker?.firedThrough
        }
        #expect(cut(1000) == at(5000))
        #expect(partition.fireLimit == at(2000))
        try partition.commit(markerAt: 1, at: at(0))
        #expect(cut(1100) == at(2100))
        #expect(partition.fireLimit == at(2000))
        try partition.commit(markerAt: 2, at: at(0))
        #expect(partition.fireLimit == at(2100))
    }

    @Test func `a notification due within a marker's limit is late, and expired, according to the clock`() throws {
        for (misfire, expected) in [
            (MisfirePolicy.drop, [DeliveryEventName.missed, .expired]), (.once, [.delivered]),
        ] {
            var bench = Bench()
            bench.apply(request("a", interval(10, misfire: misfire)), 0)
            try bench.commit()
            try bench.center.refill(at: at(0))
            let partition = OwnedPartition(
                center: bench.center,
                inputs: .at(1),
                lineage: "l",
                firedThrough: at(10_500),
                hasMarker: true
            )
            _ = try partition.fireDue(at: at(60_000), limit: 10) { _ in }
            #expect(partition.center.takeEffects().events.map(\.name) == expected)
        }
    }

    @Test func `a limit is further ahead where checkpoints take long, so that it has not passed when it takes effect`()
        throws
    {
        let partition = OwnedPartition(
            center: Bench().center,
            inputs: .at(7),
            lineage: "l",
            firedThrough: at(0),
            hasMarker: true
        )
        func checkpoint(_ now: Int64, taking time: Int64) throws -> Int64? {
            _ = partition.takeCut(topics: TopicNames(), partitions: 1, timeZoneDataVersion: "", at: at(now), all: false)
            try partition.commit(markerAt: 1, at: at(now + time))
            return partition.fireLimit.rawValue - at(now).rawValue
        }
        #expect(try checkpoint(10_000, taking: 5_000) == 1_000)
        #expect(try checkpoint(20_000, taking: 100) == 10_000)
        #expect(try checkpoint(30_000, taking: 90_000) == 5_000)
        #expect(try checkpoint(200_000, taking: -5_000) == 30_000)
        #expect(try checkpoint(300_000, taking: 100) == 15_000)
    }

    @Test func `no timer fires after the committed limit, and a timer near it requests a later limit`() throws {
        var bench = Bench()
        bench.apply(request("a", interval(10)), 0)
        try bench.commit()
        try bench.center.refill(at: at(0))
        let partition = OwnedPartition(
            center: bench.center,
            inputs: .at(1),
            lineage: "l",
            firedThrough: at(9_999),
            hasMarker: true
        )
        func fire(_ now: Int64) throws -> Int { try partition.fireDue(at: at(now), limit: 10) { _ in }.count }
        let (asksEarly, next, asks) = (
            partition.wantsLimit(at: at(9_499)), partition.nextWork(), partition.wantsLimit(at: at(9_500))
        )
        #expect(!asksEarly && asks && next == at(9_500))
        #expect(try fire(20_000) == 0)
        let early = partition.center.takeEffects().events
        #expect(early.isEmpty)
        _ = partition.takeCut(topics: TopicNames(), partitions: 1, timeZoneDataVersion: "", at: at(9_500), all: false)
        // Announced, but not committed yet.
        #expect(try fire(20_000) == 0)
        try partition.commit(markerAt: 3, at: at(0))
        #expect(try fire(20_000) == 1)
        let events = partition.center.takeEffects().events
        #expect(events.first?.occurrence == at(10_000))
    }

    @Test
    func `what was due within the limit and comes after it waits for one later limit, and is tried once until then`()
        throws
    {
        let rules = LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test))
        for plan in [interval(10), .immediate(collapseWindow: 10_000)] {
            var bench = Bench(rules)
            bench.apply(request("a", plan), 0)
            try bench.commit()
            try bench.center.refill(at: at(0))
            let partition = OwnedPartition(
                center: bench.center,
                inputs: .at(1),
                lineage: "l",
                firedThrough: at(10_500),
                hasMarker: true
            )
            func fire(_ now: Int64) throws -> Int { try partition.fireDue(at: at(now), limit: 100) { _ in }.count }
            #expect(try fire(20_000) == 1)
            #expect(partition.center.takeEffects().sends.isEmpty && partition.wantsLimit(at: at(20_000)))
            #expect(try fire(20_001) <= 1)
            _ = partition.takeCut(
                topics: TopicNames(),
                partitions: 1,
                timeZoneDataVersion: "",
                at: at(20_100),
                all: false
            )
            try partition.commit(markerAt: 3, at: at(0))
            try partition.center.refill(at: at(20_200))
            #expect(try fire(20_200) == 1)
            #expect(partition.center.takeEffects().sends.count == 1 && !partition.wantsLimit(at: at(20_300)))
        }
    }
}
