import NotificationModel

/// The order in which events of one key come: in `exactly-once` over all, without transactions within what one producer
/// wrote, since an owner that begins again repeats what it finds no marker of.
struct OrderChecks {
    private struct Line: Hashable {
        var key: NotificationKey
        var writer: ProducerStamp?
    }

    /// Of the request that was delivered last.
    private struct Last: Comparable {
        var offset: Int64
        var occurrence: Int64

        static func < (a: Self, b: Self) -> Bool { (a.offset, a.occurrence) < (b.offset, b.occurrence) }
    }

    let isExactlyOnce: Bool
    let usesChannel: Bool
    /// The largest offset of an input that an event shows to be applied.
    private var applied: [Line: Int64] = [:]
    private var delivered: [Line: Last] = [:]

    init(isExactlyOnce: Bool, usesChannel: Bool) {
        (self.isExactlyOnce, self.usesChannel) = (isExactlyOnce, usesChannel)
    }

    mutating func take(_ observed: ObservedEvent, _ model: ReferenceModel) throws(Violation) {
        let line = Line(key: observed.event.key, writer: isExactlyOnce ? nil : observed.writer)
        try checkDelivery(observed, line, model)
        // With a channel the answer to what is in flight comes after what follows it.
        if !usesChannel { try checkApplied(observed, line, model) }
    }

    /// What people see never goes back to an older request, or an earlier occurrence.
    private mutating func checkDelivery(_ observed: ObservedEvent, _ line: Line, _ model: ReferenceModel)
        throws(Violation)
    {
        guard observed.event.name == .delivered, let request = model.requests[observed.event.requestID] else { return }
        let last = Last(offset: request.record.offset, occurrence: observed.event.occurrence?.rawValue ?? 0)
        if let before = delivered[line], last < before {
            throw Violation(.order, "\(observed.text), after what came with offset \(before.offset)")
        }
        delivered[line] = last
    }

    /// What an event shows to be applied goes forward in the log, and nothing is delivered that it took away.
    private mutating func checkApplied(_ observed: ObservedEvent, _ line: Line, _ model: ReferenceModel)
        throws(Violation)
    {
        let reached = applied[line] ?? -1
        guard let shown = shown(by: observed.event, model) else { return }
        if shown < reached, model.requests[observed.event.requestID]?.record.offset == shown,
            model.mayWait(line.key, before: reached + 1) == observed.event.requestID
        {
            // It waits still: a removal of what was delivered took nothing of it.
            return
        }
        guard shown >= reached else {
            throw Violation(.order, "\(observed.text) tells of offset \(shown) after \(reached)")
        }
        applied[line] = shown
    }

    /// Up to which input the log is applied where the event comes about; nil where it does not say.
    private func shown(by event: DeliveryEvent, _ model: ReferenceModel) -> Int64? {
        if let request = model.requests[event.requestID] {
            switch event.name {
            case .scheduled, .held, .delivered, .missed, .expired: return request.record.offset
            case .superseded:
                return request.isOutdatedBy == nil
                    ? event.by.flatMap { model.requests[$0]?.record.offset } : request.record.offset
            default: break
            }
        }
        guard event.name == .cancelled || event.name == .removed, let by = event.by else { return nil }
        return model.removals[by]?.offset
    }
}
