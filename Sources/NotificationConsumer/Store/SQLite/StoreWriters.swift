import Dispatch
import Foundation
import GRDB
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The thread that writes all stores of a process, one batch after the other and at low priority. It exists while a
/// store is open.
///
/// One thread per partition made timers late by tens of milliseconds every second, because the batches came due
/// together; and each thread kept freed memory of its own.
package final class StoreWriters: Sendable {
    /// A store that has been opened.
    struct Member: Sendable {
        let behind: WriteBehind
        /// The lineage in its file.
        let lineage: String?
        /// Released when closing the store has finished, however long the last write takes.
        let lock: StoreLock
    }

    private struct State {
        var joining: [Member] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let bytes = Atomic(0)
    private let wake = DispatchSemaphore(value: 0)

    func add(_ member: Member) {
        let isFirst = state.withLock { state in
            state.joining.append(member)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { start() } else { signal() }
    }

    /// The disk space used by the open files, updated with each batch.
    package var diskBytes: Int { bytes.load(ordering: .relaxed) }

    /// Wakes the thread: a member has work.
    func signal() { wake.signal() }

    private func start() {
        let isStarted = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            // The kernel gets the name only after the thread has started and Foundation knows it.
            isStarted.wait()
            Thread.current.name = "store-writer"
            Self.giveWay()
            run()
        }
        thread.stackSize = 1 << 20
        thread.start()
        isStarted.signal()
    }

    /// Lowers the priority of the calling thread, where the system supports it for threads.
    private static func giveWay() {
        // On Linux this applies to the thread, although POSIX specifies processes. A failure only affects scheduling.
        #if canImport(Glibc)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #elseif canImport(Musl)
        _ = setpriority(PRIO_PROCESS, 0, 5)
        #endif
    }

    // MARK: - The thread

    private func run() {
        var writings: [StoreWriting] = []
        while true {
            writings += state.withLock { state in
                defer { state.joining = [] }
                return state.joining
            }.map(StoreWriting.init)
            guard !writings.isEmpty else {
                let isOver = state.withLock { state in
                    state.isRunning = !state.joining.isEmpty
                    return !state.isRunning
                }
                if isOver { return }
                continue
            }
            var next: ContinuousClock.Instant?
            var hasWritten = false
            var going: [StoreWriting] = []
            for writing in writings {
                switch writing.proceed() {
                case .ended: continue
                case .written: hasWritten = true
                case .waiting(nil): break
                case .waiting(let instant?): next = min(next ?? instant, instant)
                }
                going.append(writing)
            }
            let hasEnded = going.count < writings.count
            writings = going
            bytes.store(writings.reduce(0) { $0 + $1.diskBytes }, ordering: .relaxed)
            if !hasWritten, !hasEnded { wait(until: next) }
        }
    }

    private func wait(until instant: ContinuousClock.Instant?) {
        if let instant {
            _ = wake.wait(timeout: .now() + (instant - .now).dispatchInterval)
        } else {
            wake.wait()
        }
        // One iteration serves all signals.
        while wake.wait(timeout: .now()) == .success {}
    }
}

/// The writing of one store, on the writers' thread.
private final class StoreWriting {
    enum Progress {
        case written, ended
        case waiting(ContinuousClock.Instant?)
    }

    private let member: StoreWriters.Member
    private var lineage: String?
    private var writer: StoreWriter?
    /// Updated with each batch.
    private(set) var diskBytes: Int

    init(_ member: StoreWriters.Member) {
        self.member = member
        lineage = member.lineage
        diskBytes = member.behind.diskBytes
    }

    /// Writes a batch if there is one to write.
    func proceed() -> Progress {
        switch member.behind.nextStep() {
        case .wait(let instant):
            return .waiting(instant)
        case .write(let batch):
            member.behind.notingDamage { try member.behind.write(batch, try preparedWriter(), &lineage) }
            diskBytes = member.behind.diskBytes
            return .written
        case .end(let isSound):
            if isSound { member.behind.notingDamage(noteClosed) }
            writer = nil
            if member.behind.close() { member.lock.release() }
            member.behind.noteEnd()
            return .ended
        }
    }

    /// If the note cannot be written for lack of space, the file is treated as after a crash.
    private func noteClosed() throws {
        do { try preparedWriter().noteClosed() } catch let error as DatabaseError where !error.isDamage {}
    }

    private func preparedWriter() throws -> StoreWriter {
        if let writer { return writer }
        let writer = try StoreWriter(member.behind.connection)
        self.writer = writer
        return writer
    }
}
