import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Asks a dedicated thread to stop; the thread checks between two steps.
public final class StopSignal: Sendable {
    private let requested = Atomic<Bool>(false)

    /// A signal that is not set.
    public init() {}

    /// Whether a stop was requested.
    public var isRequested: Bool { requested.load(ordering: .acquiring) }

    /// Requests the stop; repeated calls have no effect.
    public func request() { requested.store(true, ordering: .releasing) }

    /// Sleeps on the calling thread, which must not belong to the cooperative pool, and wakes early for a stop.
    public func wait(_ duration: Duration) {
        let deadline = ContinuousClock.now + duration
        while !isRequested, ContinuousClock.now < deadline {
            usleep(20_000)
        }
    }
}
