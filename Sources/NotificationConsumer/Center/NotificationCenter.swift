import NotificationModel

/// The lifecycle of a notification, as functions over values: (entry, input, time) to (entry, effects). It does no I/O
/// and reads no clock; inputs apply strictly in order, and how they are batched never changes an outcome.
///
/// Every request ends in exactly one event with `closes: true`, unless it was a duplicate, which is counted only.
struct NotificationCenter: Sendable {
    /// How long closed and delivered ones are remembered, in milliseconds.
    var retention: Int64
    /// How notifications reach a device.
    var handover: Handover = .inEvent(channel: EventsChannel.name)
    var retry = RetryPolicy()
    /// Bytes of content that events and entries have room for.
    var contentBytes = Int.max
    /// What its sends carry, so that the outcome of an earlier life is recognised.
    var epoch: UInt64 = 0
    var partition: Int32 = 0
    /// Which life of the topic of requests its offsets are of.
    var life: Int64 = 0

    /// How notifications leave.
    enum Handover: Sendable {
        /// The `delivered` event is the hand-over: it has the notification in it.
        case inEvent(channel: String)
        /// A channel sends and answers later; the event tells what it answered.
        case bySend(channel: String)
    }

    /// An event to publish, and the trace that it continues.
    struct Effect: Sendable {
        var event: DeliveryEvent
        var trace: CarriedTrace
    }

    /// What is to be done after an input.
    struct Effects: Sendable {
        var events: [Effect] = []
        var sends: [ChannelSend] = []
    }

    /// A request as the centre sees it.
    struct Request: Sendable {
        var id: RequestID
        var key: NotificationKey
        /// Its place in `requests`.
        var offset: Int64
        var version: Int64?
        var content: ArraySlice<UInt8>
        var plan: Plan
        var expiration: Timestamp?
        var trace: CarriedTrace
        /// The record's.
        var timestamp: Timestamp
        /// An owner that did not come to its checkpoint may have sent it: it is sent again rather than called expired.
        var mayHaveBeenSent = false
        /// False for what is read before timers fire; see `CatchUp`.
        var firesWhenDue = true
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
        /// Its place in `requests`.
        var offset: Int64
        var scope: RemovalScope
        var version: Int64?
        var trace: CarriedTrace
        /// The record's.
        var timestamp: Timestamp
    }

    /// What became of an input, for counting.
    enum Outcome: Hashable, Sendable {
        case applied, duplicate, superseded
        /// A removal of everything a recipient has is larger than one piece: `PartitionCenter.proceed` goes on with it.
        case unfinished
    }

    // MARK: - Requests

    /// Applies a request to the entry of its key.
    func apply(
        _ request: Request,
        to entry: inout StateEntry,
        at now: Timestamp,
        effects: inout Effects
    ) -> Outcome {
        // Read again after a restart: what it did is in the entry.
        guard !entry.hasApplied(request.offset, in: life) else { return .duplicate }
        // By the record's own time, so that it is a repeat, or none, whenever it is read.
        guard !entry.knows(request.id, since: horizon(request.timestamp)) else { return .duplicate }
        entry.noteApplied(request.offset, in: life)
        guard isCurrent(request.version, of: request.id, key: request.key, in: &entry, at: now, request.trace, &effects)
        else { return .superseded }

        let replaced = entry.pending
        let leavesDoubt = supersede(by: request, in: &entry, at: now, &effects)
        let judged = request.mayHaveBeenSent ? min(now, request.timestamp) : now
        if let expiration = request.expiration, expiration <= judged {
            expire(request.id, request.key, request.trace, in: &entry, at: now, &effects)
        } else {
            switch request.plan {
            case .immediate(let window) where window > 0:
                hold(request, window: window, replacing: replaced, in: &entry, at: now, &effects)
            case .immediate:
                send(request, in: &entry, at: now, &effects)
            case .interval(let schedule):
                arm(request, schedule, replacing: replaced, in: &entry, at: now, &effects)
            }
        }
        // What may be on the device was replaced by something that is not sent now.
        if leavesDoubt, entry.sending == nil {
            recall(request.key, by: request.id, request.trace, in: &entry, at: now, &effects)
        }
        return .applied
    }

    /// Closes what waits under the key: pending, or between two attempts.
    ///
    /// - Returns: true when the device may show it.
    private func supersede(
        by request: Request,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) -> Bool {
        var leavesDoubt = false
        if let replaced = entry.pending {
            emit(.superseded, of: replaced.requestID, closes: true, request, &effects) {
                $0.by = request.id
                $0.inDoubt = replaced.isInDoubt
            }
            close(replaced.requestID, in: &entry, at: now)
            entry.pending = nil
            leavesDoubt = replaced.isInDoubt
        }
        if let sending = entry.sending, case .waiting = sending.phase, sending.content != nil {
            giveUp(sending, as: .superseded, by: request.id, request.key, request.trace, in: &entry, at: now, &effects)
            leavesDoubt = leavesDoubt || sending.isInDoubt
        }
        return leavesDoubt && handover.isBySend
    }

    /// Sends at once, or after what is in flight under the key: sends of one key never overlap.
    private func send(
        _ request: Request,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        if let sending = entry.sending, case .inFlight = sending.phase {
            entry.pending = .init(
                requestID: request.id,
                content: request.content,
                expiration: request.expiration,
                trace: request.trace,
                timer: .turn,
                due: now,
                isInDoubt: request.mayHaveBeenSent
            )
            return
        }
        deliver(
            request.id,
            request.key,
            request.content,
            request.trace,
            expiration: request.expiration,
            inDoubt: request.mayHaveBeenSent,
            in: &entry,
            at: now,
            &effects
        )
    }

    private func arm(
        _ request: Request,
        _ schedule: IntervalSchedule,
        replacing replaced: StateEntry.Pending?,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        let occurrence = schedule.firstOccurrence
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
            due: due,
            isInDoubt: request.mayHaveBeenSent && due <= now
        )
        if due <= now, entry.sending == nil, request.firesWhenDue {
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
        replacing replaced: StateEntry.Pending?,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
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
            due: due,
            isInDoubt: request.mayHaveBeenSent
        )
        emit(.held, of: request.id, closes: false, request, &effects) {
            $0.until = due
            $0.reason = .collapseWindow
            $0.replaces = replaced?.requestID
        }
    }

    // MARK: - Shared steps

    func horizon(_ now: Timestamp) -> Timestamp { Timestamp(rawValue: now.rawValue - retention) }

    /// Refuses an older version: it answers `superseded` and remembers the id.
    func isCurrent(
        _ version: Int64?,
        of id: RequestID,
        key: NotificationKey,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ trace: CarriedTrace,
        _ effects: inout Effects
    ) -> Bool {
        guard let version else { return true }
        if let newest = entry.version, version < newest.number {
            var event = DeliveryEvent(name: .superseded, requestID: id, key: key, closes: true)
            event.by = newest.by
            effects.events.append(Effect(event: event, trace: trace))
            close(id, in: &entry, at: now)
            return false
        }
        entry.version = .init(number: version, by: id)
        return true
    }

    func expire(
        _ id: RequestID,
        _ key: NotificationKey,
        _ trace: CarriedTrace,
        in entry: inout StateEntry,
        at now: Timestamp,
        _ effects: inout Effects
    ) {
        let event = DeliveryEvent(name: .expired, requestID: id, key: key, closes: true)
        effects.events.append(Effect(event: event, trace: trace))
        close(id, in: &entry, at: now)
    }

    func close(_ id: RequestID, in entry: inout StateEntry, at now: Timestamp) {
        entry.remember(id, at: now, since: horizon(now))
    }

    private func emit(
        _ name: DeliveryEventName,
        of id: RequestID,
        closes: Bool,
        _ request: Request,
        _ effects: inout Effects,
        _ fill: (inout DeliveryEvent) -> Void
    ) {
        var event = DeliveryEvent(name: name, requestID: id, key: request.key, closes: closes)
        fill(&event)
        effects.events.append(Effect(event: event, trace: request.trace))
    }
}

extension NotificationCenter.Handover {
    var isBySend: Bool {
        if case .bySend = self { true } else { false }
    }

    var channel: String {
        switch self {
        case .inEvent(let channel), .bySend(let channel): channel
        }
    }
}
