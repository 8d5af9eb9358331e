import Foundation
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// Partitions whose next owner has other time zone data.
@Suite("Planning again with other time zone data")
struct ReplanTests {
    /// A database with one zone, `Test/Zone`, which has the rules of a zone of the system; for nil it has none.
    private static func database(_ name: String?) throws -> TimeZoneDatabase {
        let folder = URL(fileURLWithPath: TimeZoneDatabase.systemDirectory)
        func file(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appending(path: name))) }
        var files = ["UTC": try file("UTC")]
        if let name { files["Test/Zone"] = try file(name) }
        return try TimeZoneDatabase(version: name ?? "none", files: files)
    }

    /// 2026-07-01T12:00:00Z: Berlin has +02:00, Lagos +01:00 all year, Moscow +03:00.
    private static let noon: Int64 = 1_782_907_200_000
    private static func instant(_ milliseconds: Int64) -> Timestamp { Timestamp(rawValue: milliseconds) }

    private static let hour: Int64 = 3_600_000
    private static let day = 24 * hour

    private static func input(_ trigger: CalendarTrigger, _ identifier: String = "a", in database: TimeZoneDatabase)
        throws -> CenterInput
    {
        let schedule = try Schedule(
            .calendar(trigger),
            anchor: instant(noon),
            zones: TimeZones(database, standard: "UTC")
        )
        return request(identifier, key(identifier), .scheduled(try #require(schedule)))
    }

    private static func daily(_ hour: Int = 9, repeats: Bool = true, misfire: MisfirePolicy? = nil) -> CalendarTrigger {
        CalendarTrigger(
            dateComponents: .init(hour: CalendarValues(hour)),
            timeZone: "Test/Zone",
            repeats: repeats,
            misfire: misfire
        )
    }

    private static func center(
        over store: MemoryEntryStore,
        _ zones: TimeZoneDatabase,
        firedThrough: Timestamp? = nil,
        at now: Int64 = noon
    ) throws -> PartitionCenter {
        try PartitionCenter(
            rules: LifecycleRules(retention: 1_000_000_000),
            limits: .init(),
            store: store,
            zones: zones,
            firedThrough: firedThrough,
            at: instant(now)
        )
    }

    private static func commit(_ center: inout PartitionCenter, at now: Int64) throws {
        var room = 0
        let changes = center.cut(at: instant(now), all: true, room: &room)
        try center.noteCommitted(
            changes,
            position: StorePosition(lineage: "l", offset: 1, writtenAt: instant(now))
        )
    }

    /// A store with what was planned in one zone, and a center of its next owner, which plans with another.
    private static func handOver(
        _ triggers: [CalendarTrigger],
        from before: TimeZoneDatabase,
        to after: TimeZoneDatabase,
        firedThrough: Timestamp? = nil,
        untilFired: Int64? = nil
    ) throws -> PartitionCenter {
        let store = MemoryEntryStore()
        var first = try center(over: store, before)
        for (number, trigger) in triggers.enumerated() {
            _ = try first.apply(try input(trigger, "n-\(number)", in: before), at: instant(noon))
        }
        if let untilFired { _ = try first.fireDue(at: instant(untilFired), limit: .max) }
        try commit(&first, at: untilFired ?? noon)
        var next = try center(over: store, after, firedThrough: firedThrough, at: untilFired ?? noon)
        next.replan = .init(from: before.version)
        return next
    }

    /// - Returns: how often it was asked for some entries.
    @discardableResult
    private static func replan(_ center: inout PartitionCenter, limit: Int = 256, at now: Int64 = noon) throws -> Int {
        var calls = 0
        while center.replan != nil, calls < 1000 {
            _ = try center.replan(at: instant(now), limit: limit)
            calls += 1
        }
        return calls
    }

    private static func delivered(_ center: inout PartitionCenter, at now: Int64) throws -> [Timestamp?] {
        while center.nextRefill != nil, try center.refill(at: instant(now)) > 0 {}
        _ = try center.fireDue(at: instant(now), limit: .max)
        var effects: [Effect] = []
        center.exchangeEffects(with: &effects)
        return effects.compactMap { effect in
            if case .publish(let event, _) = effect, event.name == .delivered { .some(event.occurrence) } else { nil }
        }
    }

    @Test func `what waits is due when the new rules say so, and no timer fires before all was looked at`() throws {
        // Tomorrow at 9: 07:00Z in Berlin, 08:00Z in Lagos.
        var center = try Self.handOver(
            [Self.daily(), Self.daily(repeats: false)],
            from: Self.database("Europe/Berlin"),
            to: Self.database("Africa/Lagos")
        )
        let old = Self.noon + 19 * Self.hour
        #expect(try Self.delivered(&center, at: old).isEmpty)
        try Self.replan(&center)
        #expect(try Self.delivered(&center, at: old).isEmpty)
        #expect(
            try Self.delivered(&center, at: old + Self.hour) == [
                Self.instant(old + Self.hour), Self.instant(old + Self.hour),
            ]
        )
        #expect(center.pendingCount == 1)
        #expect(
            try Self.delivered(&center, at: old + Self.hour + Self.day) == [Self.instant(old + Self.hour + Self.day)]
        )
    }

    @Test func `what fired does not fire again when its clock is put forward`() throws {
        // At 16 o'clock: 13:00Z in Moscow, and later the same day, 15:00Z, in Lagos.
        let fired = Self.noon + Self.hour
        var center = try Self.handOver(
            [Self.daily(16)],
            from: Self.database("Europe/Moscow"),
            to: Self.database("Africa/Lagos"),
            untilFired: fired
        )
        try Self.replan(&center, at: fired)
        #expect(try Self.delivered(&center, at: fired + 22 * Self.hour).isEmpty)
        #expect(try Self.delivered(&center, at: fired + 26 * Self.hour) == [Self.instant(fired + 26 * Self.hour)])
    }

    @Test func `what is past by the new rules follows the policy for missed occurrences`() throws {
        // At 16 o'clock: 15:00Z in Lagos, 13:00Z in Moscow; the next owner comes at 14:30Z.
        for (policy, isSent) in [(nil, false), (MisfirePolicy.once, true)] as [(MisfirePolicy?, Bool)] {
            var center = try Self.handOver(
                [Self.daily(16, misfire: policy)],
                from: Self.database("Africa/Lagos"),
                to: Self.database("Europe/Moscow")
            )
            let now = Self.noon + Self.hour * 5 / 2
            try Self.replan(&center, at: now)
            #expect(try Self.delivered(&center, at: now) == (isSent ? [Self.instant(Self.noon + Self.hour)] : []))
            #expect(center.pendingCount == 1)
        }
    }

    @Test func `what may have been sent is not moved: it is sent again under the same id`() throws {
        let due = Self.noon + 19 * Self.hour
        var center = try Self.handOver(
            [Self.daily()],
            from: Self.database("Europe/Berlin"),
            to: Self.database("Africa/Lagos"),
            firedThrough: Self.instant(due)
        )
        try Self.replan(&center)
        #expect(try Self.delivered(&center, at: due) == [Self.instant(due)])
        // And the next one as the new rules say.
        #expect(try Self.delivered(&center, at: due + Self.day).isEmpty)
        #expect(
            try Self.delivered(&center, at: due + Self.day + Self.hour) == [Self.instant(due + Self.day + Self.hour)]
        )
    }

    @Test func `a zone that is gone keeps its offset, is reported, and takes effect when it comes back`() throws {
        let (berlin, none) = (try Self.database("Europe/Berlin"), try Self.database(nil))
        var center = try Self.handOver([Self.daily(), Self.daily(10)], from: berlin, to: none)
        try Self.replan(&center)
        #expect(center.missingZones == ["Test/Zone": 2])
        let due = Self.noon + 19 * Self.hour
        #expect(try Self.delivered(&center, at: due) == [Self.instant(due)])
        #expect(center.pendingCount == 2)
        #expect(try Self.delivered(&center, at: due + Self.hour) == [Self.instant(due + Self.hour)])
        try Self.commit(&center, at: due + Self.hour)

        let store = try #require(center.store as? MemoryEntryStore)
        var back = try Self.center(over: store, Self.database("Africa/Lagos"), at: due + Self.hour)
        back.replan = .init(from: none.version)
        try Self.replan(&back, at: due + Self.hour)
        #expect(back.missingZones.isEmpty)
        #expect(try Self.delivered(&back, at: due + Self.day + Self.hour) == [Self.instant(due + Self.day + Self.hour)])
    }

    @Test func `a few entries at a time are looked at, and those that stay are not brought into memory`() throws {
        let berlin = try Self.database("Europe/Berlin")
        var center = try Self.handOver((0..<40).map { Self.daily($0 % 24) }, from: berlin, to: berlin)
        #expect(try Self.replan(&center, limit: 7) >= 6)
        #expect(center.residentCount == 0)
        var moving = try Self.handOver(
            (0..<40).map { Self.daily($0 % 24) },
            from: berlin,
            to: Self.database("Africa/Lagos")
        )
        #expect(try Self.replan(&moving, limit: 7) >= 6)
        #expect(moving.residentCount == 40)
        // All of them are in the next cut, and leave memory with it.
        try Self.commit(&moving, at: Self.noon)
        #expect(moving.residentCount == 0 && moving.pendingCount == 40)
    }

    @Test func `the marker names the old version until everything was looked at`() throws {
        let center = try Self.handOver(
            [Self.daily()],
            from: Self.database("Europe/Berlin"),
            to: Self.database("Africa/Lagos")
        )
        let partition = OwnedPartition(
            center: center,
            inputs: .at(0),
            lineage: "l",
            firedThrough: nil,
            hasMarker: true,
            replan: .init(from: "2025a")
        )
        func version() -> String? {
            _ = partition.takeCut(
                topics: TopicNames(),
                partitions: 1,
                timeZoneDataVersion: "2025b",
                at: Self.instant(Self.noon),
                all: false
            )
            return partition.marker?.timeZoneDataVersion
        }
        #expect(version() == "2025a")
        let work = partition.nextWork()
        #expect(work == .earliest && !partition.isTouched)
        try partition.replan(at: Self.instant(Self.noon), limit: 256)
        let wantsCut = partition.wantsCut(at: Self.instant(Self.noon))
        let bytes = partition.center.takeCharge()
        #expect(bytes > 0 && !partition.isReplanning && wantsCut)
        #expect(version() == "2025b")
    }
}
