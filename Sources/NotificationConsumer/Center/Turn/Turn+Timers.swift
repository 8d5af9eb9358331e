import NotificationModel
import NotificationState

extension Turn {
    /// The lateness, in milliseconds, up to which an occurrence counts as on time for the policies `next` and `drop`: a
    /// busy second is not an outage.
    static let onTimeGrace: Int64 = 10_000
    /// A repeating schedule without a policy fires once when it is less late than this, as in UserNotifications (15
    /// minutes).
    static let repeatGrace: Int64 = 15 * 60 * 1000

    /// Fires the entry if it is due. A repeating schedule is armed again.
    ///
    /// - Parameter end: no occurrence due after it is sent or reported as missed; nil for `now`.
    mutating func fire(through end: Timestamp? = nil) {
        guard let due = entry.due(rules.channels.grouping), due <= now else { return }
        isChanged = true
        if let handover = entry.handover, let start = handover.start, start <= now {
            cause = .wait(of: handover)
            return resume(handover)
        }
        // Next attempts begin at the end of the turn.
        guard let pending = entry.pending, let alarm = pending.alarm, alarm <= now, !isInFlight else { return }
        cause = Cause(id: pending.requestID, trace: pending.trace, time: pending.due, isTentative: true)
        guard pending.content.count <= rules.contentBytes else { return refuseTooLarge(pending) }
        if let expiration = pending.expiration, expiration <= now, !isOwed(pending) {
            let inDoubt = isInDoubt(pending)
            drop(pending)
            return expire(pending.requestID, inDoubt: inDoubt, pending.trace)
        }
        if case .at? = pending.preparation, let due = pending.due, due > now { return prepare(pending) }
        if let end = heldUntil(pending), end > now { return hold(pending, until: end) }
        if let handover = entry.handover {
            // What waits for its next attempt is replaced by what is newer.
            self.end(handover, as: .superseded, pending.trace) { $0.by = pending.requestID }
        }
        switch pending.timer {
        case .held, .turn, .digest:
            entry.pending = nil
            release(pending, occurrence: pending.occurrence, closes: true)
        case .scheduled(let schedule, let occurrence):
            fire(pending, schedule, from: occurrence, due: pending.due ?? due, through: end ?? now)
        case .region(let wait): fire(pending, wait)
        }
    }

    /// The request was accepted when records could be larger (`message.max.bytes`): no event has room for it.
    private mutating func refuseTooLarge(_ pending: StateEntry.Pending) {
        let inDoubt = isInDoubt(pending)
        drop(pending)
        publish(.suppressed, of: pending.requestID, closes: true, inDoubt: inDoubt, pending.trace) {
            $0.reason = .payloadTooLarge
        }
        close(pending.requestID)
    }

    /// `first` to `last` are the due occurrences, each with its own jitter. There is more than one only after an
    /// outage, or after the machine slept. While the first is on time, it is sent by itself, and the next is judged
    /// separately.
    private mutating func fire(
        _ pending: StateEntry.Pending,
        _ schedule: Schedule,
        from first: Timestamp,
        due firstDue: Timestamp,
        through end: Timestamp
    ) {
        // An occurrence in doubt is also sent by itself; later occurrences are judged afterwards.
        let isInDoubt = self.isInDoubt(pending)
        let isAlone = isInDoubt || now.rawValue - firstDue.rawValue <= Self.onTimeGrace
        let last = isAlone ? first : schedule.lastDue(at: end, from: first, of: pending.requestID)
        let due = last == first ? firstDue : schedule.due(for: last, of: pending.requestID)
        let sendsLast = isInDoubt || isSent(due, of: schedule)
        if !sendsLast || last > first {
            let lastMissed = sendsLast ? schedule.previous(through: last.adding(milliseconds: -1), from: first) : last
            publish(.missed, of: pending.requestID, closes: false, pending.trace) {
                // A repeating schedule can miss several runs: the first occurrence distinguishes their events.
                $0.occurrence = first
                $0.first = first
                $0.last = lastMissed
                $0.count = schedule.count(from: first, through: lastMissed)
            }
        }
        let next = schedule.next(after: last)
        entry.pending = nil
        if let next { rearm(pending, schedule, at: next) }
        if sendsLast {
            release(pending, occurrence: last, closes: next == nil)
        } else {
            stopEnrichment(of: pending)
        }
        // Nothing is left to wait for: the policy drops the last occurrence, or the next one is after the expiration.
        if entry.pending == nil, next != nil || !sendsLast { expire(pending.requestID, pending.trace) }
    }

    /// Applies the misfire policy to the last due occurrence; `due` is its due time.
    private func isSent(_ due: Timestamp, of schedule: Schedule) -> Bool {
        let late = now.rawValue - due.rawValue
        switch schedule.misfire {
        case .once: return true
        case .next, .drop: return late <= Self.onTimeGrace
        case nil: return !schedule.repeats || late < Self.repeatGrace
        }
    }

    /// Arms an occurrence, unless the request expires before it is due.
    private mutating func rearm(_ pending: StateEntry.Pending, _ schedule: Schedule, at occurrence: Timestamp) {
        let (schedule, occurrence) = onRecipientClock(schedule, occurrence)
        let due = schedule.due(for: occurrence, of: pending.requestID)
        if let expiration = pending.expiration, expiration <= due { return }
        var next = pending
        (next.timer, next.due, next.round) = (.scheduled(schedule, occurrence: occurrence), due, 0)
        next.preparation = nil
        entry.pending = next
        if pending.preparation != nil { planPreparation() }
    }

    /// Ends the wait for an occurrence that a device shows already. A repeat waits for the next one.
    mutating func endWait(of pending: StateEntry.Pending) {
        drop(pending)
        switch pending.timer {
        case .scheduled(let schedule, let occurrence):
            if let next = schedule.next(after: occurrence) { rearm(pending, schedule, at: next) }
        case .region(let wait): if let last = wait.last { rearm(pending, wait, after: last) }
        case .held, .turn, .digest: break
        }
    }

    /// Sends what was pending.
    mutating func deliver(_ pending: StateEntry.Pending, occurrence: Timestamp?, closes: Bool) {
        var handover = handover(of: pending, occurrence: occurrence, closes: closes)
        if rules.isTraced { trace(&handover, after: pending) }
        deliver(handover, preparedBy: pending.preparation)
    }

    /// What follows from a firing names its span, across restarts too.
    private mutating func trace(_ handover: inout StateEntry.Handover, after pending: StateEntry.Pending) {
        guard let request = pending.trace.sampled else { return }
        let due = pending.due ?? now
        let span = request.firing(pending.requestID, handover.showing.occurrence, due: due)
        handover.trace =
            span.trace == request.trace
            ? pending.trace.naming(span) : CarriedTrace(traceparent: Array(span.traceparent.utf8))
        effects.append(.fire(Firing(span: span, request: request, due: due)))
    }

    func handover(of pending: StateEntry.Pending, occurrence: Timestamp?, closes: Bool) -> StateEntry.Handover {
        var showing = Showing(pending.requestID, occurrence, round: pending.round)
        showing.isFormer = isFormer(showing)
        return StateEntry.Handover(
            showing: showing,
            content: pending.content,
            expiration: pending.expiration,
            trace: pending.trace,
            closes: closes,
            channel: pending.channel,
            limits: pending.limits,
            // Not before what was done meanwhile on its targets: it may have been due earlier.
            time: max(cause.time ?? now, now)
        )
    }
}
