import NotificationModel

/// What the changelog is to contain, and what reading the requests again adds to it.
extension PartitionCenter {
    /// How long a finished entry may wait for its place in the changelog, in milliseconds, and how many may.
    private static let patience: Int64 = 10_000
    private static let maximumLazy = 100_000

    /// Entries that the next cut must have.
    var dirtyCount: Int { inUse.dirtyCount + recipients.dirtyCount + forgottenKeys.count }
    /// The first record of an input that has finished something which the changelog does not contain yet; nil when it contains
    /// all.
    ///
    /// Reading again from there makes it again, exactly: what is read again is applied only when it is timeless, everything
    /// else has its trace in the changelog. What left none, since something decided that is not in the log (a dead letter for
    /// its time or its size, no room), ends the range: see `noteUndecided`. A repeat that was dropped leaves its trace in the
    /// entry that knows it, and no entry is forgotten that the range concerns: see `mayForget`.
    func replayOffset(of input: InputTopic) -> Int64? { inUse.lazyOffset(of: input) }
    /// Where reading again ends; nil for the next record to read.
    func replayEnd(of input: InputTopic) -> Int64? {
        replayOffset(of: input) == nil ? nil : inUse.lazyEnd(of: input)
    }
    /// Whether the changelog contains everything.
    var isWhole: Bool { inUse.lazyNumber == nil }

    /// The outcome of a record was decided by something that is neither in the log nor in an entry, and has no trace.
    mutating func noteUndecided(at position: CenterInput.Position) { inUse.endReplay(before: position) }

    /// Whether something has waited for its cut for long enough.
    func isImpatient(at now: Timestamp) -> Bool {
        inUse.lazySince.map { $0 < now.adding(milliseconds: -Self.patience) } ?? false
    }

    /// Takes what the changelog is to have now: everything unfinished that changed. What was finished at once can be read again
    /// from `replayOffset` on, and follows after a while, however often it changed. The same changes go to `settle` once they
    /// are committed.
    ///
    /// - Parameters:
    ///   - all: nothing waits.
    ///   - room: bytes that what could wait may fill; what was taken is subtracted.
    mutating func cut(at now: Timestamp, all: Bool, room: inout Int) -> [StoreChange] {
        var changes: [StoreChange] = []
        changes.reserveCapacity(dirtyCount)
        let patience = all ? Timestamp.latest : now.adding(milliseconds: -Self.patience)
        inUse.cut(patience: patience, maximumLazy: Self.maximumLazy, room: &room) { slot, key, entry, isLogged in
            cutSlots.append(slot)
            // Born and gone since the last cut: the changelog never had it.
            guard !entry.isEmpty || isLogged else { return 0 }
            let change = StoreChange(
                key: key.encoded,
                value: entry.isEmpty ? nil : entry.json,
                due: entry.dueAfterRestart,
                touched: entry.touched
            )
            changes.append(change)
            return change.key.count + (change.value?.count ?? 0)
        }
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
            // One that came back meanwhile is in the cut already.
            let cut = Set(changes.map(\.key))
            for key in forgottenKeys where !cut.contains(key) {
                changes.append(StoreChange(key: key, value: nil, due: nil, touched: Timestamp(rawValue: 0)))
            }
            forgottenKeys = []
        }
        return changes
    }

    /// The cut is committed: the store takes it, and what is far leaves memory.
    mutating func settle(_ changes: [StoreChange], position: StorePosition) throws {
        try store.write(changes, position: position)
        inUse.settle(cutSlots, horizon: window.reach)
        cutSlots = []
        recipients.settle()
    }

    // MARK: - Reading again

    /// Applies a request again that the changelog does not contain yet, and discards its effects: its events are published, and
    /// its sends are in the changelog.
    mutating func replay(_ input: CenterInput, at now: Timestamp) throws {
        defer { steadyFrom = inputs }
        // Every other outcome is in the changelog.
        guard input.isTimeless else { return }
        var discarded: [Effect] = []
        var outcome = try apply(input, at: now, .again)
        exchangeEffects(with: &discarded)
        while outcome == .unfinished {
            outcome = try proceed(at: now, .again)
            discarded.removeAll()
            exchangeEffects(with: &discarded)
        }
    }

    /// Everything of an input was read again that may be.
    ///
    /// - Parameters:
    ///   - end: where that ended.
    ///   - next: the next record to read; equal when nothing was left out.
    mutating func endReplay(before end: CenterInput.Position, of next: Int64) {
        if end.offset < next { inUse.endReplay(before: end) }
    }
}
