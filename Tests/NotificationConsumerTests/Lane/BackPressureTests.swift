import ServiceSupport
import Testing

@testable import NotificationConsumer

/// When a lane pauses its work, and when it continues.
struct BackPressureTests {
    private static let start = ContinuousClock.now

    private static func bounds(_ guarantee: DeliveryGuarantee = .exactlyOnce) -> BackPressure.Bounds {
        .init(
            guarantee: guarantee,
            outstandingRecords: 100,
            checkpointEntries: 100,
            unwrittenChanges: 100,
            sends: 100,
            sessionTimeout: .seconds(45),
            transactionTimeout: .seconds(10)
        )
    }

    private static func hold(
        _ pressure: inout BackPressure,
        _ load: BackPressure.Load,
        after time: Duration = .zero
    ) throws -> (hold: BackPressure.Hold, action: BackPressure.Action) {
        try pressure.regulate(load, within: bounds(), at: start + time)
    }

    /// For each limit: a load with a given count, the limit, and what is held back at it.
    static let loads: [(load: @Sendable (Int) -> BackPressure.Load, bound: Int, hold: BackPressure.Hold)] = [
        ({ .init(outstanding: $0) }, 100, .everything), ({ .init(dirty: $0) }, 200, .everything),
        ({ .init(unwritten: $0) }, 100, .reading), ({ .init(sends: $0) }, 100, .everything),
    ]

    @Test(arguments: loads.indices)
    func `at a limit it holds, and below half of it continues`(number: Int) throws {
        let (load, bound, expected) = Self.loads[number]
        var pressure = BackPressure()
        let steps: [(Int, BackPressure.Hold)] = [
            (bound - 1, .nothing), (bound, expected), (bound / 2, expected), (bound / 2 - 1, .nothing),
            (bound - 1, .nothing),
        ]
        for (count, hold) in steps { #expect(try Self.hold(&pressure, load(count)).hold == hold, "\(count)") }
    }

    @Test func `reading is paused when a limit stays reached, and is resumed once`() throws {
        var pressure = BackPressure()
        let (full, empty) = (BackPressure.Load(outstanding: 100), BackPressure.Load())
        #expect(try Self.hold(&pressure, full).action == .none)
        #expect(try Self.hold(&pressure, full, after: .milliseconds(1_999)).action == .none)
        let reason = "the broker does not acknowledge: 100 records outstanding"
        #expect(try Self.hold(&pressure, full, after: .seconds(2)).action == .pause(because: reason))
        #expect(pressure.isPaused)
        #expect(try Self.hold(&pressure, full, after: .seconds(3)).action == .stayPaused(because: reason))
        #expect(try Self.hold(&pressure, empty, after: .seconds(4)).action == .resume)
        #expect(!pressure.isPaused)
        #expect(try Self.hold(&pressure, empty, after: .seconds(5)).action == .none)
        // The time starts again at the next hold.
        #expect(try Self.hold(&pressure, full, after: .seconds(6)).action == .none)
    }

    @Test func `the records since the cut of a checkpoint are limited to twice the limit, and to once after a hold`()
        throws
    {
        var pressure = BackPressure()
        var load = BackPressure.Load(isNextCheckpointFull: true)
        #expect(try Self.hold(&pressure, load).hold == .nothing)
        load.isNextCheckpointOverfull = true
        #expect(try Self.hold(&pressure, load).hold == .everything)
        load.isNextCheckpointOverfull = false
        #expect(try Self.hold(&pressure, load).hold == .everything)
        load.isNextCheckpointFull = false
        #expect(try Self.hold(&pressure, load).hold == .nothing)
    }

    @Test func `without a commit for a session, a lane with transactions ends, and one without holds`() throws {
        let load = BackPressure.Load(uncommittedSince: Self.start)
        let late = Self.start + .milliseconds(45_001)
        var pressure = BackPressure()
        #expect(try pressure.regulate(load, within: Self.bounds(), at: Self.start + .seconds(45)).hold == .nothing)
        #expect(throws: LaneEnd.checkpointStalled) {
            try pressure.regulate(load, within: Self.bounds(), at: late)
        }
        #expect(try pressure.regulate(load, within: Self.bounds(.atLeastOnce), at: late).hold == .everything)
    }

    @Test func `a transaction open for longer than its timeout ends the lane`() throws {
        let load = BackPressure.Load(transactionBegan: Self.start)
        var pressure = BackPressure()
        #expect(try Self.hold(&pressure, load, after: .seconds(10)).hold == .nothing)
        #expect(throws: LaneEnd.checkpointStalled) { try Self.hold(&pressure, load, after: .milliseconds(10_001)) }
    }

    @Test func `a store that cannot write reports the reason`() throws {
        var pressure = BackPressure()
        let load = BackPressure.Load(unwritten: 100, storeTrouble: "the disk store: no room")
        _ = try Self.hold(&pressure, load)
        let action = try Self.hold(&pressure, load, after: .seconds(2)).action
        #expect(action == .pause(because: "the disk store: no room"))
    }
}
