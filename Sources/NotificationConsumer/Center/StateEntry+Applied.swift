import NotificationModel

/// What was applied to an entry: the ids that a repeat would bring again, and how far the log was applied.
extension StateEntry {
    /// The oldest closed ids are forgotten beyond this many; a repeat of one that old counts as a new request.
    static let maximumKnown = 128
    /// How much longer than they count closed ids are kept, in milliseconds: whether one counts is decided by the time of the
    /// record that repeats it, which is a little before the clock's.
    private static let slack: Int64 = 3_600_000

    /// True when a record with this id was applied before: pending, being sent, delivered, or closed and not yet forgotten.
    func knows(_ id: RequestID, since horizon: Timestamp) -> Bool {
        pending?.requestID == id || delivered?.requestID == id || sending?.requestID == id
            || remembers(id, since: horizon)
    }

    func remembers(_ id: RequestID, since horizon: Timestamp) -> Bool {
        known.contains { $0.id == id && $0.closed >= horizon }
    }

    /// Notes that a request, or a removal, ended.
    mutating func remember(_ id: RequestID, at now: Timestamp, since horizon: Timestamp) {
        let oldest = horizon.adding(milliseconds: -Self.slack)
        // Both ends in one pass, so the common case moves nothing.
        if let first = known.first, known.count >= Self.maximumKnown || first.closed < oldest {
            known.removeAll { $0.closed < oldest }
            if known.count >= Self.maximumKnown { known.removeFirst(Self.maximumKnown / 4) }
        }
        known.append(KnownRequest(id: id, closed: now))
    }

    /// A removal of everything that this recipient has is done.
    mutating func remember(_ removal: CenterInput.Removal, at now: Timestamp, since horizon: Timestamp) {
        let oldest = horizon.adding(milliseconds: -Self.slack)
        removals.removeAll { $0.closed < oldest || $0.id == removal.id }
        if removals.count >= Self.maximumKnown { removals.removeFirst(Self.maximumKnown / 4) }
        removals.append(KnownRemoval(id: removal.id, offset: removal.position.offset, closed: now))
    }

    // MARK: - How far the log was applied

    /// Whether the record at the position was applied to it, or a later one.
    func hasApplied(_ position: CenterInput.Position) -> Bool {
        (life, appliedThrough) >= (position.life, position.offset)
    }

    mutating func noteApplied(_ position: CenterInput.Position) {
        if life != position.life {
            life = position.life
            for index in removals.indices { removals[index].offset = -1 }
        }
        appliedThrough = position.offset
    }

    /// Leaves a trace of a repeat that was dropped: what the log concerns is not forgotten before the log is left behind.
    ///
    /// - Returns: false when there is one already.
    mutating func noteRepeat(_ position: CenterInput.Position) -> Bool {
        guard isIdle, !hasApplied(position) else { return false }
        noteApplied(position)
        return true
    }
}
