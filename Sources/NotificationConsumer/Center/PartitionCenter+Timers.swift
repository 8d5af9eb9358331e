import NotificationModel
import NotificationState

/// Timers: those in memory fire, and the store is asked for the next ones.
extension PartitionCenter {
    /// When the next timer is due; nil when no timer is in memory.
    mutating func nextDue() -> Timestamp? { inUse.nextDue() }

    /// When the window advances; nil when the store holds no pending entry beyond it.
    var nextRefill: Timestamp? { inUse.totals.pending > inUse.armed + inFlight ? window.nextRefill : nil }

    /// Loads a bounded number of the next timers from the store.
    ///
    /// - Returns: how many were loaded; may exceed `limit` when several keys are due at the same instant.
    @discardableResult
    mutating func refill(at now: Timestamp, limit: Int = DueWindow.loadedAtATime) throws -> Int {
        guard window.moves(at: now), limit > 0, inUse.armed < DueWindow.maximumArmed else { return 0 }
        let (count, isAll) = try load(through: window.target, limit: limit, at: now)
        if isAll { window.reachTarget() }
        return count
    }

    /// - Returns: how many were loaded, and whether these were all up to the instant.
    mutating func load(
        through instant: Timestamp,
        limit: Int = DueWindow.loadedAtATime,
        at now: Timestamp
    ) throws -> (count: Int, isAll: Bool) {
        let found = try store.due(after: &window.cursor, through: instant, limit: limit)
        for stored in found {
            let key = try NotificationKey(encoded: stored.key)
            if inUse.slot(of: key) == nil { try bringIn(key, StateEntry(json: stored.value, zones: zones), at: now) }
        }
        return (found.count, found.count < limit)
    }

    /// Fires at most `limit` of the due timers, earliest first. The clock decides what is too late or expired.
    ///
    /// - Parameters:
    ///   - end: nothing due after it is sent; nil for `now`.
    ///   - urgentOnly: only those of time-sensitive and critical notifications.
    /// - Returns: how many fired, and whether these were all that can fire now. `lateness` is called with the lateness of each in
    ///   milliseconds.
    mutating func fireDue(
        at now: Timestamp,
        through end: Timestamp? = nil,
        limit: Int,
        urgentOnly: Bool = false,
        lateness: (Int64) -> Void = { _ in }
    ) throws -> (count: Int, isAll: Bool) {
        // Do not send entries that the procedure in progress has not reached yet.
        guard procedure == nil, !holdsTimers, replan == nil else { return (0, true) }
        var fired = 0
        let end = min(now, end ?? now)
        while fired < limit, let (slot, due) = inUse.nextToFire(at: end, urgentOnly: urgentOnly) {
            let key = inUse.key(of: slot)
            if inUse.isInDigest(slot, at: now) {
                try foldDigest(of: key, at: now)
            } else {
                try fire(key, in: slot, at: now, through: end)
            }
            lateness(now.rawValue - due.rawValue)
            fired += 1
            // What it sends may not begin yet: it is due until the next marker.
            if let next = inUse.nextToFire(at: end, urgentOnly: urgentOnly), next == (slot, due) {
                return (fired, true)
            }
        }
        return (fired, fired < limit)
    }

    private mutating func fire(
        _ key: NotificationKey,
        in slot: WorkingSet.Slot,
        at now: Timestamp,
        through end: Timestamp
    ) throws {
        let recipient = try keepsRecipients ? recipientSlot(of: key) : nil
        bench.begin(key, at: now)
        lend(recipient)
        defer { endTurn() }
        let waited = inUse.waitsForRegion(slot)
        inUse.run(&bench, in: slot, from: .clock) { turn in turn.run { $0.fire(through: end) } }
        takeBack(recipient)
        if waited { firedRegions.append(key) }
    }
}
