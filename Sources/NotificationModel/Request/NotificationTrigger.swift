/// When a notification is due.
public enum NotificationTrigger: Hashable, Sendable {
    /// Now.
    case push
    /// After an interval, counted from the request record's timestamp.
    case timeInterval(TimeIntervalTrigger)
    /// At calendar times.
    indirect case calendar(CalendarTrigger)
    /// On entering or leaving a region.
    indirect case location(LocationTrigger)

    /// True when it fires more than once.
    public var repeats: Bool {
        switch self {
        case .push: false
        case .timeInterval(let trigger): trigger.repeats
        case .calendar(let trigger): trigger.repeats
        case .location(let trigger): trigger.repeats
        }
    }

    /// What to do with an occurrence that passed while no service was running; nil is the default policy.
    public var misfire: MisfirePolicy? {
        switch self {
        case .push, .location: nil
        case .timeInterval(let trigger): trigger.misfire
        case .calendar(let trigger): trigger.misfire
        }
    }
}

/// What to do with occurrences that passed while no service was running.
///
/// Without one, a one-shot fires late unless expired, and a repeat fires once when less than 15 minutes late, else `next`.
public enum MisfirePolicy: String, CaseIterable, Hashable, Sendable, Codable {
    /// Fire once, now.
    case once
    /// Only the next occurrence.
    case next
    /// Never fire a missed occurrence.
    case drop
}

/// Fires an interval after the request, once or repeatedly without drift.
public struct TimeIntervalTrigger: Hashable, Sendable {
    /// Seconds: more than 0, at least 60 when repeating, at most ``ModelLimits/timeInterval``.
    public var timeInterval: Double
    /// Fires again every interval.
    public var repeats: Bool
    /// What happens to missed occurrences; nil is the default policy.
    public var misfire: MisfirePolicy?
    /// Seconds over which firing may be spread, 0 to ``ModelLimits/jitter``.
    public var jitter: Double?

    /// A time-interval trigger.
    public init(
        timeInterval: Double,
        repeats: Bool = false,
        misfire: MisfirePolicy? = nil,
        jitter: Double? = nil
    ) {
        self.timeInterval = timeInterval
        self.repeats = repeats
        self.misfire = misfire
        self.jitter = jitter
    }

    /// The interval in milliseconds, rounded up so that nothing fires early.
    public var intervalMilliseconds: Int64 {
        NotificationTrigger.milliseconds(timeInterval)
    }

    /// The jitter in milliseconds.
    public var jitterMilliseconds: Int64 {
        NotificationTrigger.milliseconds(jitter ?? 0)
    }
}

/// Fires when a wall clock shows the given components.
public struct CalendarTrigger: Hashable, Sendable {
    /// The components to match, at least one.
    public var dateComponents: CalendarComponents
    /// IANA name of the time zone; nil follows the recipient's device.
    public var timeZone: String?
    /// Fires at every match, not only the first.
    public var repeats: Bool
    /// No occurrence before this instant.
    public var notBefore: Timestamp?
    /// When the wall-clock time does not exist; nil is `nextTime`.
    public var gap: GapPolicy?
    /// When the wall-clock time exists twice; nil is `first`.
    public var overlap: OverlapPolicy?
    /// What happens to missed occurrences; nil is the default policy.
    public var misfire: MisfirePolicy?
    /// Seconds over which firing may be spread, 0 to ``ModelLimits/jitter``.
    public var jitter: Double?

    /// A calendar trigger.
    public init(
        dateComponents: CalendarComponents,
        timeZone: String? = nil,
        repeats: Bool = false,
        notBefore: Timestamp? = nil,
        gap: GapPolicy? = nil,
        overlap: OverlapPolicy? = nil,
        misfire: MisfirePolicy? = nil,
        jitter: Double? = nil
    ) {
        self.dateComponents = dateComponents
        self.timeZone = timeZone
        self.repeats = repeats
        self.notBefore = notBefore
        self.gap = gap
        self.overlap = overlap
        self.misfire = misfire
        self.jitter = jitter
    }
}

/// What a calendar trigger does when the wall-clock time does not exist on a day.
public enum GapPolicy: String, CaseIterable, Hashable, Sendable, Codable {
    /// As UserNotifications: the same smaller components after the gap.
    case nextTime
    /// No occurrence.
    case skip
    /// The same smaller components before the gap.
    case previous
}

/// What a calendar trigger does when the wall-clock time exists twice.
public enum OverlapPolicy: String, CaseIterable, Hashable, Sendable, Codable {
    /// The earlier one.
    case first
    /// The later one.
    case last
    /// Both.
    case both
}

/// Components of a wall-clock time; all set components must match.
public struct CalendarComponents: Hashable, Sendable {
    /// 0 or 1.
    public var era: Int?
    /// 1 to 9999.
    public var year: Int?
    /// 1 to 4.
    public var quarter: Int?
    /// 1 to 12.
    public var month: Int?
    /// 1 to 53.
    public var weekOfYear: Int?
    /// 1 to 6.
    public var weekOfMonth: Int?
    /// 1 to 9999, the year of ``weekOfYear``.
    public var yearForWeekOfYear: Int?
    /// 1 to 7; 1 is Sunday.
    public var weekday: Int?
    /// 1 to 5: the ordinal of the weekday in the month.
    public var weekdayOrdinal: Int?
    /// 1 to 31.
    public var day: Int?
    /// 1 to 366.
    public var dayOfYear: Int?
    /// 0 to 23.
    public var hour: Int?
    /// 0 to 59.
    public var minute: Int?
    /// 0 to 59.
    public var second: Int?

    /// Components with the given values.
    public init(
        era: Int? = nil,
        year: Int? = nil,
        quarter: Int? = nil,
        month: Int? = nil,
        weekOfYear: Int? = nil,
        weekOfMonth: Int? = nil,
        yearForWeekOfYear: Int? = nil,
        weekday: Int? = nil,
        weekdayOrdinal: Int? = nil,
        day: Int? = nil,
        dayOfYear: Int? = nil,
        hour: Int? = nil,
        minute: Int? = nil,
        second: Int? = nil
    ) {
        self.era = era
        self.year = year
        self.quarter = quarter
        self.month = month
        self.weekOfYear = weekOfYear
        self.weekOfMonth = weekOfMonth
        self.yearForWeekOfYear = yearForWeekOfYear
        self.weekday = weekday
        self.weekdayOrdinal = weekdayOrdinal
        self.day = day
        self.dayOfYear = dayOfYear
        self.hour = hour
        self.minute = minute
        self.second = second
    }
}

/// Fires when a device enters or leaves a region; the initial side does not count.
///
/// In JSON a missing edge is false, unlike Core Location's default: the request names what fires.
public struct LocationTrigger: Hashable, Sendable {
    /// The region.
    public var region: CircularRegion
    /// Fires on entry; at least one of the two must be true.
    public var notifyOnEntry: Bool
    /// Fires on exit; at least one of the two must be true.
    public var notifyOnExit: Bool
    /// Fires at every crossing, not only the first.
    public var repeats: Bool

    /// A location trigger.
    public init(region: CircularRegion, notifyOnEntry: Bool, notifyOnExit: Bool, repeats: Bool = false) {
        self.region = region
        self.notifyOnEntry = notifyOnEntry
        self.notifyOnExit = notifyOnExit
        self.repeats = repeats
    }
}

/// A circle on the Earth.
public struct CircularRegion: Hashable, Sendable {
    /// Degrees, -90 to 90.
    public var latitude: Double
    /// Degrees, -180 to 180.
    public var longitude: Double
    /// Metres, more than 0, at most ``ModelLimits/regionRadius``.
    public var radius: Double

    /// A region.
    public init(latitude: Double, longitude: Double, radius: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.radius = radius
    }
}

extension NotificationTrigger {
    /// Seconds as whole milliseconds, rounded up. A product that is whole except for binary rounding is not rounded up.
    static func milliseconds(_ seconds: Double) -> Int64 {
        let product = seconds * 1000
        let nearest = product.rounded()
        let whole = abs(product - nearest) <= abs(product) * 1e-12 ? nearest : product.rounded(.up)
        return Int64(exactly: whole) ?? (whole > 0 ? .max : 0)
    }
}
