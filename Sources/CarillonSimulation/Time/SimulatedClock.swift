import NotificationModel
import Synchronization

/// The true time of a simulation, in microseconds since its start; it never goes back.
final class SimulatedClock: Sendable {
    /// The brokers' wall clock at the start.
    static let beginning = Timestamp(rawValue: 1_800_000_000_000)

    private let microseconds = Atomic<Int64>(0)
    /// The origin of monotonic instants; only differences have a meaning.
    private let origin = ContinuousClock.now

    var elapsed: Int64 { microseconds.load(ordering: .relaxed) }

    /// The monotonic clock, the same for all.
    var instant: ContinuousClock.Instant { origin.advanced(by: .microseconds(elapsed)) }

    /// The brokers' wall clock, which has no error.
    var wall: Timestamp { Self.beginning.adding(milliseconds: elapsed / 1000) }

    /// The time at which the brokers' wall clock shows a timestamp, in microseconds since the start.
    static func elapsed(at wall: Timestamp) -> Int64 { (wall.rawValue - beginning.rawValue) * 1000 }

    func advance(to instant: Int64) {
        guard instant > elapsed else { return }
        microseconds.store(instant, ordering: .relaxed)
    }

    /// Microseconds from the start to a monotonic instant.
    func elapsed(at instant: ContinuousClock.Instant) -> Int64 { (instant - origin).microseconds }
}

/// The wall clock of one machine: the true time plus an error, which changes in jumps.
final class MachineClock: Sendable {
    private let clock: SimulatedClock
    private let error: Atomic<Int64>
    /// The latest time that it showed before it was last set, in milliseconds since 1970.
    private let highest = Atomic<Int64>(.min)

    /// - Parameter error: Milliseconds ahead of the true time.
    init(_ clock: SimulatedClock, error: Int64) {
        self.clock = clock
        self.error = Atomic(error)
    }

    var wall: Timestamp { clock.wall.adding(milliseconds: error.load(ordering: .relaxed)) }

    /// The latest time that it has shown.
    var latest: Timestamp { max(wall, Timestamp(rawValue: highest.load(ordering: .relaxed))) }

    /// Sets the clock to an error: milliseconds ahead of the true time.
    func set(error milliseconds: Int64) {
        highest.store(latest.rawValue, ordering: .relaxed)
        error.store(milliseconds, ordering: .relaxed)
    }

    /// Milliseconds ahead of the true time.
    var currentError: Int64 { error.load(ordering: .relaxed) }
}
