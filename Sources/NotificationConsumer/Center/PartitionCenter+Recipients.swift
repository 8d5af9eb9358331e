import NotificationModel
import NotificationState

/// Recipient records: found, changed and committed like entries, under the key with an empty identifier.
extension PartitionCenter {
    /// The record of the key's recipient, loaded from the store if necessary.
    ///
    /// - Parameter key: with an empty identifier.
    mutating func recipient(of key: NotificationKey) throws -> RecipientRecord? {
        if let slot = recipients.slot(of: key) { return recipients.record(in: slot) }
        guard let record = try storedRecipient(of: key) else {
            // Each notification asks again.
            if keepsRecipients { recipients.load(key, nil) }
            return nil
        }
        recipients.load(key, record)
        return record
    }

    /// The slot of the record of a key's recipient, loaded from the store if necessary; empty when there is none.
    mutating func recipientSlot(of key: NotificationKey) throws -> RecipientSet.Slot {
        if let slot = recipients.slot(of: key) { return slot }
        let recipient = key.ofRecipient
        return recipients.load(recipient, try storedRecipient(of: recipient))
    }

    private func storedRecipient(of key: NotificationKey) throws -> RecipientRecord? {
        guard let stored = try store.entry(of: key.encoded), !forgottenKeys.contains(key.encoded) else { return nil }
        return try RecipientRecord(json: stored.value)
    }

    /// Moves a recipient's record into the turn, which is its only owner until `takeBack`.
    mutating func lend(_ slot: RecipientSet.Slot?) {
        guard let slot else { return }
        recipients.exchange(slot, with: &bench.recipient)
        if procedure != nil { hideLeavingDevices(in: &bench.recipient, of: bench.key, isLeaving: true) }
    }

    /// Moves the record back. What the turn changed in it goes into the cut of the turn's entry.
    mutating func takeBack(_ slot: RecipientSet.Slot?) {
        guard let slot else { return }
        if procedure != nil { hideLeavingDevices(in: &bench.recipient, of: bench.key, isLeaving: false) }
        recipients.exchange(slot, with: &bench.recipient)
        guard bench.isRecipientChanged else { return }
        let horizon = rules.rememberedSince(bench.now)
        inUse.totals += recipients.touch(slot, at: bench.now, since: horizon)
    }

    /// Runs a turn over the record of a recipient.
    ///
    /// - Parameter key: with an empty identifier.
    mutating func turn<Result>(
        ofRecipient key: NotificationKey,
        at now: Timestamp,
        _ body: (inout Turn) -> Result
    ) throws -> Result {
        let record = try recipient(of: key) ?? RecipientRecord()
        let (result, changed) = turnWithoutEntry(of: key, record, at: now, body)
        if var changed {
            changed.touch(at: now, since: rules.rememberedSince(now))
            inUse.totals += recipients.set(changed, of: key)
        }
        return result
    }

    /// Forgets a recipient's record in memory, unless something was applied to it since.
    ///
    /// - Returns: false when something was applied since; nil when the record is not in memory.
    mutating func forget(recipient key: NotificationKey, touchedAt touched: Timestamp) -> Bool? {
        guard let record = recipients.record(of: key) else { return nil }
        guard !record.isEmpty, record.touched <= touched else { return false }
        inUse.totals += recipients.set(RecipientRecord(), of: key)
        return true
    }
}
