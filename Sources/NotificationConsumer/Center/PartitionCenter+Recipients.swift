import NotificationModel

/// Recipient records: found, changed and committed like entries, under the key with an empty identifier.
extension PartitionCenter {
    /// The record of the key's recipient, loaded from the store if necessary.
    mutating func recipient(of key: NotificationKey) throws -> RecipientRecord? {
        if let record = recipients.record(of: key) { return record }
        let stored = try store.entry(of: key.encoded)
        let record = forgottenKeys.contains(key.encoded) ? nil : try stored.map { try RecipientRecord(json: $0.value) }
        // Also that there is none: each notification asks.
        if record != nil || keepsRecipients { recipients.load(key, record) }
        return record
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
        var turn = beginTurn(of: key, at: now)
        defer { end(&turn) }
        turn.recipient = record
        let result = body(&turn)
        if turn.isRecipientChanged {
            turn.recipient.touch(at: now, since: rules.rememberedSince(now))
            inUse.totals.entries += recipients.set(turn.recipient, of: key)
        }
        return result
    }

    /// Forgets a recipient's record in memory, unless something was applied to it since.
    ///
    /// - Returns: false when something was applied since; nil when the record is not in memory.
    mutating func forget(recipient key: NotificationKey, touchedAt touched: Timestamp) -> Bool? {
        guard let record = recipients.record(of: key) else { return nil }
        guard !record.isEmpty, record.touched <= touched else { return false }
        inUse.totals.entries += recipients.set(RecipientRecord(), of: key)
        return true
    }
}
