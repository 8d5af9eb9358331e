import NotificationModel

/// What was applied to an entry before: the ids of requests and removals, and how far the log. By them a repeat is recognised.
extension StateEntry {
    /// The oldest closed ids are forgotten beyond this many; a repeat of one that old counts as a new request.
    static let maximumKnown = 128
    /// How much longer than they count closed ids are kept, in milliseconds: whether one counts is decided by the time of the
    /// record that repeats it, which is a little before the clock's.
    private static let slack: Int64 = 3_600_000

    /// True when a record with this id was applied before: pending, being sent, delivered, or closed and still remembered.
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

    /// Notes that a removal of everything that this recipient has was applied.
    mutating func remember(_ removal: NotificationCenter.Removal, at now: Timestamp, since horizon: Timestamp) {
        let oldest = horizon.adding(milliseconds: -Self.slack)
        removals.removeAll { $0.closed < oldest || $0.id == removal.id }
        if removals.count >= Self.maximumKnown { removals.removeFirst(Self.maximumKnown / 4) }
        removals.append(KnownRemoval(id: removal.id, offset: removal.offset, closed: now))
    }

    // MARK: - How far the log was applied

    /// Whether the record at the offset, in that life of the topic, or a later one, was applied to the entry.
    func hasApplied(_ offset: Int64, in life: Int64) -> Bool {
        (self.life, appliedThrough) >= (life, offset)
    }

    mutating func noteApplied(_ offset: Int64, in life: Int64) {
        if self.life != life {
            self.life = life
            for index in removals.indices { removals[index].offset = -1 }
        }
        appliedThrough = offset
    }

    /// Notes the offset of a repeat that was dropped, so that an idle entry is not forgotten while the log can still be read
    /// again from before that record.
    ///
    /// - Returns: false when that offset is noted already.
    mutating func noteRepeat(_ offset: Int64, in life: Int64) -> Bool {
        guard isIdle, !hasApplied(offset, in: life) else { return false }
        noteApplied(offset, in: life)
        return true
    }
}
