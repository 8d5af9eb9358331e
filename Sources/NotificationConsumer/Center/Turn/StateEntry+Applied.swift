import NotificationModel
package import NotificationState

/// What was applied to an entry: the ids by which repeats are recognized, and the positions in the log.
extension StateEntry {
    /// The maximum number of closed ids; beyond it the oldest are forgotten. A repeat of a forgotten id counts as a new
    /// request.
    package static let maximumKnown = 128
    /// How long closed ids are kept after they expire, in milliseconds: the timestamp of the repeating record decides
    /// whether an id counts, and it is a little earlier than the clock.
    static let slack: Int64 = 3_600_000

    /// Whether a record with this id was applied before: it is pending, being sent, delivered, or closed and not yet
    /// forgotten.
    func knows(_ id: RequestID, since horizon: Timestamp) -> Bool {
        hasPending && pending?.requestID == id || delivered?.requestID == id
            || hasHandover && handover?.showing.requestID == id || remembers(id, since: horizon)
    }

    func remembers(_ id: RequestID, since horizon: Timestamp) -> Bool {
        known.contains { $0.id == id && $0.closed >= horizon }
    }

    /// Records that a request or a removal ended.
    mutating func remember(_ id: RequestID, at now: Timestamp, since horizon: Timestamp) {
        let oldest = horizon.adding(milliseconds: -Self.slack)
        // Trim both ends in one pass, so that the common case moves nothing.
        if let first = known.first, known.count >= Self.maximumKnown || first.closed < oldest {
            known.removeAll { $0.closed < oldest }
            if known.count >= Self.maximumKnown { known.removeFirst(Self.maximumKnown / 4) }
        }
        known.append(KnownRequest(id: id, closed: now))
    }

    // MARK: - How far the log was applied

    /// Whether the record at the position, or a later one, was applied.
    func hasApplied(_ position: CenterInput.Position) -> Bool { applied[position.input] >= position.place }

    mutating func noteApplied(_ position: CenterInput.Position) { applied[position.input] = position.place }

    /// Leaves a trace of a dropped repeat: an entry is not forgotten while the replay range contains a record that
    /// concerns it.
    ///
    /// - Returns: false when there already is one.
    mutating func noteRepeat(_ position: CenterInput.Position) -> Bool {
        guard isIdle, !hasApplied(position) else { return false }
        noteApplied(position)
        return true
    }
}
