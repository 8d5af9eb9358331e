/// What a notification centre keeps of one identifier, as the topic `state` carries it under the notification's key.
///
/// It is internal to the consumer service. Readers pass over fields they do not know, and refuse a newer `form`.
public struct StateEntry: Sendable, Hashable {
    /// The form this version writes.
    public static let currentForm = 1

    /// Scheduled or held back, not sent.
    public var pending: Pending?
    /// Handed to a channel whose answer is awaited, or between two attempts.
    public var sending: Sending?
    /// In the recipient's notification centre. A repeating request can be in both.
    public var delivered: Delivered?
    /// Closed requests, and removals, that a repeated record would name again; the newest last.
    public var known: [KnownRequest] = []
    /// Of a recipient's own entry, which has an empty identifier: removals of everything the recipient has; the newest last.
    public var removals: [KnownRemoval] = []
    /// The highest `version` seen, and who brought it.
    public var version: Version?
    /// The offset of the last record of `requests` that was applied to it; -1 for none. Up to it, reading again changes nothing.
    public var appliedThrough: Int64 = -1
    /// Which life of `requests` that offset is of: 0, and one more each time the topic was found to have begun again.
    public var life: Int64 = 0
    /// When something was last applied to it.
    public var touched = Timestamp(rawValue: 0)

    /// An entry that says nothing.
    public init() {}

    /// A notification that waits.
    public struct Pending: Sendable, Hashable {
        /// The request.
        public var requestID: RequestID
        /// The raw JSON object, as requested.
        public var content: ArraySlice<UInt8>
        /// After it the notification is not sent any more.
        public var expiration: Timestamp?
        /// The trace of the record that asked for it.
        public var trace: CarriedTrace
        /// What it waits for.
        public var timer: Timer
        /// When it is handed over: never before this instant.
        public var due: Timestamp
        /// It may have been sent by an owner that could not tell any more.
        public var isInDoubt: Bool

        /// A notification that waits until `due`.
        public init(
            requestID: RequestID,
            content: ArraySlice<UInt8>,
            expiration: Timestamp?,
            trace: CarriedTrace,
            timer: Timer,
            due: Timestamp,
            isInDoubt: Bool = false
        ) {
            self.requestID = requestID
            self.content = content
            self.expiration = expiration
            self.trace = trace
            self.timer = timer
            self.due = due
            self.isInDoubt = isInDoubt
        }
    }

    /// What a pending notification waits for.
    public enum Timer: Sendable, Hashable {
        /// The end of a collapse window: newer requests replace the content, the end stays.
        case held
        /// The end of a send of the same identifier that is under way.
        case turn
        /// The next nominal instant of a time interval.
        case interval(IntervalSchedule, occurrence: Timestamp)
    }

    /// A notification, or a recall, that a channel has.
    public struct Sending: Sendable, Hashable {
        /// Where a send is.
        public enum Phase: Sendable, Hashable {
            /// The channel has it, since then.
            case inFlight(since: Timestamp)
            /// The channel failed; the next attempt is at that instant.
            case waiting(until: Timestamp)
        }

        /// The request.
        public var requestID: RequestID
        /// The nominal instant of the trigger.
        public var occurrence: Timestamp?
        /// The raw JSON object; nil for a recall.
        public var content: ArraySlice<UInt8>?
        /// After it no further attempt is made.
        public var expiration: Timestamp?
        /// The trace of the record that asked for it.
        public var trace: CarriedTrace
        /// Whether its end is the end of the request: not so for one occurrence of a repeat.
        public var closes: Bool
        /// From 1.
        public var attempt: Int
        /// Where it is.
        public var phase: Phase
        /// It may have been sent by an owner that could not tell any more.
        public var isInDoubt: Bool
        /// A removal of what is pending came while it was in flight; it is answered at the end.
        public var cancelledBy: RequestID?
        /// A removal of what is delivered came while it was in flight; it is carried out at the end.
        public var recalledBy: RequestID?

        /// A send that begins.
        public init(
            requestID: RequestID,
            occurrence: Timestamp?,
            content: ArraySlice<UInt8>?,
            expiration: Timestamp?,
            trace: CarriedTrace,
            closes: Bool,
            attempt: Int = 1,
            phase: Phase,
            isInDoubt: Bool = false,
            cancelledBy: RequestID? = nil,
            recalledBy: RequestID? = nil
        ) {
            self.requestID = requestID
            self.occurrence = occurrence
            self.content = content
            self.expiration = expiration
            self.trace = trace
            self.closes = closes
            self.attempt = attempt
            self.phase = phase
            self.isInDoubt = isInDoubt
            self.cancelledBy = cancelledBy
            self.recalledBy = recalledBy
        }
    }

    /// What a device shows.
    public struct Delivered: Sendable, Hashable {
        /// The request.
        public var requestID: RequestID
        /// The nominal instant of the trigger.
        public var occurrence: Timestamp?
        /// When it was handed over.
        public var at: Timestamp

        /// A notification that was handed over.
        public init(requestID: RequestID, occurrence: Timestamp? = nil, at: Timestamp) {
            (self.requestID, self.occurrence, self.at) = (requestID, occurrence, at)
        }
    }

    /// A request, or a removal, that ended.
    public struct KnownRequest: Sendable, Hashable {
        /// Its id.
        public var id: RequestID
        /// When it ended.
        public var closed: Timestamp

        /// A request that ended.
        public init(id: RequestID, closed: Timestamp) {
            (self.id, self.closed) = (id, closed)
        }
    }

    /// A removal of everything a recipient has, that was applied.
    public struct KnownRemoval: Sendable, Hashable {
        /// Its id.
        public var id: RequestID
        /// Its place in `requests`: there it is read again, anywhere else it is a repeat. -1 for one of an earlier life.
        public var offset: Int64
        /// When it was applied.
        public var closed: Timestamp

        /// A removal that was applied.
        public init(id: RequestID, offset: Int64, closed: Timestamp) {
            (self.id, self.offset, self.closed) = (id, offset, closed)
        }
    }

    /// The order that requests bring along.
    public struct Version: Sendable, Hashable {
        /// As the request gave it, 0 or more.
        public var number: Int64
        /// The request that brought it.
        public var by: RequestID

        /// A version, and who brought it.
        public init(number: Int64, by: RequestID) {
            (self.number, self.by) = (number, by)
        }
    }
}

/// The instants of a time-interval trigger: `anchor + k × interval`, k ≥ 1.
public struct IntervalSchedule: Hashable, Sendable {
    /// Milliseconds, at least 1.
    public var interval: Int64
    /// The request record's timestamp.
    public var anchor: Timestamp
    /// Whether there is another occurrence after each.
    public var repeats: Bool
    /// What to do with missed occurrences.
    public var misfire: MisfirePolicy?
    /// Milliseconds over which occurrences are spread; 0 for none.
    public var jitter: Int64

    /// The instants of a trigger.
    public init(interval: Int64, anchor: Timestamp, repeats: Bool, misfire: MisfirePolicy?, jitter: Int64) {
        self.interval = interval
        self.anchor = anchor
        self.repeats = repeats
        self.misfire = misfire
        self.jitter = jitter
    }
}

/// The trace headers of the record that caused an event, carried byte for byte. What is no W3C trace context, or larger than
/// its bounds (``TraceContext``), is left behind where it comes in.
public struct CarriedTrace: Hashable, Sendable {
    /// As in the header of that name; 55 to 256 bytes.
    public let traceparent: [UInt8]?
    /// As in the header of that name; 1 to 512 bytes, and none without a traceparent.
    public let tracestate: [UInt8]?

    /// No trace.
    public static let none = CarriedTrace()

    private init() {
        (traceparent, tracestate) = (nil, nil)
    }

    /// The headers' values, as far as they are a trace context.
    public init(traceparent: UnsafeRawBufferPointer?, tracestate: UnsafeRawBufferPointer?) {
        guard let traceparent, TraceContext.isTraceparent(traceparent) else {
            self = .none
            return
        }
        self.traceparent = Array(traceparent)
        self.tracestate = tracestate.flatMap { TraceContext.isTracestate($0) ? Array($0) : nil }
    }

    /// The same of copies.
    public init(traceparent: [UInt8]?, tracestate: [UInt8]? = nil) {
        guard let traceparent else {
            self = .none
            return
        }
        self = traceparent.withUnsafeBytes { parent in
            guard let tracestate else { return CarriedTrace(traceparent: parent, tracestate: nil) }
            return tracestate.withUnsafeBytes { CarriedTrace(traceparent: parent, tracestate: $0) }
        }
    }
}

extension StateEntry {
    /// When the entry wants to be looked at: to send what is pending, or to try again. Nil while a send is in flight.
    public var due: Timestamp? {
        guard let sending else { return pending?.due }
        if case .waiting(let until) = sending.phase { return until }
        return nil
    }

    /// When it wants to be looked at after a restart: a send in flight is then in doubt, and goes first.
    public var dueAfterRestart: Timestamp? {
        if let sending, case .inFlight(let since) = sending.phase { return since }
        return due
    }

    /// True when nothing is scheduled, held or being sent.
    public var isIdle: Bool { pending == nil && sending == nil }

    /// True when the entry says nothing any more.
    public var isEmpty: Bool {
        isIdle && delivered == nil && known.isEmpty && version == nil && removals.isEmpty
    }
}
