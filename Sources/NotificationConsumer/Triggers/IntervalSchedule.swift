import NotificationModel

/// The instants of a time-interval trigger are anchored at the request record's timestamp, so that repeats do not drift
/// whatever happens to the process.
extension IntervalSchedule {
    init(_ trigger: TimeIntervalTrigger, anchor: Timestamp) {
        self.init(
            interval: max(1, trigger.intervalMilliseconds),
            anchor: anchor,
            repeats: trigger.repeats,
            misfire: trigger.misfire,
            jitter: trigger.jitterMilliseconds
        )
    }

    var firstOccurrence: Timestamp { Timestamp(rawValue: anchor.rawValue + interval) }

    /// The last occurrence of a request that is due at `instant`, not before `first`, which is.
    func lastOccurrence(dueAt instant: Timestamp, from first: Timestamp, of request: RequestID) -> Timestamp {
        guard repeats, instant > first else { return first }
        let passed = (instant.rawValue - first.rawValue) / interval
        // Its jitter is less than the interval: only the last one can still be to come.
        let nominal = Timestamp(rawValue: first.rawValue + passed * interval)
        guard passed > 0, due(for: nominal, of: request) > instant else { return nominal }
        return Timestamp(rawValue: nominal.rawValue - interval)
    }

    /// How many occurrences lie from `first` to `last`, both included.
    func count(from first: Timestamp, through last: Timestamp) -> Int {
        Int((last.rawValue - first.rawValue) / interval) + 1
    }

    /// When an occurrence is sent: its nominal instant, and within `jitter` a delay that is the same at each computation.
    func due(for occurrence: Timestamp, of request: RequestID) -> Timestamp {
        let window = repeats ? min(jitter, interval - 1) : jitter
        guard window > 0 else { return occurrence }
        var bytes: [UInt8] = []
        request.write(to: &bytes)
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325  // FNV-1a
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        hash = (hash ^ UInt64(bitPattern: occurrence.rawValue)) &* 0x9e37_79b9_7f4a_7c15
        return Timestamp(rawValue: occurrence.rawValue + Int64((hash >> 16) % UInt64(window + 1)))
    }
}
