import NotificationModel
import NotificationState

/// Planning again what waits for calendar triggers, because the rules of time zones changed since it was planned.
///
/// The waiting entries are read in small numbers, in the order of their due times; those whose occurrence moved are
/// changed. Until all were read, no timer fires, and markers name the version with which the entries were planned: after a
/// crash it starts from the beginning, where an entry that was changed already does not change again.
extension PartitionCenter {
    /// How far it is.
    struct Replan {
        /// The version of the time zone data with which the entries were planned.
        let version: String
        /// The entries whose occurrence moved.
        fileprivate(set) var moved = 0
        fileprivate var cursor = DueCursor(before: .earliest)

        init(from version: String) { self.version = version }
    }

    /// Reads some of the waiting entries; `replan` is nil after the last.
    mutating func replan(at now: Timestamp, limit: Int) throws {
        guard var replan else { return }
        let found = try store.due(after: &replan.cursor, through: .latest, limit: limit)
        for stored in found {
            guard try StateEntry.head(of: stored.value).mayHaveCalendar else { continue }
            guard try self.replan(stored, at: now) else { continue }
            replan.moved += 1
        }
        self.replan = found.count < limit ? nil : replan
    }

    private mutating func replan(_ stored: StoredEntry, at now: Timestamp) throws -> Bool {
        let key = try NotificationKey(encoded: stored.key)
        var slot = inUse.slot(of: key)
        if slot == nil {
            var entry = try StateEntry(json: stored.value, zones: zones)
            note(missingZoneOf: entry)
            guard entry.replan() else { return false }
            slot = try bringIn(key, StateEntry(json: stored.value, zones: zones), at: now)
        }
        guard let slot else { return false }
        return inUse.update(slot, at: now, from: .clock) { [rules] entry in
            let isMoved = entry.replan()
            if isMoved { entry.planPreparation(rules) }
            return (isMoved, changed: isMoved)
        }
    }

    /// Counts an entry that waits for a time in a zone that the database does not have.
    mutating func note(missingZoneOf entry: StateEntry) {
        guard case .scheduled(.calendar(let schedule), _)? = entry.pending?.timer, schedule.zone.isSubstitute else {
            return
        }
        missingZones[schedule.zone.name, default: 0] += 1
    }
}

extension StateEntry {
    /// Moves the occurrence that a calendar trigger waits for to where the current rules of its zone put it. One that may
    /// have been sent stays: it is sent again under the same id.
    ///
    /// - Returns: whether it moved.
    fileprivate mutating func replan() -> Bool {
        guard let pending, !isInDoubt(pending.showing),
            case .scheduled(.calendar(let planned), let before) = pending.timer
        else { return false }
        let (schedule, occurrence) = planned.replanned(before)
        guard occurrence != before else { return false }
        self.pending?.timer = .scheduled(.calendar(schedule), occurrence: occurrence)
        self.pending?.due = Schedule.calendar(schedule).due(for: occurrence, of: pending.requestID)
        return true
    }
}
