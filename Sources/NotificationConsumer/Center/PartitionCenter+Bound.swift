import NotificationModel
import NotificationState

/// The limit on entries, and the removal of old entries.
extension PartitionCenter {
    /// The tolerated clock lag when timers fire, in milliseconds.
    private static let steadiness: Int64 = 60_000

    /// The maximum number of entries: the limit, and a tenth of it for closed entries even when all others are pending.
    /// Without that tenth, repeats of capped requests would not be recognized.
    private var room: Int { max(limits.maximumEntries, inUse.totals.pending + limits.maximumEntries / 10) }

    /// Forgets old entries when the key has no entry and the partition is full.
    ///
    /// - Returns: whether the key has an entry or may get one.
    mutating func hasRoom(for key: NotificationKey, at now: Timestamp, _ reading: Reading) throws -> Bool {
        guard entryCount >= room, reading == .first, try !isKept(key, at: now) else { return true }
        _ = try forget(at: now, isForced: true)
        // Entries that are about to be forgotten, or that the replay still needs, may exceed the limit.
        return inUse.totals.pending < limits.maximumEntries || entryCount < room
    }

    /// Whether the key has a record that must not be forgotten, or may get one.
    ///
    /// - Parameter key: of a recipient or a token.
    mutating func hasRoom(forLasting key: NotificationKey) throws -> Bool {
        guard inUse.totals.lasting >= limits.maximumRecipients else { return true }
        return try recipient(of: key)?.isLasting ?? false
    }

    private mutating func isKept(_ key: NotificationKey, at now: Timestamp) throws -> Bool {
        key.isWholeRecipient ? try recipient(of: key) != nil : try slot(of: key, at: now) != nil
    }

    /// Forgets old entries, and entries beyond the limit. Called often; each call does a bounded amount of work.
    ///
    /// - Returns: how many entries were forgotten before their retention ended.
    mutating func forget(at now: Timestamp, isForced: Bool = false) throws -> Int {
        guard procedure == nil else { return 0 }
        try settleFiredRegions(at: now)
        inUse.evict(beyond: limits.maximumResident + inUse.armed)
        recipients.evict(beyond: keepsRecipients ? max(1000, limits.maximumResident) : 1000)
        guard now >= nextForgetting.adding(milliseconds: isForced ? -990 : 0) else { return 0 }
        nextForgetting = now.adding(milliseconds: 1000)
        if cutSlots.isEmpty { inUse.shrink(keeping: limits.keptSlots) }
        // The next call finds entries that the store does not contain yet.
        guard forgottenKeys.isEmpty else { return 0 }
        let old = now.adding(milliseconds: -limits.retention)
        // Usually there is nothing to forget; the least recently touched entry shows it.
        let isFull = entryCount >= room
        guard try isFull || store.idle(limit: 1).contains(where: { $0.touched < old }) else { return 0 }
        var early = 0
        for idle in try store.idle(limit: 512) {
            let isOld = idle.touched < old
            // Those with regions come last.
            guard isOld || entryCount >= room, idle.touched < .latest else { break }
            guard mayForget(idle.touched) else {
                inUse.hurry()
                break
            }
            let key = try NotificationKey(encoded: idle.key)
            threads.forget(ThreadIndex.hash(ofRecipientOf: key))
            if key.isWholeRecipient, let isForgotten = forget(recipient: key, touchedAt: idle.touched) {
                guard isForgotten else { continue }
            } else if let slot = inUse.slot(of: key) {
                let entry = inUse.entry(of: slot)
                guard entry.isIdle, !entry.isEmpty, entry.touched <= idle.touched else { continue }
                inUse.forget(slot, at: now)
            } else {
                forgottenKeys.append(idle.key)
                inUse.totals.entries -= 1
            }
            if !isOld { early += 1 }
        }
        return early
    }

    /// Whether no record of the replay range concerns an entry touched at that instant: the replay would treat the
    /// record as new. After the clock went back, or when the range is the previous owner's, the instant proves nothing.
    private func mayForget(_ touched: Timestamp) -> Bool {
        guard let number = inUse.lazyNumber, let since = inUse.lazySince else { return true }
        return number >= steadyFrom && touched < since.adding(milliseconds: -Self.steadiness)
    }
}
