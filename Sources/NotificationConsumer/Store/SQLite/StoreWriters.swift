import Dispatch
import Foundation
import GRDB
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The thread that writes all stores of a process, one batch after the other and behind everything else; there while a store is
/// open.
///
/// With a thread for each partition, whose batches come of age together, timers were late by tens of milliseconds every second;
/// and each thread kept freed memory of its own.
package final class StoreWriters: Sendable {
    /// A store that has been opened.
    struct Member: Sendable {
        let behind: WriteBehind
        /// As written in its file.
        let lineage: String?
        /// Let go of when the store has ended to be closed, however long the last write takes.
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

    /// What the files that are open take of the disk, as of their last batches.
    package var diskBytes: Int { bytes.load(ordering: .relaxed) }

    /// A member has something to do.
    func signal() { wake.signal() }

    private func start() {
        let isStarted = DispatchSemaphore(value: 0)
        let thread = Thread { [self] in
            // A name reaches the kernel once Foundation knows the thread, which is after it has started.
            isStarted.wait()
            Thread.current.name = "store-writer"
            Self.giveWay()
            run()
        }
        thread.stackSize = 1 << 20
        thread.start()
        isStarted.signal()
    }

    /// Lowers the priority of the calling thread, where the system knows one of threads.
    private static func giveWay() {
        // Of the thread, whatever POSIX says of processes; a failure changes nothing but the order of things.
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
        // Once around does for all that have called.
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
    /// As of the last batch.
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

    /// Where there is no room for the note, the file is kept as after a crash.
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
