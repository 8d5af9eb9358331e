import NotificationModel
import NotificationState

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
        cause = Cause(id: request.id, trace: request.trace, time: request.timestamp)
        guard isCurrent(request.version, of: request.id, request.content, request.trace) else { return .superseded }
        guard hasRoomForRegion else { return refuseCapped(request) }

        if case .immediate(collapseWindow: 0) = request.plan {
            if replaceEarlier(by: request) { send(request) }
        } else {
            wait(for: request)
        }
        return .applied
    }

    private mutating func wait(for request: CenterInput.Request) {
        let replaced = entry.pending
        guard replaceEarlier(by: request) else { return }
        switch request.plan {
        case .immediate(let window): hold(request, window: window, replacing: replaced)
        case .scheduled(let schedule): arm(request, schedule, replacing: replaced)
        case .region(let trigger): arm(request, trigger, replacing: replaced)
        // Planned before.
        case .floating: break
        }
    }

    /// What is pending or on its way under the key ends.
    ///
    /// - Returns: false when the request has expired, which is answered.
    private mutating func replaceEarlier(by request: CenterInput.Request) -> Bool {
        if entry.hasPending || entry.hasHandover { supersede(by: request) }
        if mayHaveBeenSent { doubt(request) }
        guard let expiration = request.expiration, expiration <= now, !isOwed(request), !mayHaveCrossed(request) else {
            return true
        }
        expire(request)
        return false
    }

    private mutating func expire(_ request: CenterInput.Request) {
        expire(request.id, inDoubt: isInDoubt(request), request.trace)
    }

    /// Whether targets may show any of its occurrences.
    private func isInDoubt(_ request: CenterInput.Request) -> Bool {
        entry.screen?.targets.contains { $0.maybes.contains { $0.requestID == request.id } } ?? false
    }

    /// The partition has no room for another pending notification: answers the request and remembers its id.
    mutating func refuseCapped(_ request: CenterInput.Request) -> CenterInput.Outcome {
        isChanged = true
        // The former owner may have had room.
        if mayHaveBeenSent { doubt(request) }
        publish(.suppressed, of: request.id, closes: true, inDoubt: isInDoubt(request), request.trace) {
            $0.reason = .capped
        }
        entry.noteApplied(request.position)
        close(request.id)
        return .applied
    }

    /// A request that is read again may have been handed over by the owner before, unless that one must have held it back.
    private mutating func doubt(_ request: CenterInput.Request) {
        let through = conditions.doubtThrough ?? now
        if let limits = request.limits, ContentFacts(request.content).level != .critical {
            let quiet = limits.quietHours.flatMap { self.quietEnd(of: $0, at: request.timestamp) } ?? .earliest
            let digest = limits.digest.map { request.timestamp.adding(milliseconds: $0.window) } ?? .earliest
            guard max(quiet, digest) <= through else { return }
        }
        switch request.plan {
        case .immediate(let window):
            guard window == 0 || request.timestamp.adding(milliseconds: window) <= through else { return }
            doubt(Showing(request.id, nil), of: request.content, on: request.channel)
            doubtTimestamp(of: request, at: request.timestamp)
        case .scheduled(let schedule):
            let due = schedule.due(for: schedule.first, of: request.id)
            guard due <= min(now, through), request.expiration.map({ due < $0 }) ?? true else { return }
            doubt(Showing(request.id, schedule.first), of: request.content, on: request.channel)
            doubtTimestamp(of: request, at: due)
        case .floating, .region: break
        }
    }

    /// The owner before may have pushed a Live Activity with the time as its timestamp: a phone ignores older versions.
    private mutating func doubtTimestamp(of request: CenterInput.Request, at time: Timestamp) {
        let seconds = max(0, time.rawValue / 1000)
        guard request.version == nil, LiveActivityFacts.mayBe(in: request.content),
            seconds > entry.version?.number ?? .min
        else { return }
        entry.version = .init(number: seconds, by: request.id)
    }

    /// Whether a fix of the backlog decides if it is in doubt when it expires.
    private func mayHaveCrossed(_ request: CenterInput.Request) -> Bool {
        guard mayHaveBeenSent, case .region = request.plan else { return false }
        return mayHaveCrossed(on: request.channel)
    }

    private func isOwed(_ request: CenterInput.Request) -> Bool {
        guard mayHaveBeenSent, rules.channels.handover(of: request.channel) == .inEvent else { return false }
        // It would have been sent when it was read first.
        return request.expiration.map { $0 > request.timestamp } ?? true
    }

    /// Closes what is pending under the key, or waits for its next attempt or for the operation of something else. What is in
    /// flight ends first.
    private mutating func supersede(by request: CenterInput.Request) {
        if let replaced = entry.pending {
            publish(.superseded, of: replaced.requestID, closes: true, inDoubt: isInDoubt(replaced), request.trace) {
                $0.by = request.id
            }
            close(replaced.requestID)
            drop(replaced)
        }
        if let handover = entry.handover, !isInFlight(handover) {
            end(handover, as: .superseded, request.trace) { $0.by = request.id }
        }
    }

    /// Sends at once, or after what is in flight: sends of one key never overlap. Nothing is sent
    ///
    /// - while the backlog is read: a request that the previous owner superseded during another send must not be sent
    ///   now;
    /// - beyond the marker's `firedThrough`: the next owner must know that it may have been sent, or a removal would
    ///   not reach it.
    private mutating func send(_ request: CenterInput.Request) {
        var waits = holdsSends(by: request.channel) || request.isEnriched && conditions.holdsTimers || isInFlight
        // Read again later, it could end otherwise.
        if rules.repeatsEvents, !request.isTimeless, now > conditions.sendLimit { waits = true }
        guard !waits, request.limits == nil else {
            wait(request, for: .turn, until: now)
            if !waits { fire() }
            return
        }
        let handover = StateEntry.Handover(
            showing: Showing(request.id, nil),
            content: request.content,
            expiration: request.expiration,
            trace: request.trace,
            closes: true,
            channel: request.channel,
            time: request.timestamp
        )
        if request.isEnriched { enrich(handover) } else { handOver(handover, request.facts) }
    }

    private mutating func arm(
        _ request: CenterInput.Request,
        _ schedule: Schedule,
        replacing replaced: StateEntry.Pending?
    ) {
        let occurrence = schedule.first
        let due = schedule.due(for: occurrence, of: request.id)
        // A request that can never be sent is answered at once, not when it would be due.
        if let expiration = request.expiration, expiration <= due { return expire(request) }
        wait(request, for: .scheduled(schedule, occurrence: occurrence), until: due)
        if due <= now, !isInFlight, !holdsHandovers(by: request.channel) { return fire() }
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
        if let expiration = request.expiration, expiration <= due { return expire(request) }
        wait(request, for: .held, until: due)
        publish(.held, of: request.id, closes: false, request.trace) {
            $0.until = due
            $0.reason = .collapseWindow
            $0.replaces = replaced?.requestID
        }
    }

    private mutating func wait(
        _ request: CenterInput.Request,
        for timer: StateEntry.Timer,
        until due: Timestamp?
    ) {
        entry.pending = .init(
            requestID: request.id,
            content: request.content,
            expiration: request.expiration,
            trace: request.trace,
            timer: timer,
            due: due,
            channel: request.channel,
            limits: request.limits
        )
        if request.isEnriched { planPreparation() }
    }
}
