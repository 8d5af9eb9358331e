import NotificationModel

extension Turn {
    /// Lateness, in milliseconds, up to which an occurrence counts as on time for the policies `next` and `drop`: a busy
    /// second is not an outage.
    static let onTimeGrace: Int64 = 10_000
    /// A repeat without a policy fires once when it is less late than this, as in UserNotifications (15 minutes).
    static let repeatGrace: Int64 = 15 * 60 * 1000

    /// Fires what is due in the entry; nothing when it is not. A repeat is armed again.
    ///
    /// - Parameter end: no occurrence that is due later is sent or missed; nil for `now`.
    mutating func fire(through end: Timestamp? = nil) {
        guard let due = entry.due, due <= now else { return }
        isChanged = true
        if let sending = entry.sending { return retry(sending) }
        guard let pending = entry.pending else { return }
        guard pending.content.count <= rules.contentBytes else { return refuseTooLarge(pending) }
        // In doubt, it is sent again under the same ids whatever the time: the device may show it.
        if let expiration = pending.expiration, expiration <= now, !pending.isInDoubt {
            entry.pending = nil
            return expire(pending.requestID, pending.trace)
        }
        switch pending.timer {
        case .held, .turn:
            entry.pending = nil
            deliver(pending, occurrence: nil, closes: true)
        case .scheduled(let schedule, let occurrence):
            fire(pending, schedule, from: occurrence, due: due, through: end ?? now)
        }
    }

    /// The request was taken while records could be larger (`message.max.bytes`): no event has room for it.
    private mutating func refuseTooLarge(_ pending: StateEntry.Pending) {
        entry.pending = nil
        publish(.suppressed, of: pending.requestID, closes: true, inDoubt: pending.isInDoubt, pending.trace) {
            $0.reason = .payloadTooLarge
        }
        close(pending.requestID)
    }

    /// `first` to `last` are the occurrences that are due, each by its own jitter. More than one only when nobody ran, or the
    /// machine slept: while the first is on time it is sent by itself, and the next is judged in its own turn.
    private mutating func fire(
        _ pending: StateEntry.Pending,
        _ schedule: Schedule,
        from first: Timestamp,
        due firstDue: Timestamp,
        through end: Timestamp
    ) {
        // An occurrence in doubt is sent by itself, too; those after it are judged afterwards.
        let isAlone = pending.isInDoubt || now.rawValue - firstDue.rawValue <= Self.onTimeGrace
        let last = isAlone ? first : schedule.lastDue(at: end, from: first, of: pending.requestID)
        let due = last == first ? firstDue : schedule.due(for: last, of: pending.requestID)
        let sendsLast = pending.isInDoubt || isSent(due, of: schedule)
        if !sendsLast || last > first {
            let lastMissed = sendsLast ? schedule.previous(through: last.adding(milliseconds: -1), from: first) : last
            publish(.missed, of: pending.requestID, closes: false, pending.trace) {
                // A repeat can miss more than one run: the first occurrence tells their events apart.
                $0.occurrence = first
                $0.first = first
                $0.last = lastMissed
                $0.count = schedule.count(from: first, through: lastMissed)
            }
        }
        let next = schedule.next(after: last)
        entry.pending = nil
        if let next { rearm(pending, schedule, at: next) }
        if sendsLast { deliver(pending, occurrence: last, closes: next == nil) }
        // Nothing left to wait for: a last occurrence that the policy drops, or a next one that comes after the expiration.
        if entry.pending == nil, next != nil || !sendsLast { expire(pending.requestID, pending.trace) }
    }

    /// The misfire policy, for the last occurrence that is due, and was at that instant.
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
        let due = schedule.due(for: occurrence, of: pending.requestID)
        if let expiration = pending.expiration, expiration <= due { return }
        var next = pending
        (next.timer, next.due, next.isInDoubt) = (.scheduled(schedule, occurrence: occurrence), due, false)
        entry.pending = next
    }

    private mutating func deliver(_ pending: StateEntry.Pending, occurrence: Timestamp?, closes: Bool) {
        deliver(
            .init(
                requestID: pending.requestID,
                occurrence: occurrence,
                content: pending.content,
                expiration: pending.expiration,
                trace: pending.trace,
                closes: closes,
                phase: .inFlight(since: now),
                isInDoubt: pending.isInDoubt
            )
        )
    }
}
