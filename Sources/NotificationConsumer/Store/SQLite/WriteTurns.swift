import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Lets the writers of a process write one after the other, and behind everything else.
///
/// There is one a partition. Their batches come of age together, and all of them at once would take the cores from the lanes:
/// timers were late by tens of milliseconds every second.
package final class WriteTurns: Sendable {
    private let turn = DispatchSemaphore(value: 1)

    func take<Result>(_ write: () throws -> Result) rethrows -> Result {
        turn.wait()
        defer { turn.signal() }
        return try write()
    }

    /// Lowers the priority of the calling thread, where the system knows one of threads.
    static func giveWay() {
        // Of the thread, whatever POSIX says of processes; a failure changes nothing but the order of things.
        #if canImport(Glibc)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #elseif canImport(Musl)
        _ = setpriority(PRIO_PROCESS, 0, 5)
        #endif
    }
}
