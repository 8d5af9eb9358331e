import NotificationModel
import NotificationState

/// Notifications that wait for a device to cross the boundary of a region.
extension Turn {
    /// A request with a location trigger waits, at most until its expiration.
    mutating func arm(
        _ request: CenterInput.Request,
        _ trigger: LocationTrigger,
        replacing replaced: StateEntry.Pending?
    ) {
        entry.pending = .init(
            requestID: request.id,
            content: request.content,
            expiration: request.expiration,
            trace: request.trace,
            timer: .region(.init(trigger: trigger)),
            due: request.expiration,
            channel: request.channel,
            limits: request.limits
        )
        publish(.scheduled, of: request.id, closes: false, request.trace) { $0.replaces = replaced?.requestID }
    }

    /// Applies a crossing to the notification that waits for it, and sends it unless something else must come first.
    ///
    /// Its nominal instant is when the fix was taken. Crossings of several devices may be read in another order: each is
    /// later than the one before by at least a millisecond, so that each has its own ids.
    ///
    /// - Parameter requestID: of the recipient's record.
    /// - Returns: whether the entry still waits for this request's region.
    mutating func cross(_ fix: CenterInput.Fix, for requestID: RequestID) -> Bool {
        guard let pending = entry.pending, pending.requestID == requestID, case .region(var wait) = pending.timer else {
            return false
        }
        // Read again after a restart: the entry contains its outcome.
        guard !entry.hasApplied(fix.position) else { return true }
        isChanged = true
        entry.noteApplied(fix.position)
        // What waits to be sent once is sent for its first crossing.
        guard wait.trigger.repeats || !wait.isCrossed else { return true }
        if wait.isCrossed, let last = wait.last {
            publish(.missed, of: requestID, closes: false, inDoubt: isInDoubt(pending), pending.trace) {
                $0.occurrence = last
                $0.first = last
                $0.last = last
                $0.count = 1
            }
        }
        wait.last = max(fix.fix.at, wait.last?.adding(milliseconds: 1) ?? fix.fix.at)
        wait.isCrossed = true
        entry.pending?.timer = .region(wait)
        entry.pending?.due = now
        cause = Cause(id: requestID, trace: pending.trace, time: fix.timestamp)
        if mayHaveBeenSent, rules.mayHaveBeenHandedOver(pending.channel), let waiting = entry.pending {
            doubt(waiting.showing, of: pending.content, on: pending.channel)
        }
        if !isInFlight, !holdsHandovers(by: pending.channel) { fire() }
        return entry.waitsForRegion
    }

    /// Sends what a crossing asked for. A repeating notification waits for the next one.
    mutating func fire(_ pending: StateEntry.Pending, _ wait: StateEntry.RegionWait) {
        // Only its expiration was due, and the clock went back since.
        guard wait.isCrossed, let crossing = wait.last else {
            entry.pending?.due = pending.expiration
            return
        }
        entry.pending = nil
        rearm(pending, wait, after: crossing)
        release(pending, occurrence: crossing, closes: !wait.trigger.repeats)
    }

    /// A repeating notification waits for the crossing after the last one.
    mutating func rearm(_ pending: StateEntry.Pending, _ wait: StateEntry.RegionWait, after crossing: Timestamp) {
        guard wait.trigger.repeats else { return }
        var next = pending
        next.timer = .region(.init(trigger: wait.trigger, last: crossing))
        (next.due, next.round) = (pending.expiration, 0)
        entry.pending = next
    }
}
