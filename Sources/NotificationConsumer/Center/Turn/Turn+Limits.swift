import NotificationModel
import NotificationState

/// Quiet hours, caps and digests of a recipient: what holds a notification back when it is due, or ends it.
extension Turn {
    /// Sends what is due, unless its limits hold it back or end it. A critical notification passes them all.
    ///
    /// - Parameters:
    ///   - pending: no longer in the entry, except as the next occurrence of a repeat.
    ///   - occurrence: the nominal instant of a trigger.
    ///   - closes: false for one occurrence of a repeat.
    mutating func release(_ pending: StateEntry.Pending, occurrence: Timestamp?, closes: Bool) {
        guard let limits = pending.limits else { return deliver(pending, occurrence: occurrence, closes: closes) }
        let facts = ContentFacts(pending.content)
        guard facts.level != .critical else { return deliver(pending, occurrence: occurrence, closes: closes) }
        if isSilenced(pending.limits, pending.content), !isOwed(pending) {
            return suppress(pending, .quietHours, occurrence, closes)
        }
        if let digest = limits.digest, closes, !isCollected(pending), !isOwed(pending),
            let group = digest.group(of: pending.content),
            // Without room for another one in the record it is sent by itself.
            recipient.digestBytes < rules.digestBytes,
            collect(pending, into: group, for: digest, occurrence: occurrence)
        {
            return
        }
        if let cap = limits.cap {
            // What no device may present ends without a count, and without an enrichment: a device that is registered meanwhile
            // would get it uncounted.
            guard isPresentable(facts, in: pending.content, on: pending.channel) else {
                stopEnrichment(of: pending)
                return handOver(handover(of: pending, occurrence: occurrence, closes: closes))
            }
            let category = facts.category?.string(in: pending.content) ?? ""
            let isRoom = recipient.count(category, within: cap, at: now, bytes: rules.recipientBytes / 2)
            // Also where it found no room: the category counts as used.
            isRecipientChanged = true
            // At least once: its count may be all that was committed of it.
            guard isRoom || isOwed(pending) else { return suppress(pending, .capped, occurrence, closes) }
        }
        deliver(pending, occurrence: occurrence, closes: closes)
    }

    private func isCollected(_ pending: StateEntry.Pending) -> Bool {
        if case .digest = pending.timer { true } else { false }
    }

    private mutating func suppress(
        _ pending: StateEntry.Pending,
        _ reason: ReasonCode,
        _ occurrence: Timestamp?,
        _ closes: Bool
    ) {
        stopEnrichment(of: pending)
        publish(.suppressed, of: pending.requestID, closes: closes, inDoubt: isInDoubt(pending), pending.trace) {
            $0.occurrence = occurrence
            $0.reason = reason
        }
        if closes { close(pending.requestID) }
    }

    // MARK: - Quiet hours

    /// Whether a content is not sent now because of quiet hours.
    func isSilenced(_ limits: DeliveryLimits?, _ content: ArraySlice<UInt8>) -> Bool {
        guard let quiet = limits?.quietHours, quiet.policy == .suppress, quietEnd(of: quiet, at: now) != nil else {
            return false
        }
        return ContentFacts(content).level != .critical
    }

    /// When quiet hours end that hold a content back now; nil when none do.
    func quietEnd(holding content: ArraySlice<UInt8>, _ limits: DeliveryLimits?) -> Timestamp? {
        guard let quiet = limits?.quietHours, quiet.policy == .hold, let end = quietEnd(of: quiet, at: now),
            ContentFacts(content).level != .critical
        else { return nil }
        return end
    }

    /// Until when quiet hours hold a notification back now; nil when they do not. One that expires first waits only until then.
    func heldUntil(_ pending: StateEntry.Pending) -> Timestamp? {
        guard !isOwed(pending), let end = quietEnd(holding: pending.content, pending.limits) else { return nil }
        return pending.expiration.map { min(end, max(now, $0)) } ?? end
    }

    /// Asks quiet hours before an attempt. They hold all that waits, or end the notification.
    ///
    /// - Returns: whether no attempt may begin now.
    mutating func isHeldBack(_ handover: StateEntry.Handover) -> Bool {
        guard handover.limits?.quietHours != nil, !handover.isClosed else { return false }
        if isSilenced(handover.limits, handover.content) {
            end(handover, as: .suppressed, handover.trace) { $0.reason = .quietHours }
            return true
        }
        guard var end = quietEnd(holding: handover.content, handover.limits), end > now else { return false }
        if let expiration = handover.expiration { end = min(end, max(now, expiration)) }
        guard end > now else { return false }
        let isPlanned = entry.screen?.isDelivering(handover.showing) ?? false
        entry.screen?.hold(handover.showing, until: end)
        entry.handover = handover
        if !isPlanned { entry.handover?.start = end }
        publishHeld(handover.showing, until: end, handover.trace)
        return true
    }

    /// Lets a due notification wait until the end of quiet hours. Its trigger stays: for a repeat the occurrence is only later.
    mutating func hold(_ pending: StateEntry.Pending, until end: Timestamp) {
        entry.pending?.due = end
        if case .turn = pending.timer { entry.pending?.timer = .held }
        if pending.preparation != nil {
            // A result would be kept in memory until then, and be old.
            stopEnrichment(of: pending)
            entry.pending?.preparation = nil
            planPreparation()
        }
        publishHeld(pending.showing, until: end, pending.trace)
    }

    private mutating func publishHeld(_ showing: Showing, until end: Timestamp, _ trace: CarriedTrace) {
        publish(.held, of: showing.requestID, closes: false, trace) {
            $0.occurrence = showing.occurrence
            $0.until = end
            $0.reason = .quietHours
        }
    }

    /// - Returns: nil when it is not quiet at an instant.
    func quietEnd(of quiet: QuietHours, at instant: Timestamp) -> Timestamp? {
        rules.zones.flatMap { quiet.end(containing: instant, in: $0, local: recipient.timeZone) }
    }

    // MARK: - Digests

    /// - Returns: false when the digest is full.
    private mutating func collect(
        _ pending: StateEntry.Pending,
        into group: String,
        for digest: DigestPolicy,
        occurrence: Timestamp?
    ) -> Bool {
        guard let until = recipient.collect(key.identifier, into: group, for: digest, at: now) else { return false }
        isRecipientChanged = true
        var waiting = pending
        (waiting.timer, waiting.preparation) = (.digest(occurrence: occurrence), nil)
        waiting.due = pending.expiration.map { min(until, $0) } ?? until
        stopEnrichment(of: pending)
        entry.pending = waiting
        publish(.held, of: pending.requestID, closes: false, pending.trace) {
            $0.occurrence = occurrence
            $0.until = until
            $0.reason = .digest
        }
        return true
    }

    /// A member of a digest waits no more.
    mutating func leaveDigest(_ pending: StateEntry.Pending) {
        guard case .digest = pending.timer, let group = pending.limits?.digest?.group(of: pending.content),
            recipient.leaveDigest(key.identifier, of: group)
        else { return }
        isRecipientChanged = true
    }

    /// A member of a digest waits until the end of quiet hours.
    mutating func postpone(until end: Timestamp) {
        guard let pending = entry.pending else { return }
        let due = pending.expiration.map { min(end, $0) } ?? end
        guard pending.due != due else { return }
        isChanged = true
        entry.pending?.due = due
        publishHeld(pending.showing, until: due, pending.trace)
    }

    /// Ends a member whose content is in a digest.
    mutating func fold(into id: RequestID) {
        guard let pending = entry.pending else { return }
        isChanged = true
        entry.pending = nil
        cause = Cause(id: id, trace: pending.trace, time: pending.due)
        publish(.digested, of: pending.requestID, closes: true, inDoubt: isInDoubt(pending), pending.trace) {
            $0.occurrence = pending.occurrence
            $0.into = id
        }
        close(pending.requestID)
    }

    /// Sends a digest. A member that would have been sent before it ends like a pending one.
    mutating func send(_ digest: StateEntry.Pending) {
        isChanged = true
        if let replaced = entry.pending {
            publish(.superseded, of: replaced.requestID, closes: true, digest.trace) { $0.by = digest.requestID }
            close(replaced.requestID)
            drop(replaced)
        }
        entry.pending = digest
        if mayHaveBeenSent, rules.mayHaveBeenHandedOver(digest.channel) {
            doubt(digest.showing, of: digest.content, on: digest.channel)
        }
        if !isInFlight, !holdsSends(by: digest.channel) { fire() }
    }
}
