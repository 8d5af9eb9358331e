import NotificationModel
import NotificationState

/// Calendar triggers that name no time zone float: they are on the clock of the recipient's device, and move with it.
///
/// ## A move
/// When a registration, its end or a retirement changes the zone of a recipient, what is pending is planned again. Neither the
/// log nor a replay makes these changes: they are in the next cuts, and the record that has the new zone is in the last of them.
/// Of a cut that is not finished the entries are written before the record, and after their events. So when the registration is
/// read again, what moved is in the new zone already, and what did not is found.
///
/// A recipient without a zone, because the last device is gone, leaves what is pending as it is.
extension PartitionCenter {
    mutating func move(
        _ walk: inout EntryWalk,
        to zone: TimeZoneRules,
        mayHaveBeenSent: Bool,
        at now: Timestamp
    ) throws {
        // Only these have dates.
        let needle = Array("\"dateComponents\"".utf8)
        try visit(&walk, containing: [needle], at: now, where: \.floats) { center, key in
            try center.turn(of: key, at: now, from: .clock, mayHaveBeenSent: mayHaveBeenSent, needsRecipient: false) {
                $0.move(to: zone)
            }
        }
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
