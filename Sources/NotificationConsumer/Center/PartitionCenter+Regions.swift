import NotificationModel
import NotificationState

/// Location triggers. The regions that a recipient's notifications wait for, and the sides on which the devices are, are in
/// the recipient's record: a fix reads one record in each application, and an entry only when its boundary is crossed. So it
/// costs the same however many regions other recipients have.
///
/// The entries are the truth. A checkpoint that was written in part has entries without the change of the record, since
/// entries come first: a region whose entry does not wait for it is dropped at its next crossing, and one that the record
/// does not have is added when its request is read again.
extension PartitionCenter {
    /// Applications with regions in a partition: their names are in each marker.
    static let maximumLocatedApplications = 100

    /// Applies a fix to the regions of its recipient, in the application that it names or in all.
    mutating func apply(_ fix: CenterInput.Fix, at now: Timestamp) throws -> CenterInput.Outcome {
        var outcome = CenterInput.Outcome.unawaited
        for application in fix.fix.application.map({ [$0] }) ?? locatedApplications {
            // The recipient was read from a key. An application that cannot be in one has no regions.
            guard
                let recipient = try? NotificationKey(
                    application: application,
                    recipient: fix.recipient,
                    identifier: ""
                ), var record = try self.recipient(of: recipient), !record.regions.isEmpty
            else { continue }
            guard let crossings = record.locate(fix.fix) else {
                if outcome == .unawaited { outcome = .late }
                continue
            }
            outcome = .located
            set(record, of: recipient, at: now)
            let mayHaveBeenSent = bench.conditions.mayHaveBeenRead(fix.timestamp)
            for crossing in crossings {
                let key = try recipient.withIdentifier(crossing.identifier)
                let isAwaited = try turn(of: key, at: now, from: .clock, mayHaveBeenSent: mayHaveBeenSent) {
                    $0.cross(fix, for: crossing.requestID)
                }
                if !isAwaited { try forgetRegion(of: key, at: now) }
            }
        }
        return outcome
    }

    /// Notes in the recipient's record what an entry waits for after a turn.
    mutating func noteRegion(of key: NotificationKey, _ entry: StateEntry, at now: Timestamp) throws {
        guard let pending = entry.pending, case .region(let wait) = pending.timer else {
            return try forgetRegion(of: key, at: now)
        }
        let recipient = key.ofRecipient
        var record = try self.recipient(of: recipient) ?? RecipientRecord()
        guard record.wait(for: wait.trigger, key.identifier, pending.requestID) else { return noteApplication(of: key) }
        set(record, of: recipient, at: now)
        noteApplication(of: key)
    }

    private mutating func noteApplication(of key: NotificationKey) {
        let application = key.application
        guard !locatedApplications.contains(where: { $0.hasSameUTF8(as: application) }) else { return }
        locatedApplications.append(application)
        locatedApplications.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Drops a region from the recipient's record.
    private mutating func forgetRegion(of key: NotificationKey, at now: Timestamp) throws {
        let recipient = key.ofRecipient
        guard var record = try self.recipient(of: recipient), record.forgetRegion(of: key.identifier) else { return }
        set(record, of: recipient, at: now)
    }

    private mutating func set(_ record: RecipientRecord, of recipient: NotificationKey, at now: Timestamp) {
        var record = record
        record.touch(at: now, since: rules.rememberedSince(now))
        inUse.totals += recipients.set(record, of: recipient)
    }

    /// Notes what the entries wait for whose timers fired since the last call.
    mutating func settleFiredRegions(at now: Timestamp) throws {
        guard !firedRegions.isEmpty else { return }
        let keys = firedRegions
        firedRegions = []
        for key in keys {
            let entry = try slot(of: key, at: now).map { inUse.entry(of: $0) } ?? StateEntry()
            try noteRegion(of: key, entry, at: now)
        }
    }

    /// Whether a notification may wait for a region: the recipient has fewer than the bound, or this one has one already. The
    /// recipient's record must fit where an entry with the largest content does.
    mutating func hasRoomForRegion(of key: NotificationKey, at now: Timestamp) throws -> Bool {
        let application = key.application
        guard
            locatedApplications.count < Self.maximumLocatedApplications
                || locatedApplications.contains(where: { $0.hasSameUTF8(as: application) })
        else { return false }
        let recipient = key.ofRecipient
        let identifier = key.identifier
        guard let record = try self.recipient(of: recipient),
            !record.regions.contains(where: { $0.identifier.hasSameUTF8(as: identifier) }),
            record.regions.count >= limits.regionsPerRecipient || record.sharedBytes >= rules.recipientBytes
        else { return true }
        // Those that no entry waits for any more do not count.
        for region in record.regions {
            let key = try recipient.withIdentifier(region.identifier)
            let entry = try slot(of: key, at: now).map { inUse.entry(of: $0) }
            guard let pending = entry?.pending, pending.requestID == region.requestID, entry?.waitsForRegion == true
            else {
                try forgetRegion(of: key, at: now)
                return true
            }
        }
        return false
    }
}
