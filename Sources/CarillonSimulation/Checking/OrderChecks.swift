import NotificationModel

/// The order of the events of one key: in `exactly-once` of all events; without transactions of those of each owner, because a new one
/// repeats the work since the last marker.
struct OrderChecks {
    private struct Line: Hashable {
        var key: NotificationKey
        var writer: ProducerStamp?
        /// One process may own a partition again, after another one.
        var generation: Int?
    }

    /// The request and occurrence that were delivered last.
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
    private var suppressed: [Line: Set<RequestID>] = [:]

    init(isExactlyOnce: Bool, usesChannel: Bool) {
        (self.isExactlyOnce, self.usesChannel) = (isExactlyOnce, usesChannel)
    }

    mutating func take(_ observed: ObservedEvent, _ model: ReferenceModel) throws(Violation) {
        var line = Line(key: observed.event.key)
        if !isExactlyOnce { (line.writer, line.generation) = (observed.writer, observed.generation) }
        if observed.event.name == .suppressed { suppressed[line, default: []].insert(observed.event.requestID) }
        try checkDelivery(observed, line, model)
        // With a channel the event of a send in flight may come after the events of later requests.
        if !usesChannel { try checkApplied(observed, line, model) }
    }

    /// An older request, or an earlier occurrence, is never delivered after a newer one.
    private mutating func checkDelivery(_ observed: ObservedEvent, _ line: Line, _ model: ReferenceModel)
        throws(Violation)
    {
        guard observed.event.name == .delivered, let request = model.requests[observed.event.requestID] else { return }
        let last = Last(offset: request.record.offset, occurrence: observed.event.occurrence?.rawValue ?? 0)
        if let before = delivered[line], last < before {
            throw Violation(.order, "\(observed.text), after the request at offset \(before.offset)")
        }
        delivered[line] = last
    }

    /// The applied offset that events show only increases, and no request is delivered that a later input had replaced or
    /// removed.
    private mutating func checkApplied(_ observed: ObservedEvent, _ line: Line, _ model: ReferenceModel)
        throws(Violation)
    {
        let reached = applied[line] ?? -1
        guard let shown = shown(by: observed.event, model) else { return }
        let id = observed.event.requestID
        let isOfOther = !isExactlyOnce && suppressed[line]?.contains(id) != true
        if shown < reached, model.requests[id]?.record.offset == shown,
            model.mayWait(line.key, before: reached + 1, restored: isOfOther ? id : nil) == id
        {
            // It is still pending: the later input was a removal of delivered notifications.
            return
        }
        guard shown >= reached else {
            throw Violation(.order, "\(observed.text) shows offset \(shown) after \(reached)")
        }
        applied[line] = shown
    }

    /// The offset up to which the log was applied when the event was decided; nil if the event does not show it.
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
