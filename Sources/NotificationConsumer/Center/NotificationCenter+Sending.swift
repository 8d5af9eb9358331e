import NotificationModel

/// The hand-over: at once in an event, or by a channel that answers later.
extension NotificationCenter {
    /// Hands a notification over.
    ///
    /// - Parameter inDoubt: an owner before may have sent it already; it goes again under the same ids.
    func deliver(
        _ id: RequestID,
        _ key: NotificationKey,
        _ content: ArraySlice<UInt8>,
        _ trace: CarriedTrace,
        occurrence: Timestamp? = nil,
        closes: Bool = true,
        expiration: Timestamp? = nil,
        inDoubt: Bool = false,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard handover.isBySend else {
            delivered(id, key, content, trace, occurrence, closes, inDoubt, in: &entry, at: now, &effects)
            return
        }
        let sending = StateEntry.Sending(
            requestID: id,
            occurrence: occurrence,
            content: content,
            expiration: expiration,
            trace: trace,
            closes: closes,
            phase: .inFlight(since: now),
            isInDoubt: inDoubt
        )
        entry.sending = sending
        effects.sends.append(attempt(sending, key))
    }

    /// Asks the device to show nothing under the key any more. What it showed is not delivered any more, but known by its id.
    func recall(
        _ key: NotificationKey,
        by id: RequestID,
        _ trace: CarriedTrace,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        let sending = StateEntry.Sending(
            requestID: id,
            occurrence: nil,
            content: nil,
            expiration: nil,
            trace: trace,
            closes: false,
            phase: .inFlight(since: now)
        )
        entry.sending = sending
        if let delivered = entry.delivered, entry.pending?.requestID != delivered.requestID {
            close(delivered.requestID, in: &entry, at: now)
        }
        entry.delivered = nil
        effects.sends.append(attempt(sending, key))
    }

    private func attempt(_ sending: StateEntry.Sending, _ key: NotificationKey) -> ChannelSend {
        ChannelSend(
            id: SendID(requestID: sending.requestID, occurrence: sending.occurrence),
            key: key,
            kind: sending.content.map { .deliver(content: $0) } ?? .recall,
            attempt: sending.attempt,
            epoch: epoch,
            partition: partition
        )
    }

    /// Ends what waits for its next attempt. A removal that came while it was in flight, with an owner that did not hear how
    /// that ended, is answered now.
    func giveUp(
        _ sending: StateEntry.Sending,
        as name: DeliveryEventName,
        by id: RequestID,
        _ key: NotificationKey,
        _ trace: CarriedTrace,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        let name = sending.cancelledBy == nil ? name : .cancelled
        var event = DeliveryEvent(
            name: name,
            requestID: sending.requestID,
            key: key,
            closes: sending.closes,
            inDoubt: sending.isInDoubt
        )
        event.occurrence = sending.occurrence
        event.by = sending.cancelledBy ?? id
        effects.events.append(Effect(event: event, trace: trace))
        if let removal = sending.recalledBy {
            effects.events.append(miss(removal, key, sending.trace, known: .unknown))
        }
        if sending.closes { close(sending.requestID, in: &entry, at: now) }
        entry.sending = nil
    }

    /// The next attempt, when its pause is over.
    func retry(
        _ sending: StateEntry.Sending,
        key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        if let expiration = sending.expiration, expiration <= now, !sending.isInDoubt {
            entry.sending = nil
            end(.expired, sending, key, in: &entry, at: now, &effects) { _ in }
            return
        }
        var next = sending
        next.attempt += 1
        next.phase = .inFlight(since: now)
        entry.sending = next
        effects.sends.append(attempt(next, key))
    }

    /// Applies what a channel answered.
    ///
    /// - Returns: false when the entry awaits no such answer: it is late, or came twice.
    func apply(
        _ outcome: ChannelOutcome,
        to entry: inout StateEntry,
        at now: Timestamp,
        effects: inout Effects
    ) -> Bool {
        let send = outcome.send
        guard let sending = entry.sending, case .inFlight = sending.phase, sending.attempt == send.attempt,
            sending.requestID == send.id.requestID, sending.occurrence == send.id.occurrence,
            (send.kind == .recall) == (sending.content == nil)
        else { return false }
        entry.sending = nil
        switch outcome.result {
        case .accepted: accepted(sending, send.key, in: &entry, at: now, &effects)
        case .rejected(let reason): rejected(sending, send.key, reason, in: &entry, at: now, &effects)
        case .failed(let asked): failed(sending, send.key, asked, in: &entry, at: now, &effects)
        }
        return true
    }

    private func accepted(
        _ sending: StateEntry.Sending,
        _ key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        guard let content = sending.content else { return }
        let (id, trace) = (sending.requestID, sending.trace)
        delivered(
            id,
            key,
            content,
            trace,
            sending.occurrence,
            sending.closes,
            sending.isInDoubt,
            in: &entry,
            at: now,
            &effects
        )
        if let removal = sending.cancelledBy {
            effects.events.append(miss(removal, key, trace, known: .delivered))
        }
        if let removal = sending.recalledBy {
            var event = DeliveryEvent(name: .removed, requestID: id, key: key, closes: false)
            event.occurrence = sending.occurrence
            event.by = removal
            effects.events.append(Effect(event: event, trace: trace))
            if entry.pending?.requestID != id { close(id, in: &entry, at: now) }
            recall(key, by: removal, trace, in: &entry, at: now, &effects)
        }
    }

    private func rejected(
        _ sending: StateEntry.Sending,
        _ key: NotificationKey,
        _ reason: ReasonCode,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        // A device that refuses a recall shows nothing of ours any more, or never will obey.
        guard sending.content != nil else { return }
        if let removal = sending.cancelledBy {
            end(.cancelled, sending, key, in: &entry, at: now, &effects) { $0.by = removal }
        } else {
            end(.failed, sending, key, in: &entry, at: now, &effects) { $0.reason = reason }
        }
        answerRecall(sending, key, in: &entry, at: now, &effects)
    }

    private func failed(
        _ sending: StateEntry.Sending,
        _ key: NotificationKey,
        _ asked: Int64?,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        let newer = entry.pending.flatMap { $0.requestID != sending.requestID ? $0.requestID : nil }
        if sending.content != nil, let removal = sending.cancelledBy {
            end(.cancelled, sending, key, in: &entry, at: now, &effects) { $0.by = removal }
        } else if sending.content != nil, let newer {
            end(.superseded, sending, key, in: &entry, at: now, &effects) { $0.by = newer }
        } else if let pause = retry.pause(after: sending.attempt, asked: asked) {
            var next = sending
            next.phase = .waiting(until: now.adding(milliseconds: pause))
            next.recalledBy = nil
            entry.sending = next
        } else if sending.content != nil {
            end(.failed, sending, key, in: &entry, at: now, &effects) { $0.reason = .gaveUp }
        }
        answerRecall(sending, key, in: &entry, at: now, &effects)
    }

    /// A removal of what is delivered, whose notification was not delivered in the end. What is in doubt is recalled all the
    /// same, unless it is tried again or something newer is sent at once.
    private func answerRecall(
        _ sending: StateEntry.Sending,
        _ key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        if let removal = sending.recalledBy {
            effects.events.append(miss(removal, key, sending.trace, known: .unknown))
        }
        guard sending.isInDoubt, sending.content != nil, entry.sending == nil else { return }
        if let pending = entry.pending, case .turn = pending.timer { return }
        recall(key, by: sending.requestID, sending.trace, in: &entry, at: now, &effects)
    }

    /// The end of a send without a delivery.
    private func end(
        _ name: DeliveryEventName,
        _ sending: StateEntry.Sending,
        _ key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects,
        _ fill: (inout DeliveryEvent) -> Void
    ) {
        var event = DeliveryEvent(
            name: name,
            requestID: sending.requestID,
            key: key,
            closes: sending.closes,
            inDoubt: sending.isInDoubt
        )
        event.occurrence = sending.occurrence
        fill(&event)
        effects.events.append(Effect(event: event, trace: sending.trace))
        if sending.closes { close(sending.requestID, in: &entry, at: now) }
    }

    private func delivered(
        _ id: RequestID,
        _ key: NotificationKey,
        _ content: ArraySlice<UInt8>,
        _ trace: CarriedTrace,
        _ occurrence: Timestamp?,
        _ closes: Bool,
        _ inDoubt: Bool,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        var event = DeliveryEvent(name: .delivered, requestID: id, key: key, closes: closes, inDoubt: inDoubt)
        event.occurrence = occurrence
        event.channel = handover.channel
        event.content = content
        if let delivered = entry.delivered, delivered.requestID != id {
            event.replaces = delivered.requestID
            close(delivered.requestID, in: &entry, at: now)
        }
        effects.events.append(Effect(event: event, trace: trace))
        entry.delivered = .init(requestID: id, occurrence: occurrence, at: now)
    }
}
