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

    /// Asks the devices to remove what they show or may show under the key. That notification no longer counts as delivered, but
    /// its id stays known.
    ///
    /// - Parameter doubt: what the devices may show. Only a channel that sends can recall.
    mutating func recall(_ doubt: Doubt, by id: RequestID, _ trace: CarriedTrace) {
        guard rules.channels.isSent(doubt.channel) else { return }
        var devices = doubt.devices
        if let delivered = entry.delivered {
            if entry.pending?.requestID != delivered.requestID { close(delivered.requestID) }
            if devices.isEmpty || delivered.devices.isEmpty {
                devices = []
            } else {
                devices += delivered.devices.filter { !devices.containsUTF8(of: $0) }
            }
            hide()
        }
        recall(from: devices, through: doubt.channel, by: id, trace)
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
        takeBackBadges(of: sending)
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
        // Whatever the channel says: the person has answered it.
        case _ where sending.answer != nil: accepted(sending)
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

    /// Devices show it.
    mutating func accepted(_ sending: StateEntry.Sending) {
        guard sending.content != nil else { return }
        let trace = sending.trace
        delivered(sending)
        if let removal = sending.cancelledBy { miss(removal, trace, known: .delivered) }
        guard let delivered = entry.delivered, delivered.requestID == sending.requestID else { return }
        if let removal = sending.recalledBy {
            remove(delivered, by: removal, from: nil, trace)
            recall(from: sending.devices, through: sending.channel, by: removal, trace)
        } else if let answer = sending.answer {
            take(delivered, answeredBy: answer.id, on: answer.device, trace)
        } else if sending.devices.isEmpty, sending.addressees?.targets ?? 0 > 0 {
            // All of its devices have left meanwhile, and are asked to remove it.
            remove(
                delivered,
                by: .derive(caller: "retirement", idempotencyKey: "\(sending.requestID)"),
                from: nil,
                trace
            )
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
        let doubt = Doubt(channel: sending.channel, devices: sending.devices)
        if let pending = entry.pending, case .turn = pending.timer,
            rules.channels.areSame(pending.channel, sending.channel)
        {
            // Unless that one is not sent in the end.
            return recallUnlessReplaced(doubt, by: sending.requestID, sending.trace)
        }
        recall(doubt, by: sending.requestID, sending.trace)
    }

    /// A newer one comes next, and replaces what is shown where it is sent.
    private mutating func recallUnlessReplaced(_ doubt: Doubt, by id: RequestID, _ trace: CarriedTrace) {
        guard rules.channels.isSent(doubt.channel) else { return }
        wait(.init(channel: doubt.channel, devices: doubt.devices, id: id, trace: trace))
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
        takeBackBadges(of: sending)
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
        shown = .init(thread: sending.addressees?.thread, isUpdate: earlier != nil, event: effects.count - 1)
        let delivered = StateEntry.Delivered(
            requestID: sending.requestID,
            occurrence: sending.occurrence,
            at: now,
            channel: sending.channel,
            details: details(of: sending)
        )
        entry.delivered = delivered
        endRecalls(replacedBy: sending)
        // Another channel does not replace what the earlier one shows, nor does one that a device does not get.
        if let earlier {
            let isReplaced = rules.channels.areSame(earlier.channel, sending.channel)
            let others = earlier.devices.filter {
                !isReplaced || !sending.devices.containsUTF8(of: $0) && recipient.hasActiveDevice($0)
            }
            if !isReplaced || !others.isEmpty && !sending.devices.isEmpty {
                recall(from: others, through: earlier.channel, by: sending.requestID, sending.trace)
            }
        }
        if !entry.marks.isEmpty { judgeReports(of: delivered, sending.trace) }
    }

    /// Nothing is shown under the key any more.
    mutating func hide() {
        if entry.delivered != nil { shown = .init(thread: nil, event: nil) }
        entry.delivered = nil
    }

    /// What responses are checked against and carry.
    func details(of sending: StateEntry.Sending) -> StateEntry.Delivered.Details {
        details(of: sending.content, sending.addressees?.category?.kept, on: sending.devices)
    }

    func details(
        of content: ArraySlice<UInt8>?,
        _ category: KeptCategory?,
        on devices: [String]
    ) -> StateEntry.Delivered.Details {
        .init(
            content: content.flatMap { $0.count <= rules.keptContentBytes ? $0 : nil },
            category: category,
            devices: devices
        )
    }
}
