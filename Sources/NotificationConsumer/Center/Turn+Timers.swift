import NotificationModel

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
        guard let due = entry.due, due <= now else { return }
        isChanged = true
        if let sending = entry.sending { return retry(sending) }
        guard let pending = entry.pending else { return }
        guard pending.content.count <= rules.contentBytes else { return refuseTooLarge(pending) }
        // A notification in doubt is sent again under the same ids even if it is expired: the device may show it.
        if let expiration = pending.expiration, expiration <= now, !pending.isInDoubt {
            drop(pending)
            return expire(pending.requestID, pending.trace)
        }
        if case .at? = pending.preparation, let due = pending.due, due > now { return prepare(pending) }
        if let end = heldUntil(pending), end > now { return hold(pending, until: end) }
        switch pending.timer {
        case .held, .turn:
            entry.pending = nil
            release(pending, occurrence: nil, closes: true)
        case .digest(let occurrence):
            entry.pending = nil
            release(pending, occurrence: occurrence, closes: true)
        case .scheduled(let schedule, let occurrence):
            fire(pending, schedule, from: occurrence, due: pending.due ?? due, through: end ?? now)
        case .region(let wait): fire(pending, wait)
        }
    }

    /// The request was accepted when records could be larger (`message.max.bytes`): no event has room for it.
    private mutating func refuseTooLarge(_ pending: StateEntry.Pending) {
        drop(pending)
        publish(.suppressed, of: pending.requestID, closes: true, inDoubt: pending.isInDoubt, pending.trace) {
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
        let isAlone = pending.isInDoubt || now.rawValue - firstDue.rawValue <= Self.onTimeGrace
        let last = isAlone ? first : schedule.lastDue(at: end, from: first, of: pending.requestID)
        let due = last == first ? firstDue : schedule.due(for: last, of: pending.requestID)
        let sendsLast = pending.isInDoubt || isSent(due, of: schedule)
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
        (next.timer, next.due, next.isInDoubt) = (.scheduled(schedule, occurrence: occurrence), due, false)
        next.preparation = nil
        entry.pending = next
        if pending.preparation != nil { planPreparation() }
    }

    mutating func deliver(_ pending: StateEntry.Pending, occurrence: Timestamp?, closes: Bool) {
        deliver(
            .init(
                requestID: pending.requestID,
                occurrence: occurrence,
                content: pending.content,
                expiration: pending.expiration,
                trace: pending.trace,
                closes: closes,
                phase: .inFlight(since: now),
                isInDoubt: pending.isInDoubt,
                channel: pending.channel
            ),
            preparedBy: pending.preparation
        )
    }
}
