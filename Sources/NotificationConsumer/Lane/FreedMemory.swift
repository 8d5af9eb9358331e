import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Gives memory back to the system when a lane comes to rest after a burst.
///
/// An allocator keeps what was freed, glibc's as long as something next to it is in use: after a burst most of a lane's memory is
/// librdkafka's buffers and SQLite's pages of then.
struct FreedMemory {
    /// Less work than this leaves little behind.
    private static let burst = 10_000
    /// Longer than the store takes to write the last of it.
    private static let rest = Duration.seconds(5)

    private var seen = 0
    private var seenAt: ContinuousClock.Instant?
    private var released = 0
    private let release: () -> Void

    init(release: @escaping () -> Void = Self.release) {
        self.release = release
    }

    /// Told after each turn.
    ///
    /// - Parameter work: records and timers so far.
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

    /// On another thread, since it goes through everything that is free; nothing where the allocator does not offer it.
    static func release() {
        // The module Glibc leaves malloc.h out, and jemalloc is there only when it was preloaded.
        let (trim, control) = (dlsym(nil, "malloc_trim"), dlsym(nil, "mallctl"))
        let trimming = trim.map { unsafeBitCast($0, to: (@convention(c) (Int) -> Int32).self) }
        let controlling = control.map { unsafeBitCast($0, to: Control.self) }
        DispatchQueue.global(qos: .utility).async {
            if let controlling {
                // Of all its arenas.
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
