import NotificationModel

/// What the centre keeps of one identifier: the slice that a request or removal of that identifier can touch.
typealias CenterEntry = StateEntry

extension StateEntry {
    /// The oldest closed ids are forgotten beyond this many; a repeat of one that old counts as a new request.
    static let maximumKnown = 128

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
        // Both ends in one pass, so the common case moves nothing.
        if let first = known.first, known.count >= Self.maximumKnown || first.closed < horizon {
            known.removeAll { $0.closed < horizon }
            if known.count >= Self.maximumKnown { known.removeFirst(Self.maximumKnown / 4) }
        }
        known.append(KnownRequest(id: id, closed: now))
    }
}
