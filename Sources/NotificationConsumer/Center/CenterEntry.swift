import NotificationModel

/// What the centre keeps of one identifier: the slice that a request or removal of that identifier can touch.
struct CenterEntry: Sendable {
    /// Scheduled or held back, not sent.
    var pending: Pending?
    /// In the recipient's notification centre. A repeating request can be in both.
    var delivered: Delivered?
    /// Closed requests, and removals, that a repeated record would name again.
    var known = KnownRequests()
    /// The highest `version` seen, and who brought it.
    var version: (number: Int64, by: RequestID)?

    struct Pending: Sendable {
        var requestID: RequestID
        /// The raw JSON object, as requested.
        var content: ArraySlice<UInt8>
        var expiration: Timestamp?
        var trace: CarriedTrace
        var timer: Timer
        /// When it is handed over: never before this instant.
        var due: Timestamp
    }

    enum Timer: Sendable {
        /// A collapse window: newer requests replace the content, the end stays.
        case held
        /// The next nominal instant of a time interval.
        case interval(IntervalSchedule, occurrence: Timestamp)
    }

    struct Delivered: Sendable {
        var requestID: RequestID
        var at: Timestamp
    }

    /// True when a record with this id was applied before: pending, delivered, or closed and not yet forgotten.
    func knows(_ id: RequestID, since horizon: Timestamp) -> Bool {
        pending?.requestID == id || delivered?.requestID == id || known.contains(id, since: horizon)
    }

    /// When what is pending is due.
    var due: Timestamp? { pending?.due }

    /// True when the entry says nothing any more.
    var isEmpty: Bool { pending == nil && delivered == nil && known.isEmpty && version == nil }
}

/// The trace headers of the record that caused an event, carried byte for byte: who published it has checked them.
package struct CarriedTrace: Hashable, Sendable {
    package var traceparent: [UInt8]?
    package var tracestate: [UInt8]?

    package static let none = CarriedTrace()

    package init(traceparent: [UInt8]? = nil, tracestate: [UInt8]? = nil) {
        (self.traceparent, self.tracestate) = (traceparent, tracestate)
    }
}

/// The newest closed request ids of one identifier, bounded by count and, when asked, by time.
struct KnownRequests: Sendable {
    /// The oldest are forgotten beyond this many; a repeat of one that old counts as a new request.
    static let maximumCount = 128

    private var ids: [(id: RequestID, closed: Timestamp)] = []

    var isEmpty: Bool { ids.isEmpty }

    func contains(_ id: RequestID, since horizon: Timestamp) -> Bool {
        ids.contains { $0.id == id && $0.closed >= horizon }
    }

    mutating func insert(_ id: RequestID, at now: Timestamp, since horizon: Timestamp) {
        // Both ends in one pass, so the common case moves nothing.
        if let first = ids.first, ids.count >= Self.maximumCount || first.closed < horizon {
            ids.removeAll { $0.closed < horizon }
            if ids.count >= Self.maximumCount { ids.removeFirst(Self.maximumCount / 4) }
        }
        ids.append((id, now))
    }
}
