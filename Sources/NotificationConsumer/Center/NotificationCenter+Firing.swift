import NotificationModel

extension NotificationCenter {
    /// Lateness, in milliseconds, up to which an occurrence counts as on time for the policies `next` and `drop`: a busy
    /// second is not an outage.
    static let onTimeGrace: Int64 = 10_000
    /// A repeat without a policy fires once when less late than this, as UserNotifications does (15 minutes).
    static let repeatGrace: Int64 = 15 * 60 * 1000

    /// Fires what is due in the entry; nothing when it is not. A repeat is armed again.
    ///
    /// - Parameter end: no occurrence that is due later is sent or missed; nil for `now`.
    func fire(
        key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        through end: Timestamp? = nil,
        effects: inout Effects
    ) {
        guard let due = entry.due, due <= now else { return }
        if let sending = entry.sending {
            retry(sending, key: key, in: &entry, at: now, &effects)
            return
        }
        guard let pending = entry.pending else { return }
        guard pending.content.count <= contentBytes else {
            // Taken while records could be larger (message.max.bytes): no event has room for it.
            entry.pending = nil
            var event = DeliveryEvent(
                name: .suppressed,
                requestID: pending.requestID,
                key: key,
                closes: true,
                inDoubt: pending.isInDoubt
            )
            event.reason = .payloadTooLarge
            effects.events.append(Effect(event: event, trace: pending.trace))
            close(pending.requestID, in: &entry, at: now)
            return
        }
        // In doubt, it goes again under the same ids whatever the time: it may be on the device.
        if let expiration = pending.expiration, expiration <= now, !pending.isInDoubt {
            entry.pending = nil
            expire(pending.requestID, key, pending.trace, in: &entry, at: now, &effects)
            return
        }
        switch pending.timer {
        case .held, .turn:
            entry.pending = nil
            deliver(
                pending.requestID,
                key,
                pending.content,
                pending.trace,
                expiration: pending.expiration,
                inDoubt: pending.isInDoubt,
                in: &entry,
                at: now,
                &effects
            )
        case .interval(let schedule, let occurrence):
            fire(pending, schedule, from: occurrence, through: end ?? now, key: key, in: &entry, at: now, &effects)
        }
    }

    /// `first` to `last` are the occurrences that are due, each by its own jitter. More than one only when nobody ran, or the
    /// machine slept: while the first is on time it goes by itself, and the next is judged when its turn comes.
    private func fire(
        _ pending: StateEntry.Pending,
        _ schedule: IntervalSchedule,
        from first: Timestamp,
        through end: Timestamp,
        key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        // The occurrence in doubt goes by itself, too; those after it are judged when it is done.
        let isAlone = pending.isInDoubt || now.rawValue - pending.due.rawValue <= Self.onTimeGrace
        let last = isAlone ? first : schedule.lastOccurrence(dueAt: end, from: first, of: pending.requestID)
        let due = last == first ? pending.due : schedule.due(for: last, of: pending.requestID)
        let firesLast = pending.isInDoubt || isFired(due, of: schedule, at: now)
        if !firesLast || last > first {
            let lastMissed = firesLast ? Timestamp(rawValue: last.rawValue - schedule.interval) : last
            var event = DeliveryEvent(name: .missed, requestID: pending.requestID, key: key, closes: false)
            // A repeat can miss more than one run: the first occurrence tells their events apart.
            event.occurrence = first
            event.first = first
            event.last = lastMissed
            event.count = schedule.count(from: first, through: lastMissed)
            effects.events.append(Effect(event: event, trace: pending.trace))
        }
        if schedule.repeats {
            rearm(pending, schedule, after: last, in: &entry)
        } else {
            entry.pending = nil
        }
        if firesLast {
            deliver(
                pending.requestID,
                key,
                pending.content,
                pending.trace,
                occurrence: last,
                closes: !schedule.repeats,
                expiration: pending.expiration,
                inDoubt: pending.isInDoubt,
                in: &entry,
                at: now,
                &effects
            )
        }
        // Nothing left to wait for: a one-shot that its policy drops, or a repeat whose next occurrence is too late.
        if entry.pending == nil, schedule.repeats || !firesLast {
            expire(pending.requestID, key, pending.trace, in: &entry, at: now, &effects)
        }
    }

    /// The misfire policy, for the last occurrence that is due, and was at that instant.
    private func isFired(_ due: Timestamp, of schedule: IntervalSchedule, at now: Timestamp) -> Bool {
        let late = now.rawValue - due.rawValue
        switch schedule.misfire {
        case .once: return true
        case .next, .drop: return late <= Self.onTimeGrace
        case nil: return !schedule.repeats || late < Self.repeatGrace
        }
    }

    /// Arms the next occurrence, or leaves nothing pending when the request expires before it.
    private func rearm(
        _ pending: StateEntry.Pending,
        _ schedule: IntervalSchedule,
        after occurrence: Timestamp,
        in entry: inout StateEntry
    ) {
        let next = Timestamp(rawValue: occurrence.rawValue + schedule.interval)
        let due = schedule.due(for: next, of: pending.requestID)
        if let expiration = pending.expiration, expiration <= due {
            entry.pending = nil
            return
        }
        entry.pending?.timer = .interval(schedule, occurrence: next)
        entry.pending?.due = due
        entry.pending?.isInDoubt = false
    }
}
