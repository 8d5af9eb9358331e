import NotificationModel

extension Turn {
    /// Applies a removal of one identifier to its entry.
    mutating func apply(_ removal: CenterInput.Removal) -> CenterInput.Outcome {
        guard !entry.hasApplied(removal.position),
            !entry.remembers(removal.id, since: rules.rememberedSince(removal.timestamp))
        else { return drop(repeatAt: removal.position, isTimeless: true) }
        isChanged = true
        entry.noteApplied(removal.position)
        guard isCurrent(removal.version, of: removal.id, removal.trace) else { return .superseded }
        if !take(removal) { miss(removal.id, removal.trace, known: entry.delivered == nil ? .unknown : .delivered) }
        // Also when it found nothing: a repeat must not remove a notification that arrived meanwhile.
        close(removal.id)
        return .applied
    }

    /// Applies the removal of all entries of a recipient to one of them. A miss is answered once for all entries.
    ///
    /// - Returns: whether it found anything, now or in an earlier application.
    mutating func applyToOneOfAll(_ removal: CenterInput.Removal) -> Bool {
        // Only an entry in which the removal found something remembers it.
        let isKnown = entry.remembers(removal.id, since: rules.rememberedSince(removal.timestamp))
        guard !isKnown, !entry.hasApplied(removal.position) else { return isKnown }
        if let version = removal.version, let newest = entry.version, version < newest.number { return false }
        isChanged = true
        entry.noteApplied(removal.position)
        let found = take(removal)
        if found { close(removal.id) }
        return found
    }

    /// Completes the removal of all entries of a recipient: the recipient's record identifies repeats.
    mutating func finishAll(_ removal: CenterInput.Removal, found: Bool) {
        if !found { miss(removal.id, removal.trace, known: .unknown) }
        isRecipientChanged = true
        if !recipient.hasApplied(removal.position) { recipient.noteApplied(removal.position) }
        recipient.remember(removal, at: now, since: rules.rememberedSince(removal.timestamp))
    }

    /// Whether the removal of all entries of a recipient was already applied at another position. The repeat leaves a
    /// trace: the record is not forgotten while the replay range contains a record that concerns it.
    mutating func isRepeat(ofAll removal: CenterInput.Removal) -> Bool {
        let horizon = rules.rememberedSince(removal.timestamp)
        guard let known = recipient.removals.first(where: { $0.id == removal.id && $0.closed >= horizon }) else {
            // It left its trace as a repeat, or so many removals followed that nothing is left for it to do.
            return recipient.hasApplied(removal.position)
        }
        // At its own position, it is read again.
        if recipient.applied[.requests].life == removal.position.life, known.offset >= removal.position.offset {
            return false
        }
        if !recipient.hasApplied(removal.position) {
            recipient.noteApplied(removal.position)
            isRecipientChanged = true
        }
        return true
    }

    /// Removes what is in the removal's scope.
    ///
    /// - Returns: whether there was anything.
    private mutating func take(_ removal: CenterInput.Removal) -> Bool {
        var (found, doubt): (Bool, Doubt?) = (false, nil)
        if removal.scope != .delivered { (found, doubt) = cancel(removal) }
        if removal.scope != .pending {
            if let delivered = entry.delivered {
                // Include the occurrence: each occurrence of a repeating notification can be removed.
                publish(.removed, of: delivered.requestID, closes: false, removal.trace) {
                    $0.occurrence = delivered.occurrence
                    $0.by = removal.id
                }
                closeShown(delivered)
                hide()
                found = true
                if rules.channels.isSent(delivered.channel) {
                    doubt = Doubt(channel: delivered.channel, devices: union(doubt, delivered.devices))
                }
                // Until the send has ended the device shows what is removed: treat it as in doubt, so that the device
                // shows nothing if it is not delivered.
                if let sending = entry.sending, sending.content != nil, rules.channels.isSent(sending.channel) {
                    entry.sending?.isInDoubt = true
                }
            }
            // The end of the send answers one removal only: the next finds nothing left to recall.
            if let sending = entry.sending, sending.content != nil, case .inFlight = sending.phase,
                sending.recalledBy == nil
            {
                entry.sending?.recalledBy = removal.id
                found = true
            }
        }
        // The end of a notification that is being sent recalls it; a recall may be for other devices.
        if let doubt, entry.sending?.content == nil { recall(doubt, by: removal.id, removal.trace) }
        return found
    }

    /// - Returns: no names when the devices of one of them are not known.
    private func union(_ doubt: Doubt?, _ devices: [String]) -> [String] {
        guard let doubt else { return devices }
        guard !doubt.devices.isEmpty, !devices.isEmpty else { return [] }
        return doubt.devices + devices.filter { !doubt.devices.containsUTF8(of: $0) }
    }

    /// Cancels what waits; a send in flight is answered when the channel has answered.
    private mutating func cancel(_ removal: CenterInput.Removal) -> (found: Bool, doubt: Doubt?) {
        var (found, doubt): (Bool, Doubt?) = (false, nil)
        if let pending = entry.pending {
            publish(.cancelled, of: pending.requestID, closes: true, inDoubt: isInDoubt(pending), removal.trace) {
                $0.by = removal.id
            }
            close(pending.requestID)
            drop(pending)
            found = true
            if isInDoubt(pending) { doubt = Doubt(channel: pending.channel) }
        }
        if let sending = entry.sending, sending.content != nil {
            if case .inFlight = sending.phase {
                if sending.closes, sending.cancelledBy == nil {
                    entry.sending?.cancelledBy = removal.id
                    withdraw(sending)
                    found = true
                }
            } else {
                giveUp(sending, as: .cancelled, by: removal.id, removal.trace)
                // Otherwise the event names an earlier removal.
                if sending.cancelledBy == nil { found = true }
                if sending.isInDoubt { doubt = Doubt(channel: sending.channel, devices: sending.devices) }
            }
        }
        return (found, doubt)
    }

    /// Answers a removal that found nothing: every removal is answered.
    mutating func miss(_ removal: RequestID, _ trace: CarriedTrace, known: DeliveryEvent.Known) {
        publish(.cancellationMissed, of: removal, closes: false, trace) { $0.known = known }
    }
}
