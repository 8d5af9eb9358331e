import NotificationModel

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
        if isSilenced(pending) { return suppress(pending, .quietHours, occurrence, closes) }
        if let digest = limits.digest, closes, !isCollected(pending), let group = digest.group(of: pending.content),
            // Without room for another one in the record it is sent by itself.
            recipient.bytes < rules.recipientBytes,
            collect(pending, into: group, for: digest, occurrence: occurrence)
        {
            return
        }
        // What no device may present ends without a count.
        if let cap = limits.cap, isPresentable(facts) {
            let category = facts.category?.string(in: pending.content) ?? ""
            let isRoom = recipient.count(category, within: cap, at: now, bytes: rules.recipientBytes / 2)
            // Also where it found no room: the category counts as used.
            isRecipientChanged = true
            // At least once: its count may be all that was committed of it.
            let isOwed = pending.isInDoubt && rules.repeatsEvents
            guard isRoom || isOwed else { return suppress(pending, .capped, occurrence, closes) }
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
        publish(.suppressed, of: pending.requestID, closes: closes, inDoubt: pending.isInDoubt, pending.trace) {
            $0.occurrence = occurrence
            $0.reason = reason
        }
        if closes { close(pending.requestID) }
        recallIfInDoubt(pending, by: pending.requestID)
    }

    /// A device may show what is not sent again.
    private mutating func recallIfInDoubt(_ pending: StateEntry.Pending, by id: RequestID) {
        guard pending.isInDoubt else { return }
        recall(Doubt(channel: pending.channel), by: id, pending.trace)
    }

    // MARK: - Quiet hours

    /// Whether it is not sent because of quiet hours.
    func isSilenced(_ pending: StateEntry.Pending) -> Bool {
        guard let quiet = pending.limits?.quietHours, quiet.policy == .suppress, quietEnd(of: quiet) != nil else {
            return false
        }
        return ContentFacts(pending.content).level != .critical
    }

    /// When quiet hours end that hold a notification back now; nil when none do.
    func heldUntil(_ pending: StateEntry.Pending) -> Timestamp? {
        guard let end = quietEnd(holding: pending) else { return nil }
        // One in doubt is sent even if it has expired.
        guard let expiration = pending.expiration, !pending.isInDoubt else { return end }
        return min(end, max(now, expiration))
    }

    /// When quiet hours end that hold a notification back now, whenever it expires.
    func quietEnd(holding pending: StateEntry.Pending) -> Timestamp? {
        guard let quiet = pending.limits?.quietHours, quiet.policy == .hold, let end = quietEnd(of: quiet),
            ContentFacts(pending.content).level != .critical
        else { return nil }
        return end
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
        noteHeld(pending, until: end)
    }

    private mutating func noteHeld(_ pending: StateEntry.Pending, until end: Timestamp) {
        publish(.held, of: pending.requestID, closes: false, pending.trace) {
            switch pending.timer {
            case .scheduled(_, let occurrence): $0.occurrence = occurrence
            case .digest(let occurrence): $0.occurrence = occurrence
            case .region(let wait): $0.occurrence = wait.last
            case .held, .turn: break
            }
            $0.until = end
            $0.reason = .quietHours
        }
    }

    /// - Returns: nil when it is not quiet now.
    func quietEnd(of quiet: QuietHours) -> Timestamp? {
        guard let zones = rules.zones else { return nil }
        let named = quiet.timeZone ?? recipient.timeZone
        let zone = named.flatMap { try? zones.database.rules(named: $0) } ?? zones.standard
        return quiet.end(containing: now, in: zone)
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

    /// The digest of a member is sent later.
    ///
    /// - Parameter isQuiet: because of quiet hours; otherwise the digest before it is still being sent.
    mutating func postpone(until end: Timestamp, isQuiet: Bool) {
        guard let pending = entry.pending else { return }
        let due = pending.expiration.map { min(end, $0) } ?? end
        guard pending.due != due else { return }
        isChanged = true
        entry.pending?.due = due
        if isQuiet { noteHeld(pending, until: due) }
    }

    /// Ends a member whose content is in a digest.
    mutating func fold(into id: RequestID) {
        guard let pending = entry.pending else { return }
        isChanged = true
        entry.pending = nil
        publish(.digested, of: pending.requestID, closes: true, inDoubt: pending.isInDoubt, pending.trace) {
            if case .digest(let occurrence) = pending.timer { $0.occurrence = occurrence }
            $0.into = id
        }
        close(pending.requestID)
        recallIfInDoubt(pending, by: id)
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
        if entry.sending == nil, !holdSend(by: digest.channel) { fire() }
    }
}
