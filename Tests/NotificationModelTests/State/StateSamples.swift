import NotificationModel
@testable import NotificationState

/// Named entries and markers of every form that the changelog can contain.
///
/// `Fixtures/state` contains the JSON of each, in the same order, as written by the version in the folder's name. New
/// forms get a new folder: fixtures never change, and this version reads all of them.
enum StateSamples {
    static let now = Timestamp(rawValue: 1_795_251_600_123)
    static let later = Timestamp(rawValue: 1_795_255_200_000)
    static let content = bytes(#"{ "title": "Grüße \u00e9\n\"x\"", "userInfo": {"a": [1.50, null, {}]} }"#)[...]
    static let traceparent = bytes("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    static let trace = CarriedTrace(traceparent: traceparent, tracestate: bytes(#"vendor=a"b\c"#))

    static func uuid(_ number: UInt64) -> RequestID {
        .uuid(UUIDValue(high: 0x0d8f_4e6c_53a5_5f0e &+ number, low: 0x9d0b_6a1f_6f1c_2a11))
    }

    static func entry(_ change: (inout StateEntry) throws -> Void) rethrows -> StateEntry {
        var entry = StateEntry()
        (entry.touched, entry.applied[.requests].offset) = (now, 41)
        try change(&entry)
        return entry
    }

    static func schedule(
        every interval: Int64,
        repeats: Bool = false,
        misfire: MisfirePolicy? = nil,
        jitter: Int64 = 0
    ) -> Schedule {
        .interval(.init(interval: interval, anchor: now, repeats: repeats, misfire: misfire, jitter: jitter))
    }

    static func pending(_ timer: StateEntry.Timer, _ trace: CarriedTrace = .none) -> StateEntry.Pending {
        .init(requestID: uuid(1), content: content, expiration: nil, trace: trace, timer: timer, due: later)
    }

    /// A notification that an older version was sending: its attempts are not those of a screen yet.
    static func send(
        _ phase: ScreenOperation.Phase,
        attempt: Int = 1,
        trace: CarriedTrace = .none,
        isInDoubt: Bool = false,
        in entry: inout StateEntry,
        _ change: (inout StateEntry.Handover) -> Void = { _ in }
    ) {
        var handover = StateEntry.Handover(
            showing: Showing(uuid(2), nil, isFormer: true),
            content: content,
            expiration: nil,
            trace: trace,
            closes: true,
            channel: nil,
            time: .earliest
        )
        change(&handover)
        entry.handover = handover
        entry.former = StateEntry.Former(
            attempt: .init(number: attempt, isTried: true, phase: phase, begun: nil),
            isHandoverInDoubt: isInDoubt,
            isPendingInDoubt: entry.former?.isPendingInDoubt ?? false
        )
    }

    static func known(_ ids: [RequestID]) -> [StateEntry.KnownRequest] {
        ids.enumerated().map { .init(id: $1, closed: Timestamp(rawValue: now.rawValue + Int64($0))) }
    }

    static func marker(
        _ offsets: [String: Int64],
        firedThrough: Timestamp? = nil,
        lineage: String? = nil,
        replay: [String: Int64] = [:]
    ) -> StateMarker {
        StateMarker(
            offsets: offsets,
            wallTime: now,
            partitions: 8,
            timeZoneDataVersion: "2025b",
            firedThrough: firedThrough,
            lineage: lineage,
            replay: replay,
            hasKeyedIDs: false
        )
    }
}

// The forms of the commit a661b8f.
extension StateSamples {
    static func firstEntries() throws -> [(name: String, entry: StateEntry)] {
        let text = try RequestID(text: #"order "1" \ é"#)
        let interval = schedule(every: 1)
        let once = schedule(every: 3_600_000, repeats: true, misfire: .once, jitter: 30_000)
        let next = schedule(every: .max, repeats: true, misfire: .next, jitter: .max)
        let drop = schedule(every: 60_000, repeats: true, misfire: .drop)
        return [
            ("nothing", StateEntry()),
            ("touched", entry { _ in }),
            ("pending, held", entry { $0.pending = pending(.held) }),
            (
                "pending, its turn is next",
                entry {
                    $0.pending = pending(.turn)
                    send(.inFlight(since: now), in: &$0)
                }
            ),
            ("pending, an interval", entry { $0.pending = pending(.scheduled(interval, occurrence: later)) }),
            ("pending, a repeat, once", entry { $0.pending = pending(.scheduled(once, occurrence: later)) }),
            ("pending, a repeat, next", entry { $0.pending = pending(.scheduled(next, occurrence: later)) }),
            ("pending, a repeat, drop", entry { $0.pending = pending(.scheduled(drop, occurrence: later)) }),
            (
                "pending with all fields",
                entry {
                    $0.pending = .init(
                        requestID: text,
                        content: content,
                        expiration: .latest,
                        trace: trace,
                        timer: .scheduled(once, occurrence: now),
                        due: later
                    )
                    $0.former = .init(isPendingInDoubt: true)
                }
            ),
            ("sending, in flight", entry { send(.inFlight(since: now), in: &$0) }),
            ("sending, waiting", entry { send(.waiting(until: later), in: &$0) }),
            (
                "sending with all fields",
                entry {
                    send(.inFlight(since: now), attempt: Int(Int32.max), trace: trace, isInDoubt: true, in: &$0) {
                        $0.showing = Showing(text, later, isFormer: true)
                        ($0.expiration, $0.closes) = (later, false)
                        ($0.cancelledBy, $0.removedBy) = (uuid(3), text)
                    }
                }
            ),
            (
                "sending a recall",
                entry {
                    let cause = Showing(uuid(2), nil, isFormer: true)
                    $0.former = .init(removals: [.init(channel: nil, devices: [], cause: cause, trace: .none)])
                }
            ),
            ("delivered", entry { $0.delivered = .init(requestID: uuid(4), at: now) }),
            ("delivered, an occurrence", entry { $0.delivered = .init(requestID: text, occurrence: later, at: now) }),
            ("known, UUIDs", entry { $0.known = known((0..<128).map { uuid($0) }) }),
            (
                "known, instants at the ends",
                entry {
                    $0.known = [
                        .init(id: .uuid(UUIDValue(high: 0, low: 0)), closed: Timestamp(rawValue: .min)),
                        .init(id: .uuid(UUIDValue(high: .max, low: .max)), closed: Timestamp(rawValue: .max)),
                    ]
                }
            ),
            ("known, texts", entry { $0.known = known([text]) }),
            (
                "known, both",
                try entry { $0.known = known([uuid(1), text, uuid(2), try RequestID(text: "b"), uuid(3)]) }
            ),
            ("version", entry { $0.version = .init(number: 0, by: uuid(1)) }),
            ("version, the highest", entry { $0.version = .init(number: .max, by: text) }),
            (
                "everything",
                entry {
                    ($0.touched, $0.applied[.requests].offset) = (.earliest, .max)
                    $0.version = .init(number: 7, by: uuid(1))
                    $0.pending = pending(.scheduled(once, occurrence: later), trace)
                    send(.waiting(until: later), trace: CarriedTrace(traceparent: traceparent), in: &$0)
                    $0.delivered = .init(requestID: uuid(5), occurrence: now, at: now)
                    $0.known = known([uuid(6), text])
                }
            ),
        ]
    }

    /// Traces that are dropped now, because they are not a W3C trace context: the entry that is read has none, or no
    /// tracestate.
    static func strangeTraces() -> [(name: String, entry: StateEntry)] {
        let parent = CarriedTrace(traceparent: traceparent)
        return [
            ("a trace that is none", entry { $0.pending = pending(.held) }),
            ("a tracestate alone", entry { send(.inFlight(since: now), in: &$0) }),
            ("a tracestate that is too long", entry { $0.pending = pending(.held, parent) }),
            ("a tracestate that is not ASCII", entry { send(.inFlight(since: now), trace: parent, in: &$0) }),
        ]
    }

    static func firstMarkers() -> [(name: String, marker: StateMarker)] {
        let (requests, signals) = ("carillon.requests", "carillon.signals")
        return [
            ("nothing read", marker([:])),
            ("offsets", marker([signals: 0, requests: .max])),
            ("fired", marker([requests: 42], firedThrough: later)),
            ("lineage", marker([requests: 42], lineage: "0d8f4e6c-53a5-4f0e-9d0b-6a1f6f1c2a11")),
            ("replay", marker([requests: 42, signals: 9], replay: [requests: 7, signals: 0])),
            (
                "everything",
                StateMarker(
                    offsets: [requests: 42],
                    wallTime: .latest,
                    partitions: .max,
                    timeZoneDataVersion: #"a "b" é"#,
                    firedThrough: .earliest,
                    lineage: "l",
                    replay: [requests: 0],
                    hasKeyedIDs: false
                )
            ),
        ]
    }
}
