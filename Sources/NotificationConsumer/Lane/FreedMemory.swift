import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Gives memory back to the system after a burst. glibc keeps what was freed on another thread than its newest block for
/// later use, without end: librdkafka's batches of a backlog would count against the process for as long as it runs.
struct FreedMemory {
    /// How long after the last record.
    private static let quiet = Duration.seconds(1)

    private var lastWork: ContinuousClock.Instant?

    mutating func noteWork(at now: ContinuousClock.Instant) { lastWork = now }

    /// Called often; does something once after each burst, on a thread of its own, for it takes some milliseconds.
    mutating func giveBackWhenQuiet(at now: ContinuousClock.Instant) {
        guard let last = lastWork, now - last > Self.quiet else { return }
        lastWork = nil
        #if canImport(Glibc)
        Thread.detachNewThread { malloc_trim(0) }
        #endif
    }
}
