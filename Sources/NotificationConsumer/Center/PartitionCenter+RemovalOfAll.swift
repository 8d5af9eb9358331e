import NotificationModel
import NotificationState

/// The removal of all entries of a recipient.
///
/// The recipient's record remembers its id. A removal that is read again at its own position skips the entries it was
/// already applied to; at another position it is a repeat.
///
/// It is applied in pieces, so that no checkpoint becomes too large. Each piece is committed with the position before
/// the removal, so a new owner that reads it again continues with the remaining entries. Only the last piece remembers
/// the id. Meanwhile the partition applies no other input and fires no timer.
extension PartitionCenter {
    /// A removal in progress.
    struct Sweep {
        let removal: CenterInput.Removal
        /// The keys in memory when the removal began, in order, and how many are done. The entries that only the store
        /// has come afterwards.
        let keys: [NotificationKey]
        var next = 0
        var cursor = RecipientCursor()
        /// Whether the removal has found an entry so far.
        var found = false
    }

    /// Whether a removal has to be continued by `proceed`.
    var isUnfinished: Bool { sweep != nil }

    mutating func applyToAll(
        _ removal: CenterInput.Removal,
        at now: Timestamp,
        from cause: WorkingSet.Cause,
        _ reading: Reading
    ) throws -> CenterInput.Outcome {
        guard try !turn(ofRecipient: removal.key, at: now, { $0.isRepeat(ofAll: removal) }) else { return .duplicate }
        // In key order, so that the order of events does not depend on how the entries were created.
        let keys = inUse.slots(ofRecipientOf: removal.key).map { inUse.key(of: $0) }
            .sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
        var cursor = RecipientCursor()
        let stored = try store.entries(
            withPrefix: removal.key.encoded,
            after: &cursor,
            limit: limits.entriesPerPiece + 1
        )
        guard stored.count > limits.entriesPerPiece || keys.count > limits.entriesPerPiece else {
            var all = Set(keys)
            for entry in stored { if let key = try bringIn(entry, at: now) { all.insert(key) } }
            var found = false
            for key in all.sorted(by: { $0.encoded.lexicographicallyPrecedes($1.encoded) }) {
                if try take(key, removal, at: now, from: cause) { found = true }
            }
            return try finish(removal, found: found, at: now, reading)
        }
        inUse.endReplay(before: removal.position)
        sweep = Sweep(removal: removal, keys: keys)
        return .unfinished
    }

    /// Applies the next piece of an unfinished removal.
    ///
    /// - Returns: `unfinished`, or the outcome; after that its position may be committed.
    mutating func proceed(at now: Timestamp, _ reading: Reading = .first) throws -> CenterInput.Outcome {
        guard var sweep else { return .applied }
        var isDone = false
        // The log cannot represent half a removal: the cause is the clock.
        if sweep.next < sweep.keys.count {
            let end = min(sweep.next + limits.entriesPerPiece, sweep.keys.count)
            for key in sweep.keys[sweep.next..<end] {
                if try take(key, sweep.removal, at: now, from: .clock) { sweep.found = true }
            }
            sweep.next = end
        } else {
            let stored = try store.entries(
                withPrefix: sweep.removal.key.encoded,
                after: &sweep.cursor,
                limit: limits.entriesPerPiece
            )
            for entry in stored {
                guard let key = try bringIn(entry, at: now) else { continue }
                if try take(key, sweep.removal, at: now, from: .clock) { sweep.found = true }
            }
            isDone = stored.count < limits.entriesPerPiece
            // The entries loaded by the previous piece are committed, or soon will be.
            for _ in 0..<8 { inUse.evict(beyond: limits.maximumResident + inUse.armed) }
        }
        self.sweep = isDone ? nil : sweep
        guard isDone else { return .unfinished }
        return try finish(sweep.removal, found: sweep.found, at: now, reading)
    }

    /// - Returns: nil for the recipient's record, which has the same key prefix.
    private mutating func bringIn(_ stored: StoredEntry, at now: Timestamp) throws -> NotificationKey? {
        let key = try NotificationKey(encoded: stored.key)
        guard !key.isWholeRecipient else { return nil }
        _ = try slot(of: key, at: now)
        return key
    }

    /// - Returns: whether the key had an entry to remove.
    private mutating func take(
        _ key: NotificationKey,
        _ removal: CenterInput.Removal,
        at now: Timestamp,
        from cause: WorkingSet.Cause
    ) throws -> Bool {
        guard let slot = try slot(of: key, at: now), !inUse.entry(of: slot).isEmpty else {
            return false
        }
        return try turn(of: key, at: now, from: cause) { $0.applyToOneOfAll(removal) }
    }

    private mutating func finish(
        _ removal: CenterInput.Removal,
        found: Bool,
        at now: Timestamp,
        _ reading: Reading
    ) throws -> CenterInput.Outcome {
        guard try hasRoom(for: removal.key, at: now, reading) else {
            // There is no room to remember its id.
            inUse.endReplay(before: removal.position)
            outsideOfEntries(removal.key, at: now) { $0.finishAll(removal, found: found) }
            return .applied
        }
        try turn(ofRecipient: removal.key, at: now) { $0.finishAll(removal, found: found) }
        return .applied
    }
}
