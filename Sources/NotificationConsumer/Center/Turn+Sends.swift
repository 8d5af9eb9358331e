import NotificationModel

/// The hand-over: in an event at once, or by a channel that answers later.
extension Turn {
    /// Hands a notification over, with its content as it is, to the devices that may present it.
    ///
    /// - Parameter facts: of its content, if they were read before.
    mutating func handOver(_ sending: StateEntry.Sending, _ facts: ContentFacts? = nil) {
        var sending = sending
        if let reason = address(&sending, facts) {
            return endUnlessCancelled(.suppressed, sending) {
                $0.reason = reason
                $0.devices = sending.addressees?.devices
            }
        }
        switch rules.channels.handover(of: sending.channel) {
        case .inEvent: delivered(sending)
        case .bySend: begin(sending)
        // The settings had it when the request was accepted.
        case .unavailable: rejected(sending, .unsupportedForm)
        }
    }

    /// Asks the device to remove what it shows under the key. That notification no longer counts as delivered, but its
    /// id stays known.
    ///
    /// - Parameter channel: through which it was sent; only one that sends can recall.
    mutating func recall(through channel: ChannelName?, by id: RequestID, _ trace: CarriedTrace) {
        guard rules.channels.isSent(channel) else { return }
        if let delivered = entry.delivered, entry.pending?.requestID != delivered.requestID {
            close(delivered.requestID)
        }
        hide()
        withdraw(through: channel, by: id, trace)
    }

    /// Sends a recall.
    ///
    /// - Parameter device: the only device that it is for; nil for all.
    mutating func withdraw(
        from device: String? = nil,
        through channel: ChannelName?,
        by id: RequestID,
        _ trace: CarriedTrace
    ) {
        guard rules.channels.isSent(channel) else { return }
        var recall = StateEntry.Sending(
            requestID: id,
            occurrence: nil,
            content: nil,
            expiration: nil,
            trace: trace,
            closes: false,
            phase: .inFlight(since: now),
            channel: channel
        )
        recall.addressees = device.map { .init(device: $0) }
        isChanged = true
        begin(recall)
    }

    /// Ends a send that waits for its next attempt. Also answers a removal that arrived during an attempt whose outcome
    /// its owner did not learn.
    mutating func giveUp(
        _ sending: StateEntry.Sending,
        as name: DeliveryEventName,
        by id: RequestID,
        _ trace: CarriedTrace
    ) {
        publish(
            sending.cancelledBy == nil ? name : .cancelled,
            of: sending.requestID,
            closes: sending.closes,
            inDoubt: sending.isInDoubt,
            trace
        ) {
            $0.occurrence = sending.occurrence
            $0.by = sending.cancelledBy ?? id
        }
        if let removal = sending.recalledBy { miss(removal, sending.trace, known: .unknown) }
        if sending.closes { close(sending.requestID) }
        stopEnrichment(of: sending)
        entry.sending = nil
    }

    /// Starts the next attempt after the pause, or the first one after the enrichment.
    mutating func retry(_ sending: StateEntry.Sending) {
        if case .until(let end)? = sending.enrichment { return continueEnrichment(of: sending, until: end) }
        if let expiration = sending.expiration, expiration <= now {
            entry.sending = nil
            return endUnlessCancelled(.expired, sending)
        }
        var next = sending
        next.attempt += sending.isDeferred ? 0 : 1
        (next.isDeferred, next.phase) = (false, .inFlight(since: now))
        entry.sending = nil
        handOver(next)
    }

    /// Applies the answer of a channel.
    ///
    /// - Returns: false when the entry expects no such answer: it is late, or a duplicate.
    mutating func apply(_ outcome: ChannelOutcome) -> Bool {
        let send = outcome.send
        guard let sending = entry.sending, case .inFlight = sending.phase, sending.attempt == send.attempt,
            sending.requestID == send.id.requestID, sending.occurrence == send.id.occurrence,
            (send.kind == .recall) == (sending.content == nil)
        else { return false }
        isChanged = true
        entry.sending = nil
        switch outcome.result {
        case .accepted: accepted(sending)
        case .rejected(let reason): rejected(sending, reason)
        case .failed(let pause): failed(sending, pause)
        case .unanswered(let pause):
            var unanswered = sending
            unanswered.isInDoubt = sending.isInDoubt || sending.content != nil
            failed(unanswered, pause)
        case .deferred(let pause):
            var deferred = sending
            deferred.isDeferred = true
            failed(deferred, pause)
        }
        return true
    }

    private mutating func accepted(_ sending: StateEntry.Sending) {
        guard sending.content != nil else { return }
        let (id, trace) = (sending.requestID, sending.trace)
        delivered(sending)
        if let removal = sending.cancelledBy { miss(removal, trace, known: .delivered) }
        if let removal = sending.recalledBy {
            publish(.removed, of: id, closes: false, trace) {
                $0.occurrence = sending.occurrence
                $0.by = removal
            }
            if entry.pending?.requestID != id { close(id) }
            hide()
            recall(through: sending.channel, by: removal, trace)
        }
    }

    private mutating func rejected(_ sending: StateEntry.Sending, _ reason: ReasonCode) {
        // A refused recall is final: another attempt would get the same answer.
        guard sending.content != nil else { return }
        endUnlessCancelled(.failed, sending) { $0.reason = reason }
    }

    /// - Parameter request: the pause requested by the channel, in milliseconds.
    private mutating func failed(_ sending: StateEntry.Sending, _ request: Int64?) {
        let newer = entry.pending.flatMap { $0.requestID != sending.requestID ? $0.requestID : nil }
        if sending.content != nil, let removal = sending.cancelledBy {
            end(.cancelled, sending) { $0.by = removal }
        } else if sending.content != nil, let newer {
            end(.superseded, sending) { $0.by = newer }
        } else if let next = nextAttempt(of: sending, request) {
            entry.sending = next
        } else if sending.content != nil {
            end(.failed, sending) { $0.reason = .gaveUp }
        }
        answerRecall(sending)
    }

    /// The send with the begin of its next attempt; nil when it was the last one. A send that expires first waits only
    /// until then.
    private func nextAttempt(of sending: StateEntry.Sending, _ request: Int64?) -> StateEntry.Sending? {
        var next = sending
        next.recalledBy = nil
        next.wait(until: now)
        let tried = sending.attempt - (sending.isDeferred ? 1 : 0)
        let spent = next.begun.map { max(0, now.rawValue - $0.rawValue) } ?? 0
        let id = SendID(requestID: sending.requestID, occurrence: sending.occurrence)
        guard let pause = rules.retry.pause(after: tried, of: id, spent: spent, request: request) else {
            return nil
        }
        var time = now.adding(milliseconds: pause)
        if let expiration = sending.expiration { time = max(now, min(time, expiration)) }
        next.wait(until: time)
        return next
    }

    /// Answers a removal that waited for this send, which was not delivered in the end. A notification in doubt is
    /// recalled anyway, unless it is retried or a newer one is sent at once.
    private mutating func answerRecall(_ sending: StateEntry.Sending) {
        if let removal = sending.recalledBy { miss(removal, sending.trace, known: .unknown) }
        guard sending.isInDoubt, sending.content != nil, entry.sending == nil else { return }
        if let pending = entry.pending, case .turn = pending.timer,
            rules.channels.areSame(pending.channel, sending.channel)
        {
            return
        }
        recall(through: sending.channel, by: sending.requestID, sending.trace)
    }

    /// Ends a send without a delivery. A removal that waited for this end has cancelled it.
    mutating func endUnlessCancelled(
        _ name: DeliveryEventName,
        _ sending: StateEntry.Sending,
        _ fill: (inout DeliveryEvent) -> Void = { _ in }
    ) {
        if let removal = sending.cancelledBy {
            end(.cancelled, sending) { $0.by = removal }
        } else {
            end(name, sending, fill)
        }
        answerRecall(sending)
    }

    /// Ends a send without a delivery.
    private mutating func end(
        _ name: DeliveryEventName,
        _ sending: StateEntry.Sending,
        _ fill: (inout DeliveryEvent) -> Void = { _ in }
    ) {
        publish(name, of: sending.requestID, closes: sending.closes, inDoubt: sending.isInDoubt, sending.trace) {
            $0.occurrence = sending.occurrence
            fill(&$0)
        }
        if sending.closes { close(sending.requestID) }
    }

    private mutating func delivered(_ sending: StateEntry.Sending) {
        let channel = sending.channel ?? rules.channels.standard
        let earlier = entry.delivered
        let replaced = earlier.flatMap { $0.requestID != sending.requestID ? $0.requestID : nil }
        publish(
            .delivered,
            of: sending.requestID,
            closes: sending.closes,
            inDoubt: sending.isInDoubt,
            sending.trace
        ) {
            $0.occurrence = sending.occurrence
            $0.channel = channel.rawValue
            $0.content = sending.content
            if case .ended(let report)? = sending.enrichment { $0.enrichment = report }
            $0.replaces = replaced
            $0.devices = sending.addressees?.devices
            $0.actions = sending.addressees?.category?.actionsJSON
        }
        if let replaced { close(replaced) }
        shown = .init(thread: sending.addressees?.thread, event: effects.count - 1)
        entry.delivered = .init(
            requestID: sending.requestID,
            occurrence: sending.occurrence,
            at: now,
            channel: sending.channel,
            details: details(of: sending)
        )
        // Another channel does not replace what the earlier one shows.
        if let earlier, !rules.channels.areSame(earlier.channel, sending.channel) {
            withdraw(through: earlier.channel, by: sending.requestID, sending.trace)
        }
    }

    /// Nothing is shown under the key any more.
    mutating func hide() {
        if entry.delivered != nil { shown = .init(thread: nil, event: nil) }
        entry.delivered = nil
    }

    /// What responses are checked against and carry.
    func details(of sending: StateEntry.Sending) -> StateEntry.Delivered.Details {
        .init(
            content: sending.content.flatMap { $0.count <= rules.keptContentBytes ? $0 : nil },
            category: sending.addressees?.category?.kept,
            targets: sending.addressees?.targets ?? 0
        )
    }
}
