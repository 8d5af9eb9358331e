/// The occurrences of a time-interval trigger: `anchor + k × interval`, k ≥ 1.
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

    /// The occurrences of a trigger.
    public init(interval: Int64, anchor: Timestamp, repeats: Bool, misfire: MisfirePolicy?, jitter: Int64) {
        self.interval = interval
        self.anchor = anchor
        self.repeats = repeats
        self.misfire = misfire
        self.jitter = jitter
    }

    init(_ trigger: TimeIntervalTrigger, anchor: Timestamp) {
        self.init(
            interval: max(1, trigger.intervalMilliseconds),
            anchor: anchor,
            repeats: trigger.repeats,
            misfire: trigger.misfire,
            jitter: trigger.jitterMilliseconds
        )
    }

    var first: Timestamp { anchor.adding(milliseconds: interval) }

    func next(after occurrence: Timestamp) -> Timestamp? {
        repeats ? occurrence.adding(milliseconds: interval) : nil
    }

    func previous(through instant: Timestamp, from first: Timestamp) -> Timestamp {
        guard repeats, instant > first else { return first }
        let passed = (instant.rawValue - first.rawValue) / interval
        return Timestamp(rawValue: first.rawValue + passed * interval)
    }

    func count(from first: Timestamp, through last: Timestamp) -> Int {
        Int((last.rawValue - first.rawValue) / interval) + 1
    }
}
