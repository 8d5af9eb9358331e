import NotificationModel
import NotificationState

/// The entries to write to the changelog, and the replay of requests that it does not contain yet.
extension PartitionCenter {
    /// How long a finished entry may wait for the changelog, in milliseconds, and how many entries may wait.
    private static let patience: Int64 = 10_000
    private static let maximumLazy = 100_000

    /// Entries that the next cut must contain.
    var dirtyCount: Int { inUse.dirtyCount + recipients.dirtyCount + forgottenKeys.count }
    /// The first record of an input that finished an entry which the changelog does not contain yet; nil when the
    /// changelog is complete.
    ///
    /// A replay from there reproduces these entries exactly: it applies only timeless inputs, and every other input has
    /// left a trace in the changelog. A record without a trace, decided by something outside the log (a dead letter
    /// because of its time or size, a full partition), ends the range: see `noteUndecided`. A dropped repeat leaves a
    /// trace in the entry that knows its id, and no entry that the range concerns is forgotten: see `mayForget`.
    func replayOffset(of input: InputTopic) -> Int64? { inUse.lazyOffset(of: input) }
    /// Where the replay ends; nil for the next record to read.
    func replayEnd(of input: InputTopic) -> Int64? {
        replayOffset(of: input) == nil ? nil : inUse.lazyEnd(of: input)
    }
    /// Whether the changelog contains everything.
    var isWhole: Bool { inUse.lazyNumber == nil }

    /// Something that is neither in the log nor in an entry decided the outcome of this record, and it left no trace.
    mutating func noteUndecided(at position: CenterInput.Position) { inUse.endReplay(before: position) }

    /// Whether an entry has waited long enough for its cut.
    func isImpatient(at now: Timestamp) -> Bool {
        inUse.lazySince.map { $0 < now.adding(milliseconds: -Self.patience) } ?? false
    }

    /// Returns the changes to write now: all changed entries that are unfinished. Entries finished at once can be
    /// replayed from `replayOffset`, and follow later, however often they change. Pass the same changes to `noteCommitted`
    /// once they are committed.
    ///
    /// - Parameters:
    ///   - all: include the entries that could wait.
    ///   - room: the maximum bytes for entries that could wait; the bytes used are subtracted.
    mutating func cut(at now: Timestamp, all: Bool, room: inout Int) -> [StoreChange] {
        var changes: [StoreChange] = []
        changes.reserveCapacity(dirtyCount)
        let patience = all ? Timestamp.latest : now.adding(milliseconds: -Self.patience)
        let limit = rules.recordBytes
        let take = { (slot: WorkingSet.Slot, key: NotificationKey, entry: StateEntry, state: WorkingSet.State) -> Int in
            cutSlots.append(slot)
            let shared = state.contains(.recipient) ? recipients.endWaiting(ofRecipientOf: key) : 0
            // Created and removed since the last cut: the changelog never had it.
            guard !entry.isEmpty || state.contains(.logged) else { return shared }
            let change = StoreChange(
                key: key.encoded,
                value: entry.isEmpty ? nil : entry.json(under: key, limit: limit),
                due: state.loadTime(of: entry.storedDue),
                touched: entry.touched,
                open: entry.open
            )
            changes.append(change)
            return change.key.count + (change.value?.count ?? 0) + shared
        }
        inUse.cut(patience: patience, maximumLazy: Self.maximumLazy, room: &room, take)
        for key in recipients.waitingKeys { inUse.cutWaiting(ofRecipientOf: key, take) }
        // After their entries: what is written of an unfinished cut counts no badge twice.
        recipients.cut { key, record in
            changes.append(
                StoreChange(
                    key: key.encoded,
                    value: record.isEmpty ? nil : record.json,
                    due: nil,
                    touched: record.touched
                )
            )
        }
        if !forgottenKeys.isEmpty {
            // A key that was added again meanwhile is already in the cut.
            let cut = Set(changes.map(\.key))
            for key in forgottenKeys where !cut.contains(key) {
                changes.append(StoreChange(key: key, value: nil, due: nil, touched: Timestamp(rawValue: 0)))
            }
            forgottenKeys = []
        }
        return changes
    }

    /// The cut is committed: writes it to the store and evicts entries that are due later than the window.
    mutating func noteCommitted(_ changes: [StoreChange], position: StorePosition) throws {
        try store.write(changes, position: position)
        inUse.noteCommitted(cutSlots, reach: window.reach)
        cutSlots = []
        recipients.noteCommitted()
    }

    // MARK: - Reading again

    /// Reapplies a request that the changelog does not contain yet, discarding its effects: its events are published,
    /// and its sends are in the changelog.
    mutating func replay(_ input: CenterInput, at now: Timestamp) throws {
        bench.conditions.isReplay = true
        defer { (steadyFrom, bench.conditions.isReplay) = (inputs, false) }
        // The changelog contains every other outcome.
        guard input.isTimeless else { return }
        var discarded: [Effect] = []
        var outcome = try apply(input, at: now, .again)
        exchangeEffects(with: &discarded)
        while outcome == .unfinished {
            outcome = try proceed(at: now)
            discarded.removeAll()
            exchangeEffects(with: &discarded)
        }
    }

    /// The replay of an input is complete.
    ///
    /// - Parameters:
    ///   - end: where the replay ended.
    ///   - next: the next record to read; equal to `end` when the replay omitted no record.
    mutating func endReplay(before end: CenterInput.Position, of next: Int64) {
        if end.offset < next { inUse.endReplay(before: end) }
    }
}

extension StateEntry {
    /// The JSON for the changelog. What does not fit a record beside what waits is left out: first the content that was
    /// delivered, so that a response to it carries none, then what devices told, which may be counted again.
    ///
    /// - Parameter limit: the maximum size of the record.
    fileprivate func json(under key: NotificationKey, limit: Int) -> [UInt8] {
        func fits(_ json: [UInt8]) -> Bool { RecordBound.size(key: key.encoded, value: json, headers: []) <= limit }
        let json = json
        guard !fits(json) else { return json }
        var entry = self
        if let details = entry.delivered?.details {
            entry.delivered?.details = .init(content: nil, category: details.category, devices: details.devices)
        }
        let shorter = entry.json
        guard !fits(shorter) else { return shorter }
        entry.marks = []
        return entry.json
    }
}
