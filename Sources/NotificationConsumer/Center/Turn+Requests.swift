import NotificationModel

extension Turn {
    /// Applies a request to the entry of its key.
    mutating func apply(_ request: CenterInput.Request) -> CenterInput.Outcome {
        // Read again after a restart: the entry contains its outcome.
        guard !entry.hasApplied(request.position) else {
            return drop(repeatAt: request.position, isTimeless: request.isTimeless)
        }
        // Use the record's timestamp, so that the result does not depend on when the record is read.
        guard !entry.knows(request.id, since: rules.rememberedSince(request.timestamp)) else {
            return drop(repeatAt: request.position, isTimeless: request.isTimeless)
        }
        if case .floating(let trigger) = request.plan { return plan(request, trigger) }
        isChanged = true
        entry.noteApplied(request.position)
        guard isCurrent(request.version, of: request.id, request.trace) else { return .superseded }
        guard hasRoomForRegion else { return refuseCapped(request) }

        let replaced = entry.pending
        let doubt = supersede(by: request)
        var leavesDoubt = false
        if let doubt {
            // Another channel does not replace it.
            leavesDoubt = rules.channels.areSame(doubt.channel, request.channel)
            if !leavesDoubt { recallFirst(doubt, by: request) }
        }
        let judged = mayHaveBeenSent ? min(now, request.timestamp) : now
        if let expiration = request.expiration, expiration <= judged {
            expire(request.id, request.trace)
        } else {
            switch request.plan {
            case .immediate(let window) where window > 0: hold(request, window: window, replacing: replaced)
            case .immediate: send(request, leavesDoubt: leavesDoubt)
            case .scheduled(let schedule): arm(request, schedule, replacing: replaced)
            case .region(let trigger): arm(request, trigger, replacing: replaced)
            // Planned before.
            case .floating: break
            }
        }
        // The device may show a replaced notification, and nothing is sent now: recall it.
        if leavesDoubt, entry.sending == nil, !isNextToBeSent {
            recall(doubt ?? Doubt(channel: request.channel), by: request.id, request.trace)
        }
        return .applied
    }

    /// The partition has no room for another pending notification: answers the request and remembers its id.
    mutating func refuseCapped(_ request: CenterInput.Request) -> CenterInput.Outcome {
        isChanged = true
        publish(.suppressed, of: request.id, closes: true, request.trace) { $0.reason = .capped }
        entry.noteApplied(request.position)
        close(request.id)
        return .applied
    }

    /// Closes what is pending under the key, or waits between two attempts.
    ///
    /// - Returns: what the device may show.
    private mutating func supersede(by request: CenterInput.Request) -> Doubt? {
        var doubt: Doubt?
        if let replaced = entry.pending {
            publish(
                .superseded,
                of: replaced.requestID,
                closes: true,
                inDoubt: isInDoubt(replaced),
                request.trace
            ) { $0.by = request.id }
            close(replaced.requestID)
            drop(replaced)
            if isInDoubt(replaced) { doubt = Doubt(channel: replaced.channel) }
        }
        if let sending = entry.sending, case .waiting = sending.phase, sending.content != nil {
            giveUp(sending, as: .superseded, by: request.id, request.trace)
            if sending.isInDoubt { doubt = Doubt(channel: sending.channel, devices: sending.devices) }
        }
        return doubt.flatMap { rules.channels.isSent($0.channel) ? $0 : nil }
    }

    /// Recalls what the device may show before a notification leaves through another channel; a send in flight does so when
    /// it ends.
    private mutating func recallFirst(_ doubt: Doubt, by request: CenterInput.Request) {
        if entry.sending == nil {
            recall(doubt, by: request.id, request.trace)
        } else {
            entry.sending?.isInDoubt = true
        }
    }

    private var isNextToBeSent: Bool {
        if case .turn? = entry.pending?.timer { true } else { false }
    }

    /// Sends at once, or after the send in flight: sends of one key never overlap. Nothing is sent
    ///
    /// - while the backlog is read: a request that the previous owner superseded during another send must not be sent
    ///   now;
    /// - beyond the marker's `firedThrough`: the next owner must know that it may have been sent, or a removal would
    ///   not recall it.
    ///
    /// - Parameter leavesDoubt: the device may show the superseded notification.
    private mutating func send(_ request: CenterInput.Request, leavesDoubt: Bool) {
        var waits = holdSend(by: request.channel) || request.isEnriched && holdsTimers
        if let sending = entry.sending { waits = waits || !isReplaced(sending, by: request.channel) }
        guard !waits, request.limits == nil else {
            wait(request, for: .turn, until: now, isInDoubt: mayHaveBeenSent || leavesDoubt)
            if !waits { fire() }
            return
        }
        putBackRecall()
        let sending = StateEntry.Sending(
            requestID: request.id,
            occurrence: nil,
            content: request.content,
            expiration: request.expiration,
            trace: request.trace,
            closes: true,
            phase: .inFlight(since: now),
            isInDoubt: mayHaveBeenSent,
            channel: request.channel
        )
        if request.isEnriched { enrich(sending) } else { handOver(sending, request.facts) }
    }

    /// Whether a newer send ends the send: neither one in flight, nor a recall by another channel.
    private func isReplaced(_ sending: StateEntry.Sending, by channel: ChannelName?) -> Bool {
        if case .inFlight = sending.phase { return false }
        return sending.content != nil || rules.channels.areSame(sending.channel, channel)
    }

    private mutating func arm(
        _ request: CenterInput.Request,
        _ schedule: Schedule,
        replacing replaced: StateEntry.Pending?
    ) {
        let occurrence = schedule.first
        let due = schedule.due(for: occurrence, of: request.id)
        // A request that can never be sent is answered at once, not when it would be due.
        if let expiration = request.expiration, expiration <= due { return expire(request.id, request.trace) }
        wait(
            request,
            for: .scheduled(schedule, occurrence: occurrence),
            until: due,
            isInDoubt: mayHaveBeenSent && due <= now
        )
        if due <= now, entry.sending == nil, !holdsTimers, !holdSend(by: request.channel) { return fire() }
        publish(.scheduled, of: request.id, closes: false, request.trace) {
            $0.nextTriggerDate = due
            $0.replaces = replaced?.requestID
        }
    }

    private mutating func hold(
        _ request: CenterInput.Request,
        window: Int64,
        replacing replaced: StateEntry.Pending?
    ) {
        var due = now.adding(milliseconds: window)
        // A stream of updates must not postpone the end of the window forever.
        if let replaced, case .held = replaced.timer, let end = replaced.due { due = min(due, max(now, end)) }
        if let expiration = request.expiration, expiration <= due { return expire(request.id, request.trace) }
        wait(request, for: .held, until: due, isInDoubt: mayHaveBeenSent)
        publish(.held, of: request.id, closes: false, request.trace) {
            $0.until = due
            $0.reason = .collapseWindow
            $0.replaces = replaced?.requestID
        }
    }

    private mutating func wait(
        _ request: CenterInput.Request,
        for timer: StateEntry.Timer,
        until due: Timestamp?,
        isInDoubt: Bool
    ) {
        entry.pending = .init(
            requestID: request.id,
            content: request.content,
            expiration: request.expiration,
            trace: request.trace,
            timer: timer,
            due: due,
            isInDoubt: isInDoubt,
            channel: request.channel,
            limits: request.limits
        )
        if request.isEnriched { planPreparation() }
    }
}
