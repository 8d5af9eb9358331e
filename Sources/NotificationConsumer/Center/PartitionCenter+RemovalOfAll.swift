import NotificationModel

/// A removal of everything a recipient has.
///
/// Its id is remembered in the recipient's record. Where it is read again in its own place, it passes over what it was applied to;
/// in another place it is a repeat.
///
/// It goes in pieces, so that no checkpoint is larger than others: each piece is committed with the position that is before the
/// removal, whoever reads it again goes on where it stopped, and only the last one remembers the id. Nothing else of the
/// partition is applied meanwhile, nor fired.
extension PartitionCenter {
    /// A removal that is under way.
    struct Sweep {
        let removal: CenterInput.Removal
        /// What was in use when it began, in order, and how much of it is done; after it comes what is in the store alone.
        let keys: [NotificationKey]
        var next = 0
        var cursor = RecipientCursor()
        /// Whether anything was removed so far.
        var found = false
    }

    /// Whether a removal waits for `proceed`.
    var isUnfinished: Bool { sweep != nil }

    mutating func applyToAll(
        _ removal: CenterInput.Removal,
        at now: Timestamp,
        from cause: WorkingSet.Cause,
        _ reading: Reading
    ) throws -> CenterInput.Outcome {
        guard try !turn(ofRecipient: removal.key, at: now, { $0.isRepeat(ofAll: removal) }) else { return .duplicate }
        // By key, so that the order of events is the same however the entries came to be.
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

    /// Continues a removal that is unfinished, by a piece.
    ///
    /// - Returns: `unfinished`, or its outcome; its position may be committed then.
    mutating func proceed(at now: Timestamp, _ reading: Reading = .first) throws -> CenterInput.Outcome {
        guard var sweep else { return .applied }
        var isDone = false
        // Half of it is nothing that the log could stand for: the cause is the clock.
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
            // What the piece before brought in was committed, or soon is.
            for _ in 0..<8 { inUse.evict(beyond: limits.maximumResident + inUse.armed) }
        }
        self.sweep = isDone ? nil : sweep
        guard isDone else { return .unfinished }
        return try finish(sweep.removal, found: sweep.found, at: now, reading)
    }

    /// - Returns: nil for the recipient's record, which is stored under the same prefix.
    private mutating func bringIn(_ stored: StoredEntry, at now: Timestamp) throws -> NotificationKey? {
        let key = try NotificationKey(encoded: stored.key)
        guard !key.isWholeRecipient else { return nil }
        _ = try slot(of: key, at: now)
        return key
    }

    /// - Returns: whether it found anything under the key.
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
            // Its id cannot be remembered.
            inUse.endReplay(before: removal.position)
            outsideOfEntries(removal.key, at: now) { $0.finishAll(removal, found: found) }
            return .applied
        }
        try turn(ofRecipient: removal.key, at: now) { $0.finishAll(removal, found: found) }
        return .applied
    }
}
