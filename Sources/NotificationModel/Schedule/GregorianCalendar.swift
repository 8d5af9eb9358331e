/// The proleptic Gregorian calendar and the weeks of ISO 8601, in whole numbers. Days are counted from 1970-01-01.
enum GregorianCalendar {
    static let secondsOfDay: Int64 = 86_400

    /// The quotient, rounded down.
    @inline(__always)
    static func floor(_ value: Int64, by divisor: Int64) -> Int64 {
        let quotient = value / divisor
        return value % divisor < 0 ? quotient - 1 : quotient
    }

    /// The remainder, never negative.
    @inline(__always)
    static func remainder(_ value: Int64, by divisor: Int64) -> Int64 {
        let remainder = value % divisor
        return remainder < 0 ? remainder + divisor : remainder
    }

    static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        Timestamp.daysFromEpoch(year, month, day)
    }

    static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    /// Days since Monday: 0 to 6. 1970-01-01 was a Thursday.
    @inline(__always)
    static func daysSinceMonday(_ day: Int64) -> Int64 {
        remainder(day + 3, by: 7)
    }

    /// The weekday as calendar components count it: 1 is Sunday.
    static func weekday(of day: Int64) -> Int64 {
        remainder(day + 4, by: 7) + 1
    }

    /// The Monday of week 1 of a year of weeks: the week that 4 January is in (ISO 8601, 4.3.2.2).
    static func firstMonday(ofWeekYear year: Int64) -> Int64 {
        let fourth = day(year, 1, 4)
        return fourth - daysSinceMonday(fourth)
    }

    /// The year of weeks that a day belongs to: that of its week's Thursday.
    static func weekYear(of day: Int64) -> Int64 {
        Timestamp.date(ofDay: day - daysSinceMonday(day) + 3).year
    }

    /// Days from the first day of a month to the Monday of its week 1, the first week with at least four days in the
    /// month: -3 to 3. That Monday may be in the month before.
    static func firstMonday(ofMonthBeginning first: Int64) -> Int64 {
        let since = daysSinceMonday(first)
        return since <= 3 ? -since : 7 - since
    }
}
