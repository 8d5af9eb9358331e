import Dispatch
import Foundation
import GRDB
import NotificationModel
import Synchronization

/// The state shared by the lane's side of a store and the writer thread: the changes waiting to be written.
///
/// The thread takes a batch when it is large or old enough and writes it in one transaction. Until then, readers see
/// the batch merged over the contents on disk. A batch that cannot be written is kept and retried.
final class WriteBehind: Sendable {
    typealias Limits = SQLiteEntryStore.Limits

    enum Ending { case flushing, dropping, abandoning }

    private struct State {
        var pending = ChangeBatch()
        /// When the first change was added to `pending`.
        var since = ContinuousClock.now
        /// The batch being written; not changed until it is written.
        var writing: ChangeBatch?
        /// When to retry `writing`; nil while it is being written.
        var retryAt: ContinuousClock.Instant?
        var filter: BloomFilter
        var counts: StoreCounts
        var trouble: String?
        var damage: String?
        /// Write without waiting for a full batch.
        var isHurried = false
        /// A caller waits until everything is written.
        var isFlushing = false
        var ending: Ending?
        /// The file records that it is open.
        var isNoted: Bool
        /// Writing has ended.
        var hasEnded = false
    }

    /// The next action of the writer.
    enum Step {
        case write(ChangeBatch)
        case wait(until: ContinuousClock.Instant?)
        /// - Parameter isSound: whether the file is kept and may be recorded as closed.
        case end(isSound: Bool)
    }

    let connection: DatabaseQueue
    private let file: StoreFile
    private let limits: Limits
    private let bootID: String?
    private let state: Mutex<State>
    private let flushed = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(
        _ connection: DatabaseQueue,
        _ file: StoreFile,
        _ contents: StoreFile.Contents,
        _ filter: sending BloomFilter,
        limits: Limits,
        bootID: String?
    ) {
        self.connection = connection
        self.file = file
        self.limits = limits
        self.bootID = bootID
        state = Mutex(State(filter: filter, counts: contents.counts, isNoted: contents.isNoted))
    }

    /// - Parameters:
    ///   - lineage: the lineage in the file.
    ///   - lock: released when closing has finished, however long the last write takes.
    func start(lineage: String?, holding lock: StoreLock) {
        limits.writers.add(.init(behind: self, lineage: lineage, lock: lock))
    }

    // MARK: - The lane's side

    var counts: StoreCounts { state.withLock { $0.counts } }
    var trouble: String? { state.withLock { $0.damage ?? $0.trouble } }
    var unwritten: Int { state.withLock { $0.pending.count + ($0.writing?.count ?? 0) } }

    func take(_ changes: [StoreChange], position: StorePosition) throws {
        let isWanted = try state.withLock { state in
            try Self.check(state)
            let (wasEmpty, count) = (state.pending.isEmpty, state.pending.count)
            for change in changes {
                let hash = KeyHash(of: change.key)
                if change.value == nil {
                    // A key that never existed needs no deletion.
                    guard state.filter.contains(hash) else { continue }
                    state.pending.put(change, hash, isNew: false)
                } else {
                    let isNew = !state.filter.insert(hash)
                    state.pending.put(change, hash, isNew: isNew)
                }
            }
            state.pending.position = position
            if wasEmpty { state.since = .now }
            return wasEmpty || (count < limits.batchSize && state.pending.count >= limits.batchSize)
        }
        if isWanted { limits.writers.signal() }
    }

    enum Found {
        case entry(StoredEntry?)
        /// The entry may be on disk.
        case perhaps
    }

    func find(_ key: [UInt8], _ hash: KeyHash) throws -> Found {
        try state.withLock { state in
            try Self.check(state)
            guard state.filter.contains(hash) else { return .entry(nil) }
            guard let change = state.pending.change(of: key, hash) ?? state.writing?.change(of: key, hash) else {
                return .perhaps
            }
            return .entry(change.entry)
        }
    }

    /// The changes to merge over the contents of the disk as of this call or later.
    func overlay() throws -> StoreOverlay {
        try state.withLock { state in
            try Self.check(state)
            return StoreOverlay(newer: state.pending, older: state.writing)
        }
    }

    func beginFlush() {
        state.withLock { $0.isHurried = true }
        limits.writers.signal()
    }

    func flush() throws {
        let isWaiting = state.withLock { state in
            state.isFlushing = !state.hasEnded
            return state.isFlushing
        }
        if isWaiting {
            limits.writers.signal()
            flushed.wait()
        }
        try state.withLock { state in
            try Self.check(state)
            if let trouble = state.trouble { throw EntryStoreError.unwritten(trouble) }
        }
    }

    /// Ends the writing of this store.
    ///
    /// - Parameter deadline: until when it waits; nil for the time of the limits.
    /// - Returns: whether it has ended.
    @discardableResult
    func end(_ ending: Ending, by deadline: ContinuousClock.Instant? = nil) -> Bool {
        state.withLock { $0.ending = ending }
        limits.writers.signal()
        let wait = deadline.map { $0 - .now } ?? limits.closing
        return ended.wait(timeout: .now() + wait.dispatchInterval) == .success
    }

    /// Records that the file is unusable; called by the lane and by the writer.
    func noteDamage(_ what: String) {
        let isFirst = state.withLock { state in
            guard state.damage == nil, state.ending != .abandoning else { return false }
            state.damage = what
            return true
        }
        guard isFirst else { return }
        file.noteDamage(what)
        limits.writers.signal()
    }

    private static func check(_ state: borrowing State) throws {
        if let damage = state.damage { throw EntryStoreError.damaged(damage) }
    }

    // MARK: - The writer's side

    /// Runs code that uses the file; an error of the file ends its use.
    func notingDamage(_ body: () throws -> Void) {
        do {
            try body()
        } catch let error as DatabaseError {
            noteDamage(error.reason)
        } catch {
            noteDamage("\(error)")
        }
    }

    /// Closes the file in the state of its last transaction, even if it is damaged.
    ///
    /// - Returns: whether closing was requested.
    func close() -> Bool {
        try? connection.close()
        return state.withLock { state in
            state.hasEnded = true
            finishFlush(&state)
            return state.ending == .flushing || state.ending == .dropping
        }
    }

    /// Signals that nothing uses the file any more.
    func noteEnd() { ended.signal() }

    private func finishFlush(_ state: inout State) {
        if state.isFlushing { flushed.signal() }
        state.isFlushing = false
    }

    /// The disk space used by the file and its log.
    var diskBytes: Int { file.diskBytes }

    func nextStep() -> Step { state.withLock { step(&$0, now: .now) } }

    private func step(_ state: inout State, now: ContinuousClock.Instant) -> Step {
        if state.damage != nil || state.ending == .abandoning { return .end(isSound: false) }
        if let writing = state.writing, let retryAt = state.retryAt {
            if state.ending == .dropping { return .end(isSound: true) }
            // The waiting caller may have freed space.
            guard retryAt <= now || state.isFlushing || state.ending != nil else { return .wait(until: retryAt) }
            state.retryAt = nil
            return .write(writing)
        }
        guard !state.pending.isEmpty, state.ending != .dropping else {
            finishFlush(&state)
            state.isHurried = false
            return state.ending == nil ? .wait(until: nil) : .end(isSound: true)
        }
        let deadline = state.since + limits.batchAge
        guard
            state.pending.count >= limits.batchSize || deadline <= now || state.isHurried || state.isFlushing
                || state.ending != nil
        else {
            return .wait(until: deadline)
        }
        let batch = state.pending
        state.pending = ChangeBatch()
        state.writing = batch
        return .write(batch)
    }

    /// - Throws: when the file is damaged.
    func write(_ batch: ChangeBatch, _ writer: StoreWriter, _ lineage: inout String?) throws {
        do {
            if !state.withLock({ $0.isNoted }) {
                try writer.noteOpen(bootID: bootID)
                state.withLock { $0.isNoted = true }
            }
            let counts = try writer.write(batch, counts, lineage: &lineage)
            let (isIdle, keys) = state.withLock { state in
                (state.writing, state.trouble, state.counts) = (nil, nil, counts)
                return (state.pending.isEmpty, state.filter.count)
            }
            if isIdle { writer.releaseMemory() }
            // Removed keys fill the filter: rebuild it from the existing keys.
            if keys > 2 * counts.entries + limits.forgottenKeys { try renewFilter(writer, counts) }
        } catch let error as DatabaseError where !error.isDamage {
            state.withLock { state in
                state.trouble = error.reason
                state.retryAt = .now + limits.retryInterval
                finishFlush(&state)
                // When closing was requested, retry only once.
                if state.ending == .flushing { state.ending = .dropping }
            }
        }
    }

    private func renewFilter(_ writer: StoreWriter, _ counts: StoreCounts) throws {
        var filter = try writer.keys(expecting: counts.entries)
        state.withLock { state in
            for item in state.pending.items where item.change.value != nil { filter.insert(item.hash) }
            state.filter = filter
        }
    }
}

/// Changes to merge over the contents of the disk.
struct StoreOverlay {
    let newer: ChangeBatch
    let older: ChangeBatch?

    func change(of key: [UInt8], _ hash: KeyHash) -> StoreChange? {
        newer.change(of: key, hash) ?? older?.change(of: key, hash)
    }

    /// The effective changes that match.
    private func changes(where fits: (StoreChange) -> Bool) -> [ChangeBatch.Item] {
        let kept = older?.items.filter { fits($0.change) && newer.change(of: $0.change.key, $0.hash) == nil } ?? []
        return newer.items.filter { fits($0.change) } + kept
    }

    /// The changes that set a value.
    var present: [StoreChange] { changes { $0.value != nil }.map(\.change) }

    func changes(ofRecipient recipient: Int64) -> [StoreChange] {
        let kept = older?.changes(ofRecipient: recipient).filter {
            newer.change(of: $0.key, KeyHash(of: $0.key)) == nil
        }
        return newer.changes(ofRecipient: recipient) + (kept ?? [])
    }

    /// The pending entries after the cursor, in order.
    func due(after cursor: DueCursor, through: Timestamp) -> [(place: DueCursor, entry: StoredEntry)] {
        guard min(newer.earliestDue, older?.earliestDue ?? newer.earliestDue) <= through else { return [] }
        return changes { change in
            change.value != nil && change.due.map { $0 >= cursor.due && $0 <= through } ?? false
        }.compactMap { item in
            guard let entry = item.change.entry, let due = item.change.due else { return nil }
            let place = DueCursor(due: due, tiebreak: item.hash.key)
            return cursor < place ? (place, entry) : nil
        }.sorted { $0.place < $1.place }
    }

    /// The entries with nothing pending, least recently touched first.
    func idle() -> [IdleEntry] {
        changes { $0.value != nil && $0.due == nil }
            .map { IdleEntry(key: $0.change.key, touched: $0.change.touched) }
            .sorted { $0.touched < $1.touched }
    }
}

extension StoreChange {
    /// The resulting entry; nil when it was removed.
    var entry: StoredEntry? { value.map { StoredEntry(key: key, value: $0) } }
}

extension DueCursor: Comparable {
    package static func < (a: Self, b: Self) -> Bool { (a.due, a.tiebreak) < (b.due, b.tiebreak) }
}

extension Duration {
    /// The interval for Dispatch; zero when negative.
    var dispatchInterval: DispatchTimeInterval {
        .nanoseconds(Int(max(0, nanoseconds)))
    }
}
