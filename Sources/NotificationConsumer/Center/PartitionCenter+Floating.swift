import NotificationModel
import NotificationState

/// Calendar triggers that name no time zone float: they are on the clock of the recipient's device, and move with it.
///
/// ## A move
/// When a registration, its end or a retirement changes the zone of a recipient, what is pending is planned again. Neither the
/// log nor a replay makes these changes: they are in the next cut, with the record that has the new zone. Of a cut that is not
/// finished the entries are written before the record, and after their events. So when the registration is read again, what
/// moved is in the new zone already, and what did not is found.
///
/// A recipient without a zone, because the last device is gone, leaves what is pending as it is.
extension PartitionCenter {
    /// The bytes that one move adds to a cut, at most by the last entry more.
    static let movedAtOnce = 1 << 20

    /// Applies an input that may change the zone of a recipient, and then takes what is pending to the new one.
    ///
    /// - Parameter written: the timestamp of the input's record.
    mutating func followingZone(
        of recipient: NotificationKey,
        writtenAt written: Timestamp,
        at now: Timestamp,
        _ apply: (inout PartitionCenter) throws -> CenterInput.Outcome
    ) throws -> CenterInput.Outcome {
        let before = try self.recipient(of: recipient)?.timeZone
        let outcome = try apply(&self)
        guard let name = try self.recipient(of: recipient)?.timeZone, name != before,
            let zone = try? rules.zones?.database.rules(named: name)
        else { return outcome }
        // The previous owner may have moved and sent it.
        let mayHaveBeenSent = doubtThrough.map { written <= $0 } ?? false
        try move(recipient, to: zone, mayHaveBeenSent: mayHaveBeenSent, at: now)
        return outcome
    }

    /// Moves the floating entries of a recipient: those in memory first, which are due soon, then those in the store. It looks at
    /// `entriesPerPiece` of them, and stops at `movedAtOnce`. Beyond that a repeat follows after its next occurrence, and a
    /// one-shot stays on the clock that it has.
    private mutating func move(
        _ recipient: NotificationKey,
        to zone: TimeZoneRules,
        mayHaveBeenSent: Bool,
        at now: Timestamp
    ) throws {
        // In key order, so that the order of events does not depend on how the entries were created.
        let resident = inUse.slots(ofRecipientOf: recipient).filter { inUse.entry(of: $0).floats }
            .map { inUse.key(of: $0) }
            .sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
        var keys = Array(resident.prefix(limits.entriesPerPiece))
        var cursor = RecipientCursor()
        for stored in try store.entries(withPrefix: recipient.encoded, after: &cursor, limit: limits.entriesPerPiece) {
            let key = try NotificationKey(encoded: stored.key)
            guard !key.isWholeRecipient, inUse.slot(of: key) == nil,
                try StateEntry.head(of: stored.value).mayHaveCalendar,
                try StateEntry(json: stored.value, zones: zones).floats
            else { continue }
            keys.append(key)
        }
        var bytes = 0
        for key in keys.prefix(limits.entriesPerPiece) where bytes < Self.movedAtOnce {
            bytes += try turn(of: key, at: now, from: .clock, mayHaveBeenSent: mayHaveBeenSent, needsRecipient: false) {
                $0.move(to: zone)
            }
        }
        movedBytes += bytes
    }
}

extension StateEntry {
    /// Whether it waits for a calendar trigger that names no time zone.
    fileprivate var floats: Bool {
        guard case .scheduled(.calendar(let schedule), _)? = pending?.timer else { return false }
        return schedule.floats
    }
}

extension CenterInput.Signal {
    /// Whether it may retire a device.
    var mayRetire: Bool {
        switch signal {
        case .retirement: true
        case .report(let report): report.outcome == .unregistered
        case .response, .receipt, .appState, .location: false
        }
    }
}
