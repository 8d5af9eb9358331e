import NotificationDelivery
import NotificationModel
import NotificationState

/// What a new owner makes of an entry.
extension Turn {
    /// Marks what was pending up to an instant, or under way, as possibly on the devices. What was under way goes on.
    mutating func putInDoubt(through instant: Timestamp) {
        isChanged = true
        entry.screen?.restart(at: now, mayHaveBegunThrough: instant)
        readFormer()
        if let pending = entry.pending, let due = pending.due, due <= instant, mayHaveFired(pending),
            rules.mayHaveBeenHandedOver(pending.channel)
        {
            doubt(pending.showing, of: pending.content, on: pending.channel)
        }
        // It was due when it was queued, by a clock that may have been ahead.
        if let pending = entry.pending, case .turn = pending.timer, let due = pending.due {
            entry.pending?.due = min(due, now)
        }
        if let handover = entry.handover, let start = handover.start {
            // Its enrichment may have ended, and the notification may have been handed over.
            let mayHaveBegun = handover.isBeingEnriched || start <= instant
            if mayHaveBegun, rules.mayHaveBeenHandedOver(handover.channel) {
                doubt(handover.showing, of: handover.content, on: handover.channel)
            }
            entry.handover?.start = min(start, now)
        }
    }

    /// Whether what was due may have been sent: until a boundary is crossed, only the expiration is due.
    private func mayHaveFired(_ pending: StateEntry.Pending) -> Bool {
        // What is held until its expiration was not to be sent.
        guard pending.due != pending.expiration else { return false }
        guard case .region(let wait) = pending.timer else { return true }
        return wait.isCrossed
    }

    /// Makes a screen of what an older version wrote.
    private mutating func readFormer() {
        guard let former = entry.former else { return }
        entry.former = nil
        if former.isPendingInDoubt, let pending = entry.pending { doubtFormer(pending) }
        for removal in former.removals where rules.channels.isSent(removal.channel) {
            let channel = rules.channels.route(of: removal.channel)
            list(removal.devices, on: channel)
            for place in entry.screen?.targets.indices ?? 0..<0 {
                guard let target = entry.screen?.targets[place], target.channel == channel,
                    target.device.map(removal.devices.containsUTF8) ?? removal.devices.isEmpty
                else { continue }
                // What it shows is not known: only that it must be removed.
                entry.screen?.targets[place].doubt(removal.cause)
            }
        }
        guard let handover = entry.handover, let attempt = former.attempt, rules.channels.isSent(handover.channel)
        else {
            return
        }
        listTargets(of: handover)
        let place = entry.applied[.requests]
        var operation = ScreenOperation(
            .show(handover.showing),
            channel: rules.channels.route(of: handover.channel),
            devices: handover.devices ?? [],
            at: now,
            sequence: OperationSequence(life: place.life, offset: place.offset, time: handover.time),
            trace: handover.trace
        )
        (operation.attempt, operation.begun) = (attempt.number, attempt.begun)
        switch attempt.phase {
        case .inFlight(let since):
            (operation.begun, operation.attempt) = (operation.begun ?? since, attempt.number + 1)
            entry.screen?.note(.unanswered, of: operation)
        case .waiting(let until):
            operation.phase = .waiting(until: until)
            if attempt.isTried { operation.attempt += 1 }
        }
        if former.isHandoverInDoubt { entry.screen?.note(.unanswered, of: operation) }
        entry.screen?.operations.append(operation)
    }

    private mutating func doubtFormer(_ pending: StateEntry.Pending) {
        let isDoubtFormer = conditions.isDoubtFormer
        conditions.isDoubtFormer = true
        doubt(pending.showing, of: pending.content, on: pending.channel)
        conditions.isDoubtFormer = isDoubtFormer
    }

    /// Whether an occurrence may have been sent under the ids of an older version.
    func isFormer(_ showing: Showing) -> Bool {
        entry.screen?.targets.contains { target in
            target.maybes.contains { $0.isFormer && $0.isSameOccurrence(as: showing) }
        } ?? false
    }
}
