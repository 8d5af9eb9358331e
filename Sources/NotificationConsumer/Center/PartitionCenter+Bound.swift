import NotificationModel

/// What a partition does at the bound of entries, and with what is old.
extension PartitionCenter {
    /// Timers fire by a clock that may be as far behind, in milliseconds.
    private static let steadiness: Int64 = 60_000

    /// Entries that may be kept: the bound, and a tenth of it for what is closed even while all of that is pending, so that
    /// repeats of what had no room are known.
    private var room: Int { max(limits.maximumEntries, inUse.totals.pending + limits.maximumEntries / 10) }

    /// Forgets something when a key has no entry and there is no room for another one.
    ///
    /// - Returns: whether the key has an entry, or may have one.
    mutating func hasRoom(for key: NotificationKey, at now: Timestamp, _ reading: Reading) throws -> Bool {
        guard inUse.totals.entries >= room, reading == .first, try !isKept(key, at: now) else { return true }
        _ = try forget(at: now, isForced: true)
        // What is about to leave, or kept a little longer for the replay, may be more than the bound.
        return inUse.totals.pending < limits.maximumEntries || inUse.totals.entries < room
    }

    private mutating func isKept(_ key: NotificationKey, at now: Timestamp) throws -> Bool {
        key.isWholeRecipient ? try recipient(of: key) != nil : try slot(of: key, at: now) != nil
    }

    /// Forgets what is old, and what is more than the bound; called often, does little at a time.
    ///
    /// - Returns: how many were forgotten before their time.
    mutating func forget(at now: Timestamp, isForced: Bool = false) throws -> Int {
        guard sweep == nil else { return 0 }
        inUse.evict(beyond: limits.maximumResident + inUse.armed)
        recipients.evict(beyond: 1000)
        guard now >= nextForgetting.adding(milliseconds: isForced ? -990 : 0) else { return 0 }
        nextForgetting = now.adding(milliseconds: 1000)
        if cutSlots.isEmpty { inUse.shrink() }
        // What the store does not contain yet is found at the next call.
        guard forgottenKeys.isEmpty else { return 0 }
        let old = now.adding(milliseconds: -limits.retention)
        // Mostly there is nothing to forget, and the longest untouched one tells.
        let isFull = inUse.totals.entries >= room
        guard try isFull || store.idle(limit: 1).contains(where: { $0.touched < old }) else { return 0 }
        var early = 0
        for idle in try store.idle(limit: 512) {
            let isOld = idle.touched < old
            guard isOld || inUse.totals.entries >= room else { break }
            guard mayForget(idle.touched) else {
                inUse.hurry()
                break
            }
            let key = try NotificationKey(encoded: idle.key)
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

    /// Whether no record that may be read again concerns what was touched then: it would be met as something new. Where the
    /// clock went back, or the range is the previous owner's, the instant says nothing.
    private func mayForget(_ touched: Timestamp) -> Bool {
        guard let number = inUse.lazyNumber, let since = inUse.lazySince else { return true }
        return number >= steadyFrom && touched < since.adding(milliseconds: -Self.steadiness)
    }
}
