import NotificationModel
import NotificationState

/// The removal of all entries of a recipient.
///
/// The recipient's record remembers its id. A removal that is read again at its own position skips the entries it was
/// already applied to; at another position it is a repeat.
extension PartitionCenter {
    mutating func applyToAll(
        _ removal: CenterInput.Removal,
        at now: Timestamp,
        from cause: WorkingSet.Cause,
        _ reading: Reading
    ) throws -> CenterInput.Outcome {
        guard try !turn(ofRecipient: removal.key, at: now, { $0.isRepeat(ofAll: removal) }) else { return .duplicate }
        guard try isSmall(removal.key) else {
            // The log cannot represent half a removal: the cause is the clock.
            inUse.endReplay(before: removal.position)
            return try begin([.removal(removal)], of: .removal(removal), removal.key, at: now, reading)
        }
        var walk = walk(of: removal.key)
        var found = false
        while !walk.isOver {
            try visit(&walk, at: now, where: { !$0.isEmpty }) { center, key in
                if try center.take(key, removal, at: now, from: cause) { found = true }
            }
        }
        return try finish(removal, found: found, at: now, reading)
    }

    /// Whether all entries of a recipient fit one piece: it can wait for a replay of the log.
    private func isSmall(_ recipient: NotificationKey) throws -> Bool {
        let resident = inUse.slots(ofRecipientOf: recipient)
        guard resident.count <= limits.entriesPerPiece else { return false }
        var cursor = RecipientCursor()
        let stored = try store.entries(
            withPrefix: recipient.encoded,
            after: &cursor,
            limit: limits.entriesPerPiece + 1
        )
        return stored.count <= limits.entriesPerPiece
    }

    mutating func remove(_ walk: inout EntryWalk, by removal: CenterInput.Removal, at now: Timestamp) throws {
        try visit(&walk, at: now, where: { !$0.isEmpty }) { center, key in
            if try center.take(key, removal, at: now, from: .clock) { center.procedure?.found = true }
        }
    }

    /// - Returns: whether the key had an entry to remove.
    private mutating func take(
        _ key: NotificationKey,
        _ removal: CenterInput.Removal,
        at now: Timestamp,
        from cause: WorkingSet.Cause
    ) throws -> Bool {
        try turn(of: key, at: now, from: cause) { $0.applyToOneOfAll(removal) }
    }

    mutating func finish(
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
