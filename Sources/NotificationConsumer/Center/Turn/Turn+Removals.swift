import NotificationModel
import NotificationState

extension Turn {
    /// Applies a removal of one identifier to its entry.
    mutating func apply(_ removal: CenterInput.Removal) -> CenterInput.Outcome {
        guard !entry.hasApplied(removal.position),
            !entry.remembers(removal.id, since: rules.rememberedSince(removal.timestamp))
        else { return drop(repeatAt: removal.position, isTimeless: true) }
        isChanged = true
        entry.noteApplied(removal.position)
        let content = entry.delivered?.details?.content
        guard isCurrent(removal.version, of: removal.id, content, removal.trace) else { return .superseded }
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
        cause = Cause(id: removal.id, trace: removal.trace, time: removal.timestamp)
        guard takeAway(removal) else { return false }
        if conditions.mayHaveBeenRead(removal.timestamp) { doubtEnds(by: removal.scope) }
        return true
    }

    private mutating func takeAway(_ removal: CenterInput.Removal) -> Bool {
        var isFound = false
        if removal.scope != .delivered { isFound = cancel(removal) }
        guard removal.scope != .pending else { return isFound }
        if let delivered = entry.delivered {
            remove(delivered, by: removal.id, from: nil, removal.trace)
            isFound = true
        } else if takeAwayLeftovers(removal) {
            isFound = true
        }
        // What may be there counts as what is. Its end answers one removal only: the next finds nothing left to remove.
        if let handover = entry.handover, !handover.isClosed, handover.removedBy == nil,
            isInFlight(handover) || rules.channels.isSent(handover.channel) && entry.isInDoubt(handover.showing)
        {
            entry.handover?.removedBy = removal.id
            isFound = true
        }
        return isFound
    }

    /// Devices that refused what was delivered after it may still show an earlier notification.
    private mutating func takeAwayLeftovers(_ removal: CenterInput.Removal) -> Bool {
        let left = entry.screen?.targets.filter { $0.isLeft && $0.mayShowAnything } ?? []
        guard let first = left.first, let showing = first.sure ?? first.maybes.last else { return false }
        let names = left.compactMap(\.device)
        tellRemoved(showing, by: removal.id, left: nil, from: names, on: first.channel, removal.trace)
        entry.screen?.endRefusals()
        return true
    }

    /// Cancels what waits, also behind the operation of something else; what is in flight is answered when the channel has answered.
    private mutating func cancel(_ removal: CenterInput.Removal) -> Bool {
        var isFound = false
        if let pending = entry.pending {
            publish(.cancelled, of: pending.requestID, closes: true, inDoubt: isInDoubt(pending), removal.trace) {
                $0.by = removal.id
            }
            close(pending.requestID)
            drop(pending)
            isFound = true
        }
        guard let handover = entry.handover, !handover.isClosed else { return isFound }
        if isInFlight(handover) {
            guard handover.closes, handover.cancelledBy == nil else { return isFound }
            entry.handover?.cancelledBy = removal.id
            withdraw()
        } else {
            // Otherwise the event names an earlier removal.
            if handover.cancelledBy == nil { isFound = true }
            end(handover, as: .cancelled, removal.trace) { $0.by = removal.id }
            return isFound
        }
        return true
    }

    /// Cancels attempts that the channel has not begun; each is answered as not tried.
    ///
    /// - Parameter target: the only one whose attempts are cancelled; nil for all.
    mutating func withdraw(from target: String? = nil) {
        for operation in entry.screen?.operations ?? [] where operation.isInFlight {
            if let target, !operation.devices.containsUTF8(of: target) { continue }
            if let id = operation.id { effects.append(.withdraw(id, key)) }
        }
    }

    /// Answers a removal that found nothing: every removal is answered.
    mutating func miss(_ removal: RequestID, _ trace: CarriedTrace, known: DeliveryEvent.Known) {
        publish(.cancellationMissed, of: removal, closes: false, trace) { $0.known = known }
    }
}
