/// Calendar components, checked and compiled: on which dates of the wall calendar and at what time of the day there is an
/// occurrence. Knows nothing of time zones.
///
/// Each period of its cycle has one date at most, which is computed without a search; so a search for a date costs a
/// few operations for each period that has none.
struct CalendarPattern: Hashable, Sendable {
    /// The period in which there is at most one date.
    enum Cycle: Hashable, Sendable {
        case day, week, month, year
        /// A year of ISO weeks.
        case weekYear
    }

    /// What a date must have; with the month and the day that are implied below a year or a quarter.
    let components: DateConditions
    let cycle: Cycle
    /// The only period that can have a date, when a year is set.
    let onlyPeriod: Int64?
    /// Whether a date that follows from the cycle must still be compared with other components.
    let isFiltered: Bool
    let missingDay: MissingDayPolicy
    /// Seconds between times that the clock shows: a day; an hour or a minute when the hour is a wildcard.
    let period: Int64
    /// The second in ``period`` at which there is an occurrence.
    let secondOfPeriod: Int64

    init(unchecked components: CalendarComponents, missingDay: MissingDayPolicy) {
        var conditions = DateConditions(components)
        var fields = components
        (fields.hour, fields.minute, fields.second) = (nil, nil, nil)
        let hasDate = fields != CalendarComponents()

        // What is below the smallest component takes its minimum.
        if hasDate, conditions.isWithoutDay {
            conditions.month = conditions.month ?? conditions.quarter.map { $0 * 3 - 2 } ?? 1
            conditions.day = 1
        }
        let kinds = [
            conditions.day != nil, conditions.dayOfYear != nil, conditions.weekOfYear != nil,
            conditions.weekOfMonth != nil, conditions.weekdayOrdinal != nil,
        ]
        let days = kinds.filter { $0 }.count
        let weekdayAlone = days == 1 && conditions.weekday != nil
        isFiltered = days > 1 || weekdayAlone && (conditions.day != nil || conditions.dayOfYear != nil)
        if conditions.yearForWeekOfYear != nil {
            cycle = .weekYear
        } else if conditions.month != nil || conditions.dayOfYear != nil {
            cycle = .year
        } else if conditions.weekOfYear != nil {
            cycle = .weekYear
        } else if days > 0 {
            cycle = .month
        } else {
            cycle = conditions.weekday != nil ? .week : .day
        }
        onlyPeriod = conditions.yearForWeekOfYear ?? conditions.year
        self.components = conditions
        self.missingDay = missingDay

        let (minute, second) = (Int64(components.minute ?? 0), Int64(components.second ?? 0))
        if let hour = components.hour {
            period = GregorianCalendar.secondsOfDay
            secondOfPeriod = (Int64(hour) * 60 + minute) * 60 + second
        } else if hasDate {
            period = GregorianCalendar.secondsOfDay
            secondOfPeriod = 0
        } else {
            period = components.minute != nil ? 3600 : 60
            secondOfPeriod = components.minute != nil ? minute * 60 + second : second
        }
    }

    /// Seconds from one occurrence to the next while the zone's offset does not change; nil when they are not equal.
    var step: Int64? {
        switch cycle {
        case .day: period
        case .week: 7 * period
        case .month, .year, .weekYear: nil
        }
    }

    /// Whether the date is not the one that ``DateConditions/day`` names, because its month has no such day.
    func isMoved(_ day: Int64) -> Bool {
        guard missingDay != .skip, let wanted = components.day else { return false }
        return Timestamp.date(ofDay: day).day != wanted
    }
}

// MARK: - Dates

extension CalendarPattern {
    /// The first date from `day` on, and not after `limit`. Days are counted from 1970-01-01.
    func next(from day: Int64, through limit: Int64) -> Int64? {
        guard day <= limit else { return nil }
        if cycle == .day { return day }
        // A day that is missing may move from its month into the next one.
        var index = period(of: day) - (missingDay == .nextTime ? 1 : 0)
        var last = period(of: limit)
        if let onlyPeriod {
            (index, last) = (max(index, onlyPeriod), min(last, onlyPeriod))
        }
        while index <= last {
            if let found = date(inPeriod: index), found >= day { return found <= limit ? found : nil }
            index += 1
        }
        return nil
    }

    /// The last date up to `day`, and not before `limit`.
    func previous(from day: Int64, through limit: Int64) -> Int64? {
        guard day >= limit else { return nil }
        if cycle == .day { return day }
        var index = period(of: day)
        var last = period(of: limit) - (missingDay == .nextTime ? 1 : 0)
        if let onlyPeriod {
            (index, last) = (min(index, onlyPeriod), max(last, onlyPeriod))
        }
        while index >= last {
            if let found = date(inPeriod: index), found <= day { return found >= limit ? found : nil }
            index -= 1
        }
        return nil
    }

    /// The only date, when a year is set and has one.
    var onlyDate: Int64? { onlyPeriod.flatMap(date(inPeriod:)) }

    /// The time that the clock shows on that date, in seconds since 1970 on the same clock.
    var onlyWall: Int64? {
        onlyDate.map { $0 * GregorianCalendar.secondsOfDay + secondOfPeriod }
    }

    /// Whether any date matches: in the only year, or in 28 years. 2001 to 2028 has every kind of year (its length and
    /// the weekday it begins on) between every kind of neighbours.
    var isPossible: Bool {
        if onlyPeriod != nil { return onlyDate != nil }
        return switch cycle {
        case .day, .week: true
        case .month: (2001 * 12..<2029 * 12).contains { date(inPeriod: $0) != nil }
        case .year, .weekYear: (2001...2028).contains { date(inPeriod: $0) != nil }
        }
    }

    /// The number of the period that a day is in.
    private func period(of day: Int64) -> Int64 {
        switch cycle {
        case .day: return day
        case .week: return GregorianCalendar.floor(day + 3, by: 7)
        case .month:
            let date = Timestamp.date(ofDay: day)
            return date.year * 12 + date.month - 1
        case .year: return Timestamp.date(ofDay: day).year
        case .weekYear: return GregorianCalendar.weekYear(of: day)
        }
    }

    /// The date in a period, if it has one.
    private func date(inPeriod index: Int64) -> Int64? {
        let found: Int64?
        switch cycle {
        case .day: return index
        case .week: return index * 7 - 3 + components.daysAfterMonday
        case .month:
            let year = GregorianCalendar.floor(index, by: 12)
            found = date(inMonth: index - year * 12 + 1, of: year)
        case .year:
            if let month = components.month {
                found = date(inMonth: month, of: index)
            } else {
                let number = components.dayOfYear ?? 1
                let exists = number <= (GregorianCalendar.isLeap(index) ? 366 : 365)
                found = exists ? GregorianCalendar.day(index, 1, 1) + number - 1 : nil
            }
        case .weekYear:
            let monday = GregorianCalendar.firstMonday(ofWeekYear: index) + ((components.weekOfYear ?? 1) - 1) * 7
            let exists = monday < GregorianCalendar.firstMonday(ofWeekYear: index + 1)
            found = exists ? monday + components.daysAfterMonday : nil
        }
        guard isFiltered, let found else { return found }
        return components.match(found) ? found : nil
    }

    /// The date in a month, if it has one.
    private func date(inMonth month: Int64, of year: Int64) -> Int64? {
        let count = Timestamp.days(in: month, of: year)
        let first = GregorianCalendar.day(year, month, 1)
        let number: Int64
        if let day = components.day {
            if day > count {
                switch missingDay {
                case .skip: return nil
                case .previous: return first + count - 1
                case .nextTime: return first + count
                }
            }
            number = day
        } else if let ordinal = components.weekdayOrdinal {
            let toWeekday = components.daysAfterMonday - GregorianCalendar.daysSinceMonday(first)
            number = GregorianCalendar.remainder(toWeekday, by: 7) + 7 * ordinal - 6
        } else {
            let monday = GregorianCalendar.firstMonday(ofMonthBeginning: first) + 1
            number = monday + ((components.weekOfMonth ?? 1) - 1) * 7 + components.daysAfterMonday
        }
        return (1...count).contains(number) ? first + number - 1 : nil
    }
}
