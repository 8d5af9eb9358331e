import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Returns memory to the system when a lane is idle after a burst.
///
/// An allocator keeps freed memory, glibc as long as something next to it is in use. After a burst, most of a lane's
/// memory is former buffers of librdkafka and pages of SQLite.
struct FreedMemory {
    /// Less work than this leaves little freed memory.
    private static let burst = 10_000
    /// Longer than the store needs to write the last changes.
    private static let rest = Duration.seconds(5)

    private var seen = 0
    private var seenAt: ContinuousClock.Instant?
    private var released = 0
    private let release: () -> Void

    init(release: @escaping () -> Void = Self.release) {
        self.release = release
    }

    /// Called after each turn.
    ///
    /// - Parameter work: the records and timers processed so far.
    mutating func note(work: Int, at now: @autoclosure () -> ContinuousClock.Instant) {
        guard work - released >= Self.burst else { return }
        let now = now()
        guard work == seen, let seenAt else {
            (seen, seenAt) = (work, now)
            return
        }
        guard now - seenAt >= Self.rest else { return }
        released = work
        release()
    }

    /// Runs on another thread, since it scans all free memory; does nothing when the allocator does not support it.
    static func release() {
        // The module Glibc does not export malloc.h, and jemalloc exists only when it was preloaded.
        let (trim, control) = (dlsym(nil, "malloc_trim"), dlsym(nil, "mallctl"))
        let trimming = trim.map { unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self) }
        let controlling = control.map { unsafeBitCast($0, to: Control.self) }
        DispatchQueue.global(qos: .utility).async {
            if let controlling {
                // All arenas.
                _ = controlling("arena.4096.purge", nil, nil, nil, 0)
            } else {
                _ = trimming?(0)
            }
        }
    }

    /// jemalloc's `mallctl`.
    private typealias Control =
        @convention(c) (
            UnsafePointer<CChar>, UnsafeMutableRawPointer?, UnsafeMutablePointer<Int>?, UnsafeMutableRawPointer?, Int
        ) -> Int32
}
