import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Tells a thread of its own to come to an end; it looks between two steps.
public final class StopSignal: Sendable {
    private let requested = Atomic<Bool>(false)

    /// A signal that is not given yet.
    public init() {}

    /// Whether the end was asked for.
    public var isRequested: Bool { requested.load(ordering: .acquiring) }

    /// Asks for the end; again does nothing more.
    public func request() { requested.store(true, ordering: .releasing) }

    /// Sleeps on the calling thread, which must not be one of the cooperative pool, and wakes early when asked to stop.
    public func wait(_ duration: Duration) {
        let deadline = ContinuousClock.now + duration
        while !isRequested, ContinuousClock.now < deadline {
            usleep(20_000)
        }
    }
}
