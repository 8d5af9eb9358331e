import NotificationModel

/// The lifecycle of a notification, as functions over values: (entry, input, time) to (entry, effects). It does no I/O
/// and reads no clock; inputs apply strictly in order, and how they are batched never changes an outcome.
///
/// Every request ends in exactly one event with `closes: true`, unless it was a duplicate, which is counted only.
struct NotificationCenter: Sendable {
    /// How long closed and delivered ones are remembered, in milliseconds.
    var retention: Int64

    /// An event to publish, and the trace that it continues.
    struct Effect: Sendable {
        var event: DeliveryEvent
        var trace: CarriedTrace
    }

    /// A request as the centre sees it.
    struct Request: Sendable {
        var id: RequestID
        var key: NotificationKey
        var version: Int64?
        var content: ArraySlice<UInt8>
        var plan: Plan
        var expiration: Timestamp?
        var trace: CarriedTrace
    }

    /// What a trigger asks for, seen from the request record.
    enum Plan: Sendable {
        /// Now, or after a collapse window of so many milliseconds.
        case immediate(collapseWindow: Int64)
        case interval(IntervalSchedule)
    }

    /// A removal of one identifier, or of all of a recipient's when the key's identifier is empty.
    struct Removal: Sendable {
        var id: RequestID
        var key: NotificationKey
        var scope: RemovalScope
        var version: Int64?
        var trace: CarriedTrace
    }

    /// What became of an input, for counting.
    enum Outcome: Hashable, Sendable { case applied, duplicate, superseded }

    // MARK: - Requests

    /// Applies a request to the entry of its key.
    func apply(
        _ request: Request,
        to entry: inout CenterEntry,
        at now: Timestamp,
        effects: inout [Effect]
    ) -> Outcome {
        let horizon = Timestamp(rawValue: now.rawValue - retention)
        guard !entry.knows(request.id, since: horizon) else { return .duplicate }
        guard isCurrent(request.version, of: request.id, key: request.key, in: &entry, at: now, request.trace, &effects)
        else { return .superseded }

        let replaced = entry.pending
        if let replaced {
            emit(.superseded, of: replaced.requestID, closes: true, request, &effects) { $0.by = request.id }
            close(replaced.requestID, in: &entry, at: now)
            entry.pending = nil
        }
        if let expiration = request.expiration, expiration <= now {
            expire(request.id, request.key, request.trace, in: &entry, at: now, &effects)
            return .applied
        }
        switch request.plan {
        case .immediate(let window) where window > 0:
            hold(request, window: window, replacing: replaced, in: &entry, at: now, &effects)
        case .immediate:
            deliver(request.id, request.key, request.content, request.trace, in: &entry, at: now, &effects)
            entry.delivered = .init(requestID: request.id, at: now)
        case .interval(let schedule):
            let occurrence = schedule.firstOccurrence
            arm(request, schedule, occurrence, replacing: replaced, in: &entry, at: now, &effects)
        }
        return .applied
    }

    private func arm(
        _ request: Request,
        _ schedule: IntervalSchedule,
        _ occurrence: Timestamp,
        replacing replaced: CenterEntry.Pending?,
        in entry: inout CenterEntry,
        at now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let due = schedule.due(for: occurrence, of: request.id)
        // What can never be sent is said at once, not when it would have been due.
        if let expiration = request.expiration, expiration <= due {
            expire(request.id, request.key, request.trace, in: &entry, at: now, &effects)
            return
        }
        entry.pending = .init(
            requestID: request.id,
            content: request.content,
            expiration: request.expiration,
            trace: request.trace,
            timer: .interval(schedule, occurrence: occurrence),
            due: due
        )
        if due <= now {
            fire(key: request.key, in: &entry, at: now, effects: &effects)
        } else {
            emit(.scheduled, of: request.id, closes: false, request, &effects) {
                $0.nextTriggerDate = due
                $0.replaces = replaced?.requestID
            }
        }
    }

    private func hold(
        _ request: Request,
        window: Int64,
        replacing replaced: CenterEntry.Pending?,
        in entry: inout CenterEntry,
        at now: Timestamp,
        _ effects: inout [Effect]
    ) {
        var due = Timestamp(rawValue: now.rawValue + window)
        // A stream of updates must not push the end of the window ahead of itself for ever.
        if let replaced, case .held = replaced.timer { due = min(due, max(now, replaced.due)) }
        if let expiration = request.expiration, expiration <= due {
            expire(request.id, request.key, request.trace, in: &entry, at: now, &effects)
            return
        }
        entry.pending = .init(
            requestID: request.id,
            content: request.content,
            expiration: request.expiration,
            trace: request.trace,
            timer: .held,
            due: due
        )
        emit(.held, of: request.id, closes: false, request, &effects) {
            $0.until = due
            $0.reason = .collapseWindow
            $0.replaces = replaced?.requestID
        }
    }

    // MARK: - Removals

    /// Applies a removal to one entry. `answersMiss` is false for one entry of many: a removal of all answers once.
    ///
    /// - Returns: whether it found anything, and the outcome.
    func apply(
        _ removal: Removal,
        key: NotificationKey,
        answersMiss: Bool = true,
        to entry: inout CenterEntry,
        at now: Timestamp,
        effects: inout [Effect]
    ) -> (outcome: Outcome, found: Bool) {
        let horizon = Timestamp(rawValue: now.rawValue - retention)
        guard !entry.known.contains(removal.id, since: horizon) else { return (.duplicate, true) }
        if answersMiss {
            guard isCurrent(removal.version, of: removal.id, key: key, in: &entry, at: now, removal.trace, &effects)
            else { return (.superseded, true) }
        } else if let version = removal.version, let newest = entry.version, version < newest.number {
            return (.superseded, false)
        }

        var found = false
        if removal.scope != .delivered, let pending = entry.pending {
            var event = DeliveryEvent(name: .cancelled, requestID: pending.requestID, key: key, closes: true)
            event.by = removal.id
            effects.append(Effect(event: event, trace: removal.trace))
            close(pending.requestID, in: &entry, at: now)
            entry.pending = nil
            found = true
        }
        if removal.scope != .pending, let delivered = entry.delivered {
            var event = DeliveryEvent(name: .removed, requestID: delivered.requestID, key: key, closes: false)
            event.by = removal.id
            effects.append(Effect(event: event, trace: removal.trace))
            if entry.pending?.requestID != delivered.requestID { close(delivered.requestID, in: &entry, at: now) }
            entry.delivered = nil
            found = true
        }
        if !found, answersMiss {
            effects.append(miss(removal, known: entry.delivered == nil ? .unknown : .delivered))
        }
        if found || !entry.isEmpty { entry.known.insert(removal.id, at: now, since: horizon) }
        return (.applied, found)
    }

    /// The answer to a removal that found nothing: a cancel is never silent.
    func miss(_ removal: Removal, known: DeliveryEvent.Known) -> Effect {
        var event = DeliveryEvent(name: .cancellationMissed, requestID: removal.id, key: removal.key, closes: false)
        event.known = known
        return Effect(event: event, trace: removal.trace)
    }

    // MARK: - Shared steps

    /// Refuses an older version: it answers `superseded` and remembers the id.
    private func isCurrent(
        _ version: Int64?,
        of id: RequestID,
        key: NotificationKey,
        in entry: inout CenterEntry,
        at now: Timestamp,
        _ trace: CarriedTrace,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let version else { return true }
        if let newest = entry.version, version < newest.number {
            var event = DeliveryEvent(name: .superseded, requestID: id, key: key, closes: true)
            event.by = newest.by
            effects.append(Effect(event: event, trace: trace))
            close(id, in: &entry, at: now)
            return false
        }
        entry.version = (version, id)
        return true
    }

    func deliver(
        _ id: RequestID,
        _ key: NotificationKey,
        _ content: ArraySlice<UInt8>,
        _ trace: CarriedTrace,
        occurrence: Timestamp? = nil,
        closes: Bool = true,
        in entry: inout CenterEntry,
        at now: Timestamp,
        _ effects: inout [Effect]
    ) {
        var event = DeliveryEvent(name: .delivered, requestID: id, key: key, closes: closes)
        event.occurrence = occurrence
        event.channel = EventsChannel.name
        event.content = content
        if let delivered = entry.delivered, delivered.requestID != id {
            event.replaces = delivered.requestID
            close(delivered.requestID, in: &entry, at: now)
        }
        effects.append(Effect(event: event, trace: trace))
    }

    func expire(
        _ id: RequestID,
        _ key: NotificationKey,
        _ trace: CarriedTrace,
        in entry: inout CenterEntry,
        at now: Timestamp,
        _ effects: inout [Effect]
    ) {
        let event = DeliveryEvent(name: .expired, requestID: id, key: key, closes: true)
        effects.append(Effect(event: event, trace: trace))
        close(id, in: &entry, at: now)
    }

    func close(_ id: RequestID, in entry: inout CenterEntry, at now: Timestamp) {
        entry.known.insert(id, at: now, since: Timestamp(rawValue: now.rawValue - retention))
    }

    private func emit(
        _ name: DeliveryEventName,
        of id: RequestID,
        closes: Bool,
        _ request: Request,
        _ effects: inout [Effect],
        _ fill: (inout DeliveryEvent) -> Void
    ) {
        var event = DeliveryEvent(name: name, requestID: id, key: request.key, closes: closes)
        fill(&event)
        effects.append(Effect(event: event, trace: request.trace))
    }
}
