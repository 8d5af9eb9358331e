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
    /// When the month has no such day; nil is `skip`. Only with ``CalendarComponents/day``.
    public var missingDay: MissingDayPolicy?
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
        missingDay: MissingDayPolicy? = nil,
        misfire: MisfirePolicy? = nil,
        jitter: Double? = nil
    ) {
        self.dateComponents = dateComponents
        self.timeZone = timeZone
        self.repeats = repeats
        self.notBefore = notBefore
        self.gap = gap
        self.overlap = overlap
        self.missingDay = missingDay
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

/// What a calendar trigger does when a month has no such day: 31 April, 29 February in a common year.
public enum MissingDayPolicy: String, CaseIterable, Hashable, Sendable, Codable {
    /// No occurrence in that month.
    case skip
    /// The last day of the month.
    case previous
    /// The first day of the next month.
    case nextTime
}

/// Components of a wall-clock time; all set components must match, one with several values by any of them.
public struct CalendarComponents: Hashable, Sendable {
    /// 0 or 1.
    public var era: Int?
    /// 1 to 9999.
    public var year: Int?
    /// 1 to 4.
    public var quarter: Int?
    /// 1 to 12.
    public var month: CalendarValues?
    /// 1 to 53.
    public var weekOfYear: Int?
    /// 1 to 5: weeks begin on Monday, and week 1 is the first with at least four days in the month.
    public var weekOfMonth: Int?
    /// 1 to 9999, the year of ``weekOfYear``.
    public var yearForWeekOfYear: Int?
    /// 1 to 7; 1 is Sunday.
    public var weekday: CalendarValues?
    /// 1 to 5: the ordinal of the weekday in the month.
    public var weekdayOrdinal: Int?
    /// 1 to 31.
    public var day: CalendarValues?
    /// 1 to 366.
    public var dayOfYear: Int?
    /// 0 to 23.
    public var hour: CalendarValues?
    /// 0 to 59.
    public var minute: Int?
    /// 0 to 59.
    public var second: Int?

    /// Components with the given values.
    public init(
        era: Int? = nil,
        year: Int? = nil,
        quarter: Int? = nil,
        month: CalendarValues? = nil,
        weekOfYear: Int? = nil,
        weekOfMonth: Int? = nil,
        yearForWeekOfYear: Int? = nil,
        weekday: CalendarValues? = nil,
        weekdayOrdinal: Int? = nil,
        day: CalendarValues? = nil,
        dayOfYear: Int? = nil,
        hour: CalendarValues? = nil,
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

    /// Whether a component has several values.
    package var hasLists: Bool {
        [month, weekday, day, hour].contains { $0?.isSeveral == true }
    }
}
