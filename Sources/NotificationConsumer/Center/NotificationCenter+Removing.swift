import NotificationModel

extension NotificationCenter {
    /// Applies a removal of one identifier to its entry.
    func apply(
        _ removal: Removal,
        to entry: inout StateEntry,
        at now: Timestamp,
        effects: inout Effects
    ) -> Outcome {
        guard !entry.hasApplied(removal.offset, in: life) else { return .duplicate }
        guard !entry.remembers(removal.id, since: horizon(removal.timestamp)) else { return .duplicate }
        entry.noteApplied(removal.offset, in: life)
        guard isCurrent(removal.version, of: removal.id, key: removal.key, in: &entry, at: now, removal.trace, &effects)
        else { return .superseded }
        if !take(removal, key: removal.key, of: &entry, at: now, &effects) {
            effects.events.append(miss(removal, known: entry.delivered == nil ? .unknown : .delivered))
        }
        // Also when it found nothing: a repeat must not find what came meanwhile.
        close(removal.id, in: &entry, at: now)
        return .applied
    }

    /// Applies a removal of everything a recipient has to one of its entries; a miss is answered once for all of them.
    ///
    /// - Returns: whether it found anything, now or when it was applied before.
    func apply(
        _ removal: Removal,
        toOneOfAll key: NotificationKey,
        _ entry: inout StateEntry,
        at now: Timestamp,
        effects: inout Effects
    ) -> (found: Bool, changed: Bool) {
        // Only what it found something in remembers it.
        let isKnown = entry.remembers(removal.id, since: horizon(removal.timestamp))
        guard !isKnown, !entry.hasApplied(removal.offset, in: life) else { return (isKnown, false) }
        if let version = removal.version, let newest = entry.version, version < newest.number { return (false, false) }
        entry.noteApplied(removal.offset, in: life)
        let found = take(removal, key: key, of: &entry, at: now, &effects)
        if found { close(removal.id, in: &entry, at: now) }
        return (found, true)
    }

    /// Takes away what the removal's scope has.
    ///
    /// - Returns: whether there was anything.
    private func take(
        _ removal: Removal,
        key: NotificationKey,
        of entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) -> Bool {
        var (found, leavesDoubt, recalls) = (false, false, false)
        if removal.scope != .delivered {
            (found, leavesDoubt) = cancel(removal, key: key, in: &entry, at: now, &effects)
        }
        if removal.scope != .pending {
            if let delivered = entry.delivered {
                // The occurrence, since each one of a repeat can be removed.
                emit(
                    .removed,
                    of: delivered.requestID,
                    occurrence: delivered.occurrence,
                    closes: false,
                    removal,
                    key,
                    &effects
                )
                if entry.pending?.requestID != delivered.requestID, entry.sending?.requestID != delivered.requestID {
                    close(delivered.requestID, in: &entry, at: now)
                }
                entry.delivered = nil
                (found, recalls) = (true, true)
                // Between two attempts the device shows what is removed: as with what is in doubt, the end must leave nothing.
                if let sending = entry.sending, case .waiting = sending.phase { entry.sending?.isInDoubt = true }
            }
            // Answered at the end of the send, and so one removal only: the next finds nothing that is left to recall.
            if let sending = entry.sending, sending.content != nil, case .inFlight = sending.phase,
                sending.recalledBy == nil
            {
                entry.sending?.recalledBy = removal.id
                found = true
            }
        }
        if handover.isBySend, recalls || leavesDoubt, entry.sending == nil {
            recall(key, by: removal.id, removal.trace, in: &entry, at: now, &effects)
        }
        return found
    }

    /// Takes away what waits; what is in flight is answered when the channel has answered.
    private func cancel(
        _ removal: Removal,
        key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) -> (found: Bool, leavesDoubt: Bool) {
        var (found, leavesDoubt) = (false, false)
        if let pending = entry.pending {
            emit(.cancelled, of: pending.requestID, closes: true, removal, key, inDoubt: pending.isInDoubt, &effects)
            close(pending.requestID, in: &entry, at: now)
            entry.pending = nil
            (found, leavesDoubt) = (true, pending.isInDoubt)
        }
        if let sending = entry.sending, sending.content != nil {
            if case .inFlight = sending.phase {
                if sending.closes, sending.cancelledBy == nil {
                    entry.sending?.cancelledBy = removal.id
                    found = true
                }
            } else {
                giveUp(sending, as: .cancelled, by: removal.id, key, removal.trace, in: &entry, at: now, &effects)
                // Or a removal before this one is told to have taken it.
                if sending.cancelledBy == nil { found = true }
                leavesDoubt = leavesDoubt || sending.isInDoubt
            }
        }
        return (found, leavesDoubt)
    }

    private func emit(
        _ name: DeliveryEventName,
        of id: RequestID,
        occurrence: Timestamp? = nil,
        closes: Bool,
        _ removal: Removal,
        _ key: NotificationKey,
        inDoubt: Bool = false,
        _ effects: inout Effects
    ) {
        var event = DeliveryEvent(name: name, requestID: id, key: key, closes: closes, inDoubt: inDoubt)
        event.occurrence = occurrence
        event.by = removal.id
        effects.events.append(Effect(event: event, trace: removal.trace))
    }

    /// The answer to a removal that found nothing: a cancel is never silent.
    func miss(_ removal: Removal, known: DeliveryEvent.Known) -> Effect {
        miss(removal.id, removal.key, removal.trace, known: known)
    }

    func miss(
        _ id: RequestID,
        _ key: NotificationKey,
        _ trace: CarriedTrace,
        known: DeliveryEvent.Known
    ) -> Effect {
        var event = DeliveryEvent(name: .cancellationMissed, requestID: id, key: key, closes: false)
        event.known = known
        return Effect(event: event, trace: trace)
    }
}
