import NotificationModel

/// A removal of everything a recipient has.
///
/// Its id is remembered in an entry of the recipient's own, under the empty identifier, which is no notification. Where it
/// is read again in its own place, it passes over what it was applied to; in another place it is a repeat.
///
/// It goes in pieces, so that no checkpoint is larger than others: each piece is committed with the position that is before the
/// removal, whoever reads it again goes on where it stopped, and only the last one remembers the id. Nothing else of the
/// partition is applied meanwhile, nor fired.
extension PartitionCenter {
    /// A removal that is under way.
    struct Sweep {
        let removal: NotificationCenter.Removal
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
        _ removal: NotificationCenter.Removal,
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        guard try !isRepeat(removal, at: now) else { return .duplicate }
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
            var found = false
            var all = Set(keys)
            for entry in stored { all.insert(try bringIn(entry, at: now)) }
            for key in all.sorted(by: { $0.encoded.lexicographicallyPrecedes($1.encoded) }) {
                if try take(key, removal, at: now, &effects) { found = true }
            }
            return try finish(removal, found: found, at: now, &effects)
        }
        inUse.endReplay(before: removal.offset)
        sweep = Sweep(removal: removal, keys: keys)
        return .unfinished
    }

    /// Goes on with a removal that is unfinished, by a piece.
    ///
    /// - Returns: `unfinished`, or what became of it; its position may be committed then.
    mutating func proceed(
        at now: Timestamp,
        effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        guard var sweep else { return .applied }
        let sends = effects.sends.count
        defer { inFlight += effects.sends.count - sends }
        // Half of it is nothing that the log could stand for.
        (inUse.offset, inUse.isTimeless) = (sweep.removal.offset, false)
        var isDone = false
        if sweep.next < sweep.keys.count {
            let end = min(sweep.next + limits.entriesPerPiece, sweep.keys.count)
            for key in sweep.keys[sweep.next..<end] {
                if try take(key, sweep.removal, at: now, &effects) { sweep.found = true }
            }
            sweep.next = end
        } else {
            let stored = try store.entries(
                withPrefix: sweep.removal.key.encoded,
                after: &sweep.cursor,
                limit: limits.entriesPerPiece
            )
            for entry in stored {
                let key = try bringIn(entry, at: now)
                if try take(key, sweep.removal, at: now, &effects) { sweep.found = true }
            }
            isDone = stored.count < limits.entriesPerPiece
            // What the piece before brought in was committed, or soon is.
            for _ in 0..<8 { inUse.evict(beyond: limits.maximumResident + inUse.armed) }
        }
        self.sweep = isDone ? nil : sweep
        guard isDone else { return .unfinished }
        return try finish(sweep.removal, found: sweep.found, at: now, &effects)
    }

    private mutating func bringIn(_ stored: StoredEntry, at now: Timestamp) throws -> NotificationKey {
        let key = try NotificationKey(encoded: stored.key)
        _ = try slot(of: key, at: now)
        return key
    }

    /// - Returns: whether it found anything under the key.
    private mutating func take(
        _ key: NotificationKey,
        _ removal: NotificationCenter.Removal,
        at now: Timestamp,
        _ effects: inout NotificationCenter.Effects
    ) throws -> Bool {
        guard !key.isWholeRecipient, let slot = try slot(of: key, at: now), !inUse.entry(of: slot).isEmpty else {
            return false
        }
        return inUse.update(slot, at: now) { [rules] entry in
            let one = rules.apply(removal, toOneOfAll: key, &entry, at: now, effects: &effects)
            return (one.found, changed: one.changed)
        }
    }

    private mutating func finish(
        _ removal: NotificationCenter.Removal,
        found: Bool,
        at now: Timestamp,
        _ effects: inout NotificationCenter.Effects
    ) throws -> NotificationCenter.Outcome {
        if !found { effects.events.append(rules.miss(removal, known: .unknown)) }
        guard try makeRoom(for: removal.key, at: now) else {
            // Its id cannot be remembered.
            inUse.endReplay(before: removal.offset)
            return .applied
        }
        try change(removal.key, at: now) { [rules] entry in
            if !entry.hasApplied(removal.offset, in: rules.life) { entry.noteApplied(removal.offset, in: rules.life) }
            entry.remember(removal, at: now, since: rules.horizon(removal.timestamp))
            return ((), true)
        }
        return .applied
    }

    /// Whether the removal's id came before, in another place.
    private mutating func isRepeat(_ removal: NotificationCenter.Removal, at now: Timestamp) throws -> Bool {
        guard let slot = try slot(of: removal.key, at: now) else { return false }
        let (kept, life) = (inUse.entry(of: slot), rules.life)
        let wasApplied = kept.hasApplied(removal.offset, in: life)
        let horizon = rules.horizon(removal.timestamp)
        guard let known = kept.removals.first(where: { $0.id == removal.id && $0.closed >= horizon }) else {
            // It left its trace as a repeat, or so many came since that nothing is left for it to do.
            return wasApplied
        }
        // In its own place it is read again.
        if kept.life == life, known.offset >= removal.offset { return false }
        inUse.update(slot, at: now) { entry in ((), entry.noteRepeat(removal.offset, in: life)) }
        return true
    }
}
