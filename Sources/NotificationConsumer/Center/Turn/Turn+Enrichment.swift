import NotificationDelivery
import NotificationModel
import NotificationState

/// Enrichment: a notification that asks for it waits, at most until the end of a stated time, before its first attempt. The
/// work itself is not known here; each piece is answered once, or its time passes.
extension Turn {
    /// Whether pending content is enriched before it is sent.
    private func isEnriched(_ content: ArraySlice<UInt8>) -> Bool {
        rules.enrichment != nil && NotificationContent.asksForEnrichment(content)
    }

    // MARK: - When it is due

    /// Begins the enrichment of a notification that is due, and lets it wait.
    mutating func enrich(_ handover: StateEntry.Handover) {
        guard let times = rules.enrichment else { return handOver(handover) }
        let end = now.adding(milliseconds: times.deadline)
        wait(handover, until: end)
        requestEnrichment(of: handover, until: end)
    }

    /// Sends a notification that was pending, with what its enrichment has given so far.
    ///
    /// - Parameter preparation: the enrichment that began before it was due.
    mutating func deliver(_ handover: StateEntry.Handover, preparedBy preparation: StateEntry.Preparation?) {
        switch preparation {
        case .ended(let result)?: finish(handover, with: result)
        case .until(let end)?: wait(handover, until: end)
        case .at?: enrich(handover)
        case nil: if isEnriched(handover.content) { enrich(handover) } else { handOver(handover) }
        }
    }

    private mutating func wait(_ handover: StateEntry.Handover, until end: Timestamp) {
        var handover = handover
        (handover.start, handover.enrichment) = (end, .until(end))
        entry.handover = handover
    }

    /// The time of a handover that waits for its enrichment has passed, or this process has not begun the enrichment.
    mutating func continueEnrichment(of handover: StateEntry.Handover, until end: Timestamp) {
        guard rules.enrichment != nil, now < end else {
            stopEnrichment(of: handover)
            return finish(handover, with: .gaveUp)
        }
        entry.handover?.start = end
        requestEnrichment(of: handover, until: end)
    }

    private mutating func requestEnrichment(of handover: StateEntry.Handover, until end: Timestamp) {
        let showing = handover.showing
        requestEnrichment(of: showing.requestID, showing.occurrence, handover.content, handover.trace, until: end)
    }

    private mutating func requestEnrichment(
        of id: RequestID,
        _ occurrence: Timestamp?,
        _ content: ArraySlice<UInt8>,
        _ trace: CarriedTrace,
        until end: Timestamp
    ) {
        var work = EnrichmentWork(key: key, requestID: id, occurrence: occurrence, content: content, end: end)
        if rules.isTraced { work.trace = trace }
        effects.append(.enrich(work))
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
        requestEnrichment(of: pending.requestID, next, pending.content, pending.trace, until: end)
    }

    // MARK: - Its end

    /// Applies the result of an enrichment.
    ///
    /// - Returns: false when the entry does not wait for it: it is late.
    mutating func apply(_ result: EnrichedContent, of requestID: RequestID) -> Bool {
        if let handover = entry.handover, handover.showing.requestID == requestID, handover.isBeingEnriched {
            isChanged = true
            cause = .wait(of: handover)
            if hasExpired(handover) { expire(handover) } else { finish(handover, with: result) }
            return true
        }
        guard let pending = entry.pending, pending.requestID == requestID, case .until? = pending.preparation else {
            return false
        }
        entry.pending?.preparation = .ended(result)
        return true
    }

    /// Sends a notification with the result of its enrichment, unless that forbids it.
    private mutating func finish(_ handover: StateEntry.Handover, with result: EnrichedContent) {
        var handover = handover
        handover.enrichment = .ended(report: result.report)
        switch result.verdict {
        case .withheld: return end(handover, as: .suppressed, handover.trace) { $0.reason = .notEnriched }
        // Larger content fits no event.
        case .modified(let content) where content.count <= rules.contentBytes: handover.content = content
        case .modified, .original: break
        }
        entry.handover = nil
        guard !holdsHandovers(by: handover.channel) else {
            handover.start = now
            entry.handover = handover
            return
        }
        if !isHeldBack(handover) { handOver(handover) }
    }

    /// Nobody needs the result any more.
    mutating func stopEnrichment(of handover: StateEntry.Handover) {
        guard handover.isBeingEnriched else { return }
        effects.append(.stopEnrichment(handover.showing.requestID, key))
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
