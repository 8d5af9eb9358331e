import NotificationDelivery
import NotificationModel
import NotificationState
import Testing

@testable import NotificationConsumer

/// The backlog of a new partition is read before its timers fire.
struct CatchUpTests {
    private static let start = ContinuousClock.now

    /// A partition with a backlog of two requests, after the records that `prepare` committed.
    private static func partition(_ prepare: (inout Bench) -> Void = { _ in }) throws -> OwnedPartition {
        var bench = Bench()
        prepare(&bench)
        try bench.commit()
        let taken = Bench(over: bench.store, firedThrough: at(1000))
        return OwnedPartition(
            center: taken.center,
            inputs: .at(10),
            lineage: "l",
            firedThrough: at(60_000),
            hasMarker: true,
            catchUp: CatchUp(
                from: PerInput { _ in 10 },
                to: PerInput { $0 == .requests ? 12 : 10 },
                hasSends: false,
                at: start
            )
        )
    }

    private static func fire(_ partition: OwnedPartition, _ milliseconds: Int64) throws -> [DeliveryEvent] {
        try partition.center.refill(at: at(milliseconds))
        _ = try partition.fireDue(at: at(milliseconds), limit: 10) { _ in }
        return partition.center.takeEffects().events
    }

    private static func apply(
        _ inputs: [CenterInput],
        to partition: OwnedPartition,
        _ milliseconds: Int64
    ) throws -> [DeliveryEvent] {
        for input in inputs {
            let placed = input.placed(at: partition.inputs[.requests].position)
            _ = try partition.center.apply(placed, at: at(milliseconds))
            partition.inputs[.requests].position += 1
        }
        return partition.center.takeEffects().events
    }

    @Test func `a removal in the backlog cancels a notification that became due during an outage`() throws {
        let partition = try Self.partition { $0.apply(request("a", interval(5)), 0) }
        #expect(try Self.fire(partition, 20_000).isEmpty)
        let events = try Self.apply([removal("r")], to: partition, 20_000)
        #expect(events.map(\.name) == [.cancelled])
    }

    @Test func `a request read again after its due time has the same outcome as before`() throws {
        let partition = try Self.partition()
        let inputs = [request("a", interval(5)), removal("r")]
        let events = try Self.apply(inputs, to: partition, 20_000)
        #expect(events.map(\.name) == [.scheduled, .cancelled])
        partition.endCatchUp(isReadingHeld: false, at: Self.start) { _, _ in nil }
        #expect(!partition.isCatchingUp)
        #expect(try Self.fire(partition, 20_000).isEmpty)
    }

    @Test func `timers fire when the backlog is read`() throws {
        let partition = try Self.partition { $0.apply(request("a", interval(5)), 0) }
        #expect(partition.isCatchingUp)
        let events = try Self.apply([request("b", key("other"), interval(6))], to: partition, 20_000)
        #expect(events.map(\.name) == [.scheduled])
        partition.endCatchUp(isReadingHeld: false, at: Self.start) { _, _ in 1 }
        #expect(try Self.fire(partition, 20_000).isEmpty)
        _ = try Self.apply([request("c", key("third"))], to: partition, 20_000)
        partition.endCatchUp(isReadingHeld: false, at: Self.start) { _, _ in 1 }
        #expect(try Self.fire(partition, 20_000).map(\.requestID) == [id("a"), id("b")])
    }

    @Test func `timers wait for the backlog only while it is read, and for a limited time`() throws {
        for (lag, isHeld, later) in [
            (0, false, Duration.zero), (5, true, .zero), (5, false, CatchUp.bound),
        ] as [(Int64, Bool, Duration)] {
            let partition = try Self.partition { $0.apply(request("a", interval(5)), 0) }
            partition.endCatchUp(isReadingHeld: false, at: Self.start) { _, _ in 5 }
            #expect(partition.isCatchingUp)
            partition.endCatchUp(isReadingHeld: isHeld, at: Self.start + later) { _, _ in lag }
            #expect(try Self.fire(partition, 20_000).map(\.name) == [.delivered])
        }
    }

    @Test func `where a channel sends, timers wait longer for the backlog, and bounded by its records and a time`() {
        let catchUp = CatchUp(
            from: PerInput { _ in 10 },
            to: PerInput { _ in 10_000_000 },
            hasSends: true,
            at: Self.start
        )
        func isOver(after wait: Duration, read: Int64, isHeld: Bool = false) -> Bool {
            let inputs = PerInput<InputProgress> { InputProgress(position: $0 == .requests ? 10 + read : 10, life: 0) }
            return catchUp.isOver(inputs, isReadingHeld: isHeld, at: Self.start + wait) { _, _ in nil }
        }
        #expect(!isOver(after: CatchUp.bound * 2, read: CatchUp.Sends.records - 1))
        #expect(!isOver(after: .seconds(1), read: CatchUp.Sends.records))
        #expect(isOver(after: CatchUp.bound, read: CatchUp.Sends.records))
        #expect(!isOver(after: .seconds(1), read: 0, isHeld: true))
        #expect(isOver(after: CatchUp.Sends.bound, read: 0))
    }

    @Test func `with a channel, only the last immediate request of the backlog is sent, after it is read`() throws {
        var bench = Bench(LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test)))
        bench.center.holdsTimers = true
        #expect(bench.apply(request("a")).isEmpty)
        #expect(bench.apply(request("b"), 1).summary == ["superseded a!"])
        #expect(bench.fire(2).isEmpty && bench.sends.isEmpty)
        bench.center.holdsTimers = false
        bench.fire(3)
        #expect(bench.sends.map(\.requestID) == [id("b")])
    }

    @Test func `a notification that a device may show is recalled if the backlog replaced it with one due later`()
        throws
    {
        var bench = Bench(LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test)))
        bench.apply(request("a", interval(5)), 0)
        try bench.commit()
        bench.center = try PartitionCenter(
            rules: bench.center.rules,
            limits: .init(),
            store: bench.store,
            zones: zones.database,
            firedThrough: at(6000),
            at: at(10_000)
        )
        bench.center.holdsTimers = true
        #expect(bench.apply(request("b"), 10_000).summary == ["superseded a!"])
        #expect(bench.sends.isEmpty)
        #expect(bench.apply(removal("r"), 10_001).summary == ["cancelled b!"])
        #expect(bench.sends.isEmpty, "nothing is sent before the backlog is read")
        bench.center.holdsTimers = false
        bench.fire(10_002)
        #expect(bench.sends.map(\.kind) == [.remove])
    }

    @Test func `a channel gets a send only after a marker covers it, so that a removal after a crash recalls it`()
        throws
    {
        let rules = LifecycleRules(retention: 1_000_000, channels: ChannelRules(.test))
        let partition = OwnedPartition(
            center: Bench(rules).center,
            inputs: .at(10),
            lineage: "l",
            firedThrough: at(1000),
            hasMarker: true
        )
        // After a long idle time the last marker is old.
        #expect(try Self.apply([request("a")], to: partition, 60_000).isEmpty)
        #expect(partition.center.inFlight == 0)
        let wantsLimit = partition.wantsLimit(at: at(60_000))
        #expect(wantsLimit)
        var room = Int.max
        _ = partition.takeCut(
            topics: TopicNames(),
            partitions: 1,
            timeZoneDataVersion: "",
            at: at(60_000),
            all: false,
            room: &room
        )
        let marker = try #require(partition.marker)
        try partition.commit(markerAt: 1, at: at(0))
        _ = try Self.fire(partition, 60_100)
        #expect(partition.center.inFlight == 1)
        // The next owner has the changelog of that cut.
        var next = try PartitionCenter(
            rules: rules,
            limits: .init(),
            store: partition.center.store,
            zones: zones.database,
            firedThrough: marker.firedThrough,
            at: at(70_000)
        )
        _ = try next.apply(removal("r").placed(at: 11), at: at(70_000))
        let effects = next.takeEffects()
        #expect(effects.events.summary == ["cancelled a!"] && effects.events.first?.inDoubt == true)
        #expect(effects.sends.map(\.kind) == [.remove])
        // Within the limit it is sent immediately.
        _ = try Self.apply([request("b", key("other"))], to: partition, 60_200)
        #expect(partition.center.inFlight == 2)
    }
}
