/// The components that a date must have; nil matches all.
struct DateConditions: Hashable, Sendable {
    var year: Int64?
    var quarter: Int64?
    var month: CalendarValues?
    var weekOfYear: Int64?
    var weekOfMonth: Int64?
    var yearForWeekOfYear: Int64?
    var weekday: CalendarValues?
    var weekdayOrdinal: Int64?
    var day: CalendarValues?
    var dayOfYear: Int64?

    init(_ components: CalendarComponents) {
        year = components.year.map(Int64.init)
        quarter = components.quarter.map(Int64.init)
        month = components.month
        weekOfYear = components.weekOfYear.map(Int64.init)
        weekOfMonth = components.weekOfMonth.map(Int64.init)
        yearForWeekOfYear = components.yearForWeekOfYear.map(Int64.init)
        weekday = components.weekday
        weekdayOrdinal = components.weekdayOrdinal.map(Int64.init)
        day = components.day
        dayOfYear = components.dayOfYear.map(Int64.init)
    }

    /// Whether nothing says which day of a month, a week or a year.
    var isWithoutDay: Bool { day == nil && dayOfYear == nil && weekday == nil }

    /// The weekdays as bits, the first for Monday; Monday without one.
    var weekdayBits: UInt64 {
        guard let bits = weekday?.bits else { return 1 }
        return bits >> 2 & 0x3F | (bits >> 1 & 1) << 6
    }

    /// Whether a day, counted from 1970-01-01, has all components.
    func match(_ day: Int64) -> Bool {
        if let weekday, !weekday.contains(Int(GregorianCalendar.weekday(of: day))) { return false }
        let date = Timestamp.date(ofDay: day)
        if let year, date.year != year { return false }
        if let month, !month.contains(Int(date.month)) { return false }
        if let quarter, (date.month + 2) / 3 != quarter { return false }
        if let wanted = self.day, !wanted.contains(Int(date.day)) { return false }
        if let weekdayOrdinal, (date.day + 6) / 7 != weekdayOrdinal { return false }
        if let dayOfYear, day - GregorianCalendar.day(date.year, 1, 1) + 1 != dayOfYear { return false }
        if let weekOfMonth {
            let monday = GregorianCalendar.firstMonday(ofMonthBeginning: day - date.day + 1) + 1
            guard date.day >= monday, (date.day - monday) / 7 + 1 == weekOfMonth else { return false }
        }
        if weekOfYear != nil || yearForWeekOfYear != nil {
            let year = GregorianCalendar.weekYear(of: day)
            if let yearForWeekOfYear, year != yearForWeekOfYear { return false }
            let week = (day - GregorianCalendar.firstMonday(ofWeekYear: year)) / 7 + 1
            if let weekOfYear, week != weekOfYear { return false }
        }
        return true
    }
}
