/// The rules of one time zone: its offset from UTC at every instant, and the instants of every wall-clock time.
///
/// Immutable. Two are equal when their names and their files' contents are.
public final class TimeZoneRules: Sendable {
    /// The name in the IANA database, an alias included: `Asia/Shanghai`.
    public let name: String
    /// FNV-1a of the file.
    let digest: UInt64
    /// Whether they stand for a zone that the database does not have: one offset for all time.
    public let isSubstitute: Bool

    /// When each period begins, ascending; the first is `Int64.min`.
    private let starts: [Int64]
    private let offsets: [Int64]
    /// Indexes into ``kinds``, one a period.
    private let kindIndexes: [UInt8]
    private let kinds: [LocalTimeKind]
    /// What holds from the last of ``starts`` on; nil if that period lasts.
    private let rule: PosixTimeZone?

    init(name: String, file: TimeZoneFile, digest: UInt64) {
        self.name = name
        self.digest = digest
        isSubstitute = false
        kinds = file.kinds
        // Before the first transition the first kind holds (RFC 9636, 3.2).
        starts = [.min] + file.transitions
        kindIndexes = [0] + file.kindIndexes
        offsets = kindIndexes.map { [kinds] index in kinds[Int(index)].offset }
        rule = file.rule
    }

    /// Stands for a zone that the database does not have (any more), with the last offset that is known of it.
    package init(substituteFor name: String, offset: Int) {
        self.name = name
        let sign = offset < 0 ? "-" : "+"
        let (hours, minutes) = (abs(offset) / 3600, abs(offset) / 60 % 60)
        let abbreviation =
            sign + LocalDateTime.digits(hours, 2) + (minutes == 0 ? "" : LocalDateTime.digits(minutes, 2))
        isSubstitute = true
        digest = UInt64(bitPattern: Int64(offset))
        kinds = [LocalTimeKind(offset: Int64(offset), isDaylight: false, abbreviation: abbreviation)]
        (starts, offsets, kindIndexes, rule) = ([.min], [Int64(offset)], [0], nil)
    }

    // MARK: - Instants to local time

    /// The period that an instant is in; its kind is left out because reading it costs more than the rest.
    @inline(__always)
    func span(at instant: Int64) -> TimeZoneSpan {
        let index = index(at: instant)
        let start = starts[index]
        guard index + 1 == starts.count else {
            return TimeZoneSpan(start: start, end: starts[index + 1], offset: offsets[index])
        }
        guard let rule else { return TimeZoneSpan(start: start, end: .max, offset: offsets[index]) }
        let period = rule.period(at: instant)
        return TimeZoneSpan(start: max(start, period.start), end: period.end, offset: period.kind.offset)
    }

    /// The kind of local time at an instant, in seconds since 1970.
    func kind(at instant: Int64) -> LocalTimeKind {
        let index = index(at: instant)
        if index + 1 == starts.count, let rule { return rule.kind(at: instant) }
        return kinds[Int(kindIndexes[index])]
    }

    /// The last period that does not begin after an instant.
    @inline(__always)
    private func index(at instant: Int64) -> Int {
        starts.withUnsafeBufferPointer { starts in
            // The time of interest is mostly after the last transition of a zone without daylight saving time.
            var (low, high) = (0, starts.count)
            if instant >= starts[high - 1] { return high - 1 }
            while high - low > 1 {
                let middle = (low + high) / 2
                if starts[middle] <= instant { low = middle } else { high = middle }
            }
            return low
        }
    }

    // MARK: - Local time to instants

    /// No two offsets differ by more, so a wall-clock time read as UTC is nearer than this to its instants.
    static let reach: Int64 = 93_600

    /// The instants at which the clock shows a time, which is given in seconds from 1970-01-01T00:00:00 on the same clock.
    func instants(of wall: Int64) -> LocalTimeInstants {
        let last = wall + Self.reach
        var span = span(at: wall - Self.reach)
        var (first, second): (Int64?, Int64?)
        var gap: LocalTimeInstants?
        while true {
            let instant = wall - span.offset
            if instant >= span.start, instant < span.end {
                if first == nil { first = instant } else { second = instant }
            }
            guard span.end <= last else { break }
            let next = self.span(at: span.end)
            if gap == nil, wall >= span.end + span.offset, wall < span.end + next.offset {
                gap = .gap(before: span.offset, after: next.offset)
            }
            span = next
        }
        if let first, let second { return .overlap(first: first, last: second) }
        // A clock that does not show the time leaps over it.
        return first.map { .once($0) } ?? gap ?? .once(wall - span.offset)
    }
}

/// A period of one offset, as ``TimeZonePeriod`` without the name.
struct TimeZoneSpan {
    /// Inclusive; `Int64.min` without a beginning.
    let start: Int64
    /// Exclusive; `Int64.max` without an end.
    let end: Int64
    /// Seconds east of UTC.
    let offset: Int64
}

extension TimeZoneRules: Hashable {
    /// Whether names and contents are equal.
    public static func == (left: TimeZoneRules, right: TimeZoneRules) -> Bool {
        left === right || left.name == right.name && left.digest == right.digest
    }

    /// Hashes the name and the content's digest.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(digest)
    }
}

extension TimeZoneRules {
    /// The offset at an instant: seconds east of UTC.
    public func offset(at instant: Timestamp) -> Int {
        Int(span(at: instant.seconds).offset)
    }

    /// What the clock shows at an instant.
    public func local(at instant: Timestamp) -> LocalDateTime {
        let seconds = instant.seconds
        return LocalDateTime(seconds: seconds + span(at: seconds).offset)
    }
}

extension Timestamp {
    /// Whole seconds since 1970, rounded down, within the instants that have a text form.
    var seconds: Int64 {
        GregorianCalendar.floor(min(max(self, .earliest), .latest).rawValue, by: 1000)
    }

    init(seconds: Int64) {
        self.init(rawValue: seconds * 1000)
    }
}
