/// The occurrences of a trigger: instants that follow from the trigger and the request record's timestamp alone, so that they
/// do not drift whatever happens to the process.
///
/// A trigger that this release runs has a schedule; where there is none, requests are refused where they come in.
public enum Schedule: Hashable, Sendable {
    /// A time after the request, once or again and again.
    case interval(IntervalSchedule)

    /// The schedule of a trigger; nil for one that is due at once.
    ///
    /// Throws `unsupported-form` at `trigger.type` for a trigger that this release does not run.
    ///
    /// - Parameters:
    ///   - trigger: of the request.
    ///   - anchor: the timestamp of the request's record.
    public init?(_ trigger: NotificationTrigger, anchor: Timestamp) throws(ModelError) {
        switch trigger {
        case .push: return nil
        case .timeInterval(let trigger): self = .interval(IntervalSchedule(trigger, anchor: anchor))
        case .calendar: throw Self.unsupported("calendar")
        case .location: throw Self.unsupported("location")
        }
    }

    /// Checks that this release runs a trigger, so that nothing waits for one that never fires. Throws as ``init(_:anchor:)``.
    public static func check(_ trigger: NotificationTrigger) throws(ModelError) {
        _ = try Schedule(trigger, anchor: Timestamp(rawValue: 0))
    }

    private static func unsupported(_ type: String) -> ModelError {
        ModelError(
            .unsupportedForm,
            field: "trigger.type",
            "this release does not run \(type) triggers; it runs push and timeInterval"
        )
    }

    // MARK: - What each kind of schedule answers

    /// The first occurrence.
    public var first: Timestamp {
        switch self {
        case .interval(let schedule): schedule.first
        }
    }

    /// Whether there is another occurrence after each.
    public var repeats: Bool {
        switch self {
        case .interval(let schedule): schedule.repeats
        }
    }

    /// What to do with missed occurrences; nil for the default policy.
    public var misfire: MisfirePolicy? {
        switch self {
        case .interval(let schedule): schedule.misfire
        }
    }

    /// The milliseconds over which occurrences are spread; 0 for none.
    public var jitter: Int64 {
        switch self {
        case .interval(let schedule): schedule.jitter
        }
    }

    /// The occurrence after one; nil when it was the last.
    public func next(after occurrence: Timestamp) -> Timestamp? {
        switch self {
        case .interval(let schedule): schedule.next(after: occurrence)
        }
    }

    /// The last occurrence at or before an instant, and not before `first`, which is one.
    public func previous(through instant: Timestamp, from first: Timestamp) -> Timestamp {
        switch self {
        case .interval(let schedule): schedule.previous(through: instant, from: first)
        }
    }

    /// How many occurrences lie from `first` to `last`, which are occurrences, both included.
    public func count(from first: Timestamp, through last: Timestamp) -> Int {
        switch self {
        case .interval(let schedule): schedule.count(from: first, through: last)
        }
    }

    // MARK: - What follows from it

    /// The last occurrence that is due at an instant, not before `first`, which is.
    public func lastDue(at instant: Timestamp, from first: Timestamp, of request: RequestID) -> Timestamp {
        let last = previous(through: instant, from: first)
        // Its delay ends before the next occurrence: only the last one can still be to come.
        guard last > first, due(for: last, of: request) > instant else { return last }
        return previous(through: last.adding(milliseconds: -1), from: first)
    }

    /// When an occurrence is sent: its nominal instant, and within `jitter` a delay that is the same at each computation.
    public func due(for occurrence: Timestamp, of request: RequestID) -> Timestamp {
        guard jitter > 0 else { return occurrence }
        var window = jitter
        if let next = next(after: occurrence) { window = min(window, next.rawValue - occurrence.rawValue - 1) }
        guard window > 0 else { return occurrence }
        var bytes: [UInt8] = []
        request.write(to: &bytes)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ UInt64(bitPattern: occurrence.rawValue)) &* 0x9e37_79b9_7f4a_7c15
        return occurrence.adding(milliseconds: Int64((hash >> 16) % (UInt64(window) + 1)))
    }
}
