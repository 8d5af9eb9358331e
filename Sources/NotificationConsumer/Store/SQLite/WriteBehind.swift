import Dispatch
import Foundation
import GRDB
import NotificationModel
import Synchronization

/// What the lane's side of a store and the thread that writes it share: the changes on their way to the disk.
///
/// The thread takes a batch when it is large or old enough and writes it in one transaction; until that is done, readers see
/// the batch over what is on disk. A batch that cannot be written is kept and tried again.
final class WriteBehind: Sendable {
    typealias Limits = SQLiteEntryStore.Limits

    enum Ending { case flushing, dropping, abandoning }

    private struct State {
        var pending = ChangeBatch()
        /// When the first change of `pending` came.
        var since = ContinuousClock.now
        /// What the thread has in hand; not changed until it is done.
        var writing: ChangeBatch?
        /// When to try `writing` again; nil while it is being written.
        var retryAt: ContinuousClock.Instant?
        var filter: BloomFilter
        var counts: StoreCounts
        var trouble: String?
        var damage: String?
        /// Nothing waits for a batch to fill.
        var isHurried = false
        /// Somebody waits until nothing is left to write.
        var isFlushing = false
        var ending: Ending?
        /// That the file is open is noted in it.
        var isNoted: Bool
        /// Nobody writes or answers any more.
        var hasEnded = false
    }

    /// What its writer is to do.
    enum Step {
        case write(ChangeBatch)
        case wait(until: ContinuousClock.Instant?)
        /// - Parameter isSound: the file is kept, and may say that it was closed.
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
    ///   - lineage: as written in the file.
    ///   - lock: let go of when it has ended to be closed, however long the last write takes.
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
                    // What was never there needs no deletion.
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
        /// It is to be looked for on disk.
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

    /// What lies over the contents of the disk as they are from here on, or were when it was asked for.
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

    /// Ends the thread; waits for it, but not for ever.
    ///
    /// - Returns: whether it has ended.
    @discardableResult
    func end(_ ending: Ending) -> Bool {
        state.withLock { $0.ending = ending }
        limits.writers.signal()
        return ended.wait(timeout: .now() + limits.closing.dispatchInterval) == .success
    }

    /// Notes that the files are of no use, from either side.
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

    /// Runs what touches the file; trouble with the file itself ends its use.
    func notingDamage(_ body: () throws -> Void) {
        do {
            try body()
        } catch let error as DatabaseError {
            noteDamage(error.reason)
        } catch {
            noteDamage("\(error)")
        }
    }

    /// Closes the file, as its last transaction left it, whatever is wrong with it.
    ///
    /// - Returns: whether that was asked for.
    func close() -> Bool {
        try? connection.close()
        return state.withLock { state in
            state.hasEnded = true
            finishFlush(&state)
            return state.ending == .flushing || state.ending == .dropping
        }
    }

    /// Nothing of it is in use any more.
    func noteEnd() { ended.signal() }

    private func finishFlush(_ state: inout State) {
        if state.isFlushing { flushed.signal() }
        state.isFlushing = false
    }

    /// What the files take of the disk.
    var diskBytes: Int { file.diskBytes }

    func nextStep() -> Step { state.withLock { step(&$0, now: .now) } }

    private func step(_ state: inout State, now: ContinuousClock.Instant) -> Step {
        if state.damage != nil || state.ending == .abandoning { return .end(isSound: false) }
        if let writing = state.writing, let retryAt = state.retryAt {
            if state.ending == .dropping { return .end(isSound: true) }
            // Whoever waits for it may have made room.
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
            // Keys that have gone fill the filter; then it is made anew from those that are there.
            if keys > 2 * counts.entries + limits.forgottenKeys { try renewFilter(writer, counts) }
        } catch let error as DatabaseError where !error.isDamage {
            state.withLock { state in
                state.trouble = error.reason
                state.retryAt = .now + limits.retryInterval
                finishFlush(&state)
                // Once more when asked to end, and no more.
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

/// Changes that lie over what is on disk.
struct StoreOverlay {
    let newer: ChangeBatch
    let older: ChangeBatch?

    func change(of key: [UInt8], _ hash: KeyHash) -> StoreChange? {
        newer.change(of: key, hash) ?? older?.change(of: key, hash)
    }

    /// The changes that count, of those that fit.
    private func changes(where fits: (StoreChange) -> Bool) -> [ChangeBatch.Item] {
        let kept = older?.items.filter { fits($0.change) && newer.change(of: $0.change.key, $0.hash) == nil } ?? []
        return newer.items.filter { fits($0.change) } + kept
    }

    /// The changes that put something there.
    var present: [StoreChange] { changes { $0.value != nil }.map(\.change) }

    func changes(ofRecipient recipient: Int64) -> [StoreChange] {
        let kept = older?.changes(ofRecipient: recipient).filter {
            newer.change(of: $0.key, KeyHash(of: $0.key)) == nil
        }
        return newer.changes(ofRecipient: recipient) + (kept ?? [])
    }

    /// What is pending behind the cursor, in order.
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

    /// What has nothing pending, the longest untouched first.
    func idle() -> [IdleEntry] {
        changes { $0.value != nil && $0.due == nil }
            .map { IdleEntry(key: $0.change.key, touched: $0.change.touched) }
            .sorted { $0.touched < $1.touched }
    }
}

extension StoreChange {
    /// What is there with it; nil when it is gone.
    var entry: StoredEntry? { value.map { StoredEntry(key: key, value: $0) } }
}

extension DueCursor: Comparable {
    package static func < (a: Self, b: Self) -> Bool { (a.due, a.tiebreak) < (b.due, b.tiebreak) }
}

extension Duration {
    /// For Dispatch; none when negative.
    var dispatchInterval: DispatchTimeInterval {
        .nanoseconds(Int(clamping: max(0, components.seconds) * 1_000_000_000 + components.attoseconds / 1_000_000_000))
    }
}
