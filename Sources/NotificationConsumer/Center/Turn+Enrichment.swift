import NotificationModel

/// Enrichment: a notification that asks for it waits, at most until the end of a stated time, before its first attempt. The
/// work itself is not known here; each piece is answered once, or its time passes.
extension Turn {
    /// Whether pending content is enriched before it is sent.
    private func isEnriched(_ content: ArraySlice<UInt8>) -> Bool {
        rules.enrichment != nil && NotificationContent.asksForEnrichment(content)
    }

    // MARK: - When it is due

    /// Begins the enrichment of a notification that is due, and lets it wait.
    mutating func enrich(_ sending: StateEntry.Sending) {
        guard let times = rules.enrichment, let content = sending.content else { return handOver(sending) }
        let end = now.adding(milliseconds: times.deadline)
        wait(sending, until: end)
        requestEnrichment(of: sending.requestID, sending.occurrence, content, until: end)
    }

    /// Sends a notification that was pending, with what its enrichment has given so far.
    ///
    /// - Parameter preparation: the enrichment that began before it was due.
    mutating func deliver(_ sending: StateEntry.Sending, preparedBy preparation: StateEntry.Preparation?) {
        switch preparation {
        case .ended(let result)?: finish(sending, with: result)
        case .until(let end)?: wait(sending, until: end)
        case .at?: enrich(sending)
        case nil:
            guard let content = sending.content, isEnriched(content) else { return handOver(sending) }
            enrich(sending)
        }
    }

    private mutating func wait(_ sending: StateEntry.Sending, until end: Timestamp) {
        var sending = sending
        (sending.phase, sending.isDeferred, sending.enrichment) = (.waiting(until: end), true, .until(end))
        entry.sending = sending
    }

    /// The time of a send that waits for its enrichment has passed, or this process has not begun the enrichment.
    mutating func continueEnrichment(of sending: StateEntry.Sending, until end: Timestamp) {
        if let expiration = sending.expiration, expiration <= now {
            stopEnrichment(of: sending)
            entry.sending = nil
            return endUnlessCancelled(.expired, sending)
        }
        guard rules.enrichment != nil, now < end, let content = sending.content else {
            stopEnrichment(of: sending)
            entry.sending = nil
            return finish(sending, with: .gaveUp)
        }
        entry.sending?.phase = .waiting(until: end)
        requestEnrichment(of: sending.requestID, sending.occurrence, content, until: end)
    }

    private mutating func requestEnrichment(
        of id: RequestID,
        _ occurrence: Timestamp?,
        _ content: ArraySlice<UInt8>,
        until end: Timestamp
    ) {
        effects.append(.enrich(.init(key: key, requestID: id, occurrence: occurrence, content: content, end: end)))
    }

    // MARK: - Before it is due

    /// Plans the enrichment of a notification with a time, ahead of it.
    mutating func planPreparation() {
        entry.planPreparation(rules)
    }

    /// Begins an enrichment ahead of the due time.
    mutating func prepare(_ pending: StateEntry.Pending) {
        guard let times = rules.enrichment else { return }
        let end = now.adding(milliseconds: times.deadline)
        entry.pending?.preparation = .until(end)
        var next: Timestamp?
        if case .scheduled(_, let occurrence) = pending.timer { next = occurrence }
        requestEnrichment(of: pending.requestID, next, pending.content, until: end)
    }

    // MARK: - Its end

    /// Applies the result of an enrichment.
    ///
    /// - Returns: false when the entry does not wait for it: it is late.
    mutating func apply(_ result: EnrichedContent, of requestID: RequestID) -> Bool {
        if let sending = entry.sending, sending.requestID == requestID, sending.isBeingEnriched {
            isChanged = true
            entry.sending = nil
            if let expiration = sending.expiration, expiration <= now {
                endUnlessCancelled(.expired, sending)
            } else {
                finish(sending, with: result)
            }
            return true
        }
        guard let pending = entry.pending, pending.requestID == requestID, case .until? = pending.preparation else {
            return false
        }
        entry.pending?.preparation = .ended(result)
        return true
    }

    /// Sends a notification with the result of its enrichment, unless that forbids it.
    private mutating func finish(_ sending: StateEntry.Sending, with result: EnrichedContent) {
        var sending = sending
        sending.enrichment = .ended(report: result.report)
        switch result.verdict {
        case .withheld: return endUnlessCancelled(.suppressed, sending) { $0.reason = .notEnriched }
        // Larger content fits no event.
        case .modified(let content) where content.count <= rules.contentBytes: sending.content = content
        case .modified, .original: break
        }
        guard !holdsTimers, !holdSend(by: sending.channel) else {
            (sending.phase, sending.isDeferred) = (.waiting(until: now), true)
            entry.sending = sending
            return
        }
        (sending.phase, sending.isDeferred) = (.inFlight(since: now), false)
        handOver(sending)
    }

    /// Nobody needs the result any more.
    mutating func stopEnrichment(of sending: StateEntry.Sending) {
        guard sending.isBeingEnriched else { return }
        effects.append(.stopEnrichment(sending.requestID, key))
    }

    /// Nobody needs the result any more.
    mutating func stopEnrichment(of pending: StateEntry.Pending) {
        guard case .until? = pending.preparation else { return }
        effects.append(.stopEnrichment(pending.requestID, key))
    }
}

extension StateEntry {
    /// Plans the enrichment of a notification with a time: ahead of it, so that the send is on time.
    mutating func planPreparation(_ rules: LifecycleRules) {
        guard let times = rules.enrichment, let pending, case .scheduled = pending.timer, let due = pending.due,
            NotificationContent.asksForEnrichment(pending.content)
        else { return }
        self.pending?.preparation = .at(due.adding(milliseconds: -times.lead))
    }
}

extension EnrichedContent {
    /// The time has passed without a result.
    static let gaveUp = EnrichedContent(
        .original,
        report: ArraySlice(Array(#"{"content":"original","reason":"gave-up"}"#.utf8))
    )
}
