import NotificationModel

/// What was applied to an entry: the ids that a repeat would bring again, and how far the log was applied.
extension StateEntry {
    /// The oldest closed ids are forgotten beyond this many; a repeat of one that old counts as a new request.
    static let maximumKnown = 128
    /// How much longer than they count closed ids are kept, in milliseconds: whether one counts is decided by the time of the
    /// record that repeats it, which is a little before the clock's.
    static let slack: Int64 = 3_600_000

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

    // MARK: - How far the log was applied

    /// Whether the record at the position was applied to it, or a later one.
    func hasApplied(_ position: CenterInput.Position) -> Bool { applied[position.input] >= position.place }

    mutating func noteApplied(_ position: CenterInput.Position) { applied[position.input] = position.place }

    /// Leaves a trace of a repeat that was dropped: what the log concerns is not forgotten before the log is left behind.
    ///
    /// - Returns: false when there is one already.
    mutating func noteRepeat(_ position: CenterInput.Position) -> Bool {
        guard isIdle, !hasApplied(position) else { return false }
        noteApplied(position)
        return true
    }
}
