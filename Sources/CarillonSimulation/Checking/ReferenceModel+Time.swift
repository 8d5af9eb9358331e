import NotificationModel

/// The events that the clock and the misfire policy permit. `time` is the owner's clock when it published the event, which
/// is also the time of the decision or shortly after it. The model shares no code with the center.
extension ReferenceModel {
    /// By how many milliseconds an occurrence may be late for `next` and `drop`, and for a repeat without a policy.
    private static let onTimeGrace: Int64 = 10_000
    private static let repeatGrace: Int64 = 15 * 60 * 1000

    /// Why the event is not permitted at this time; nil if it is.
    ///
    /// - Parameter isDoubted: an event of the request was in doubt: an earlier owner, with another clock, may have sent an
    ///   occurrence.
    func objection(
        to event: DeliveryEvent,
        at time: Timestamp,
        usesChannel: Bool,
        isDoubted: Bool
    ) -> String? {
        guard let entry = requests[event.requestID] else { return nil }
        switch event.name {
        case .scheduled where entry.request.isOfRegion:
            return event.nextTriggerDate == nil ? nil : "a crossing has no date"
        case .scheduled:
            let due = due(entry, 1)
            return event.nextTriggerDate == due ? nil : "it is due at \(due)"
        case .held where event.reason == .quietHours:
            guard let until = event.until, entry.request.limits?.quiet?.isHold == true else { return "it is not held" }
            let latest = time.adding(milliseconds: 86_400_000)
            return time <= until && until <= latest ? nil : "it is not held until \(until)"
        case .held where event.reason == .digest:
            guard let until = event.until, entry.request.limits?.digestWindow != nil else {
                return "it asked for no digest"
            }
            // The window of the first member counts.
            let latest = time.adding(milliseconds: SimulatedLimits.longestWindow)
            return until <= latest ? nil : "no window is so long"
        case .held:
            guard let until = event.until else { return "it has no `until`" }
            let latest = time.adding(milliseconds: entry.request.collapseWindow)
            return time <= until && until <= latest ? nil : "it is not held beyond \(latest)"
        case .expired:
            return event.inDoubt ? nil : objection(toExpiryOf: entry, at: time, isDoubted)
        case .missed where entry.request.isOfRegion:
            guard entry.request.repeats, event.count == 1, event.first == event.last, event.first == event.occurrence
            else { return "it misses no crossing" }
            return fixes?.objection(to: event.first, of: entry.request, for: entry.record.key?.recipient ?? "")
        case .missed:
            return objection(toMissing: event, of: entry, at: time)
        case .delivered:
            // A send in doubt is repeated at any time, and with a channel the event follows the hand-over.
            let occurrence = entry.request.isOfRegion ? nil : event.occurrence
            return event.inDoubt || usesChannel ? nil : objection(toSendingOf: entry, occurrence, at: time)
        default:
            return nil
        }
    }

    /// When the k-th occurrence is due, counted from 1. A hash (FNV-1a) of the id and the instant selects the jitter.
    func due(_ entry: Request, _ occurrence: Int64) -> Timestamp {
        let anchor = entry.record.timestamp
        guard entry.request.isTimed else { return anchor }
        let nominal = entry.request.nominal(occurrence, from: anchor)
        let next = entry.request.nominal(occurrence + 1, from: anchor)
        let room = next.rawValue - nominal.rawValue - 1
        let spread = entry.request.repeats ? min(entry.request.jitter, room) : entry.request.jitter
        guard spread > 0, let id = entry.record.id else { return nominal }
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in id.text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ UInt64(bitPattern: nominal.rawValue)) &* 0x9e37_79b9_7f4a_7c15
        return nominal.adding(milliseconds: Int64((hash >> 16) % UInt64(spread + 1)))
    }

    /// The number of an occurrence, from 1; 0 for an instant without one.
    func number(of occurrence: Timestamp, _ entry: Request) -> Int64 {
        entry.request.number(of: occurrence, from: entry.record.timestamp) ?? 0
    }

    /// Why sending is not permitted at this time: too early, too late, or expired.
    func objection(toSendingOf entry: Request, _ occurrence: Timestamp?, at time: Timestamp) -> String? {
        if let expiration = entry.request.expiration, expiration <= time {
            return "it expired at \(expiration)"
        }
        guard let occurrence else { return nil }
        let due = due(entry, number(of: occurrence, entry))
        guard due <= time else { return "it is due at \(due)" }
        // It was due in time, and waited for its enrichment.
        if entry.request.isEnriched || entry.request.limits != nil { return nil }
        return isTooLate(entry, due, at: time) ? "it is too late for its policy, due at \(due)" : nil
    }

    private func isTooLate(_ entry: Request, _ due: Timestamp, at time: Timestamp) -> Bool {
        let late = time.rawValue - due.rawValue
        switch entry.request.misfire {
        case .once: return false
        case .next, .drop: return late > Self.onTimeGrace
        case nil: return entry.request.repeats && late >= Self.repeatGrace
        }
    }

    private func objection(toExpiryOf entry: Request, at time: Timestamp, _ isDoubted: Bool) -> String? {
        let request = entry.request
        if let expiration = request.expiration {
            if expiration <= time { return nil }
            // A request that expires before it is due expires immediately.
            let next: Timestamp
            if request.isTimed {
                let passed = request.passed(at: time, from: entry.record.timestamp)
                next = due(entry, request.repeats ? passed + (isDoubted ? 2 : 1) : 1)
            } else {
                next = time.adding(milliseconds: request.collapseWindow)
            }
            if expiration <= next { return nil }
        }
        if !request.repeats, request.isTimed, isTooLate(entry, due(entry, 1), at: time) { return nil }
        return "neither its expiration nor its policy permits that"
    }

    /// Each missed occurrence is too late for the policy, or the next occurrence is also due.
    private func objection(toMissing event: DeliveryEvent, of entry: Request, at time: Timestamp) -> String? {
        guard let first = event.first, let last = event.last, first <= last else { return "it misses nothing" }
        let (from, through) = (number(of: first, entry), number(of: last, entry))
        guard (1...through).contains(from) else { return "it misses what is no occurrence" }
        for occurrence in from...through {
            let own = due(entry, occurrence)
            if isTooLate(entry, own, at: time) { continue }
            guard entry.request.repeats, due(entry, occurrence + 1) <= time else {
                return "occurrence \(occurrence), due at \(own), is not missed yet"
            }
        }
        return nil
    }
}
