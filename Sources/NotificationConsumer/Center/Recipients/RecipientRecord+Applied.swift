import NotificationModel
import NotificationState

/// The remembered removals of all entries of a recipient.
extension RecipientRecord {
    /// Remembers a completed removal of all entries of this recipient.
    mutating func remember(_ removal: CenterInput.Removal, at now: Timestamp, since horizon: Timestamp) {
        let oldest = horizon.adding(milliseconds: -StateEntry.slack)
        removals.removeAll { $0.closed < oldest || $0.id == removal.id }
        if removals.count >= StateEntry.maximumKnown { removals.removeFirst(StateEntry.maximumKnown / 4) }
        removals.append(KnownRemoval(id: removal.id, offset: removal.position.offset, closed: now))
    }

    /// Whether the record at the position, or a later one, was applied.
    func hasApplied(_ position: CenterInput.Position) -> Bool { applied[position.input] >= position.place }

    mutating func noteApplied(_ position: CenterInput.Position) {
        if position.input == .requests, applied[.requests].life != position.life {
            for index in removals.indices { removals[index].offset = -1 }
        }
        applied[position.input] = position.place
    }

    /// A record that changed. One with regions or devices must not be forgotten: by its instant it is the last of those with
    /// nothing pending, so that no search for old entries finds it.
    ///
    /// - Parameter horizon: devices that were retired before it are forgotten.
    mutating func touch(at now: Timestamp, since horizon: Timestamp) {
        registrations.removeAll { $0.retiredAt.map { $0 < horizon } ?? false }
        digests.removeAll { $0.members.isEmpty && $0.until <= now }
        guard !isLasting else { return touched = .latest }
        // Forgotten at the end of the retention, or when no cap counts any more.
        let retention = now.rawValue - horizon.rawValue
        touched = max(now, capsEnd?.adding(milliseconds: -retention) ?? now)
    }
}
