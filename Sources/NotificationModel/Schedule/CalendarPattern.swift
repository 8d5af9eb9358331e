/// Calendar components, checked and compiled: on which dates of the wall calendar and at what times of the day there is an
/// occurrence. Knows nothing of time zones. Its times are seconds since 1970 on a clock without changes.
struct CalendarPattern: Hashable, Sendable {
    /// The period whose dates are computed at once, without a search: see ``dates(inPeriod:)``.
    enum Cycle: Hashable, Sendable {
        case day, week, month, year
        /// A year of ISO weeks.
        case weekYear
    }

    /// What a date must have; with the month and the day that are implied below a year or a quarter.
    let components: DateConditions
    let cycle: Cycle
    /// The only periods that can have a date, when a year is set.
    let onlyPeriods: ClosedRange<Int64>?
    /// Whether dates that follow from the cycle must still be compared with other components.
    let isFiltered: Bool
    let missingDay: MissingDayPolicy
    /// The hours of the day as bits; none when the hour is a wildcard.
    let hours: UInt64
    /// Seconds between times that the clock shows when the hour is a wildcard: an hour or a minute.
    let period: Int64
    /// The second in the hour, or in ``period``, at which there is an occurrence.
    let second: Int64
    /// The months as bits, as far as they are in the quarter.
    private let months: UInt64

    init(unchecked components: CalendarComponents, missingDay: MissingDayPolicy) {
        var conditions = DateConditions(components)
        var fields = components
        (fields.hour, fields.minute, fields.second) = (nil, nil, nil)
        let hasDate = fields != CalendarComponents()

        // What is below the smallest component takes its minimum.
        if hasDate, conditions.isWithoutDay {
            conditions.month = conditions.month ?? CalendarValues(conditions.quarter.map { Int($0) * 3 - 2 } ?? 1)
            conditions.day = 1
        }
        let isOfWeeks = conditions.weekOfYear != nil || conditions.yearForWeekOfYear != nil
        let isOfMonths =
            conditions.month != nil || conditions.day != nil || conditions.weekOfMonth != nil
            || conditions.weekdayOrdinal != nil
        if isOfWeeks {
            cycle = .weekYear
            isFiltered =
                isOfMonths || conditions.dayOfYear != nil || conditions.quarter != nil || conditions.year != nil
        } else if conditions.dayOfYear != nil {
            cycle = .year
            isFiltered = isOfMonths || conditions.quarter != nil || conditions.weekday != nil
        } else {
            cycle = isOfMonths ? .month : conditions.weekday != nil ? .week : .day
            isFiltered = false
        }
        onlyPeriods =
            if let year = conditions.yearForWeekOfYear {
                year...year
            } else if let year = conditions.year {
                switch cycle {
                case .month: year * 12...year * 12 + 11
                case .weekYear: year - 1...year + 1
                case .day, .week, .year: year...year
                }
            } else {
                nil
            }
        let inQuarter = conditions.quarter.map { CalendarValues.bits(of: $0 * 3 - 2...$0 * 3) }
        months = (conditions.month?.bits ?? .max) & (inQuarter ?? .max)
        self.components = conditions
        self.missingDay = missingDay

        let (minute, second) = (Int64(components.minute ?? 0), Int64(components.second ?? 0))
        hours = components.hour?.bits ?? (hasDate ? 1 : 0)
        period = hours == 0 && components.minute == nil ? 60 : 3600
        self.second = period == 60 ? second : minute * 60 + second
    }

    /// Whether the hour is a wildcard, and the occurrences are those of each hour or minute.
    var isOfAnyHour: Bool { hours == 0 }

    /// Whether the date is not one that ``DateConditions/day`` names, because its month has no such day.
    func isMoved(_ day: Int64) -> Bool {
        guard missingDay != .skip, let wanted = components.day else { return false }
        return !wanted.contains(Int(Timestamp.date(ofDay: day).day))
    }
}

// MARK: - Times

/// With the hour set.
extension CalendarPattern {
    /// The first time from `wall` on, and not after `limit`.
    func next(fromTime wall: Int64, through limit: Int64) -> Int64? {
        let first = GregorianCalendar.floor(wall, by: GregorianCalendar.secondsOfDay)
        let lastDay = GregorianCalendar.floor(limit, by: GregorianCalendar.secondsOfDay)
        var day = first
        while let date = next(from: day, through: lastDay) {
            let ahead = date == first ? hours & hours(from: wall - first * GregorianCalendar.secondsOfDay) : hours
            if ahead != 0 {
                let found = time(of: ahead.trailingZeroBitCount, on: date)
                return found <= limit ? found : nil
            }
            day = date + 1
        }
        return nil
    }

    /// The last time up to `wall`, and not before `limit`.
    func previous(fromTime wall: Int64, through limit: Int64) -> Int64? {
        let last = GregorianCalendar.floor(wall, by: GregorianCalendar.secondsOfDay)
        let firstDay = GregorianCalendar.floor(limit, by: GregorianCalendar.secondsOfDay)
        var day = last
        while let date = previous(from: day, through: firstDay) {
            let later = date == last ? hours(from: wall - last * GregorianCalendar.secondsOfDay + 1) : 0
            let passed = hours & ~later
            if passed != 0 {
                let found = time(of: 63 - passed.leadingZeroBitCount, on: date)
                return found >= limit ? found : nil
            }
            day = date - 1
        }
        return nil
    }

    /// How many times there are from `start` through `end`. The cost grows with the periods between, not with the times.
    func count(from start: Int64, through end: Int64) -> Int {
        guard start <= end else { return 0 }
        let first = GregorianCalendar.floor(start, by: GregorianCalendar.secondsOfDay)
        let last = GregorianCalendar.floor(end, by: GregorianCalendar.secondsOfDay)
        var count = dates(from: first, through: last) * hours.nonzeroBitCount
        if next(from: first, through: first) != nil {
            let earlier = ~hours(from: start - first * GregorianCalendar.secondsOfDay)
            count -= (hours & earlier).nonzeroBitCount
        }
        if next(from: last, through: last) != nil {
            let later = hours(from: end - last * GregorianCalendar.secondsOfDay + 1)
            count -= (hours & later).nonzeroBitCount
        }
        return count
    }

    /// The last time of all, when a year is set and has one.
    var lastTime: Int64? {
        guard let onlyPeriods else { return nil }
        for index in onlyPeriods.reversed() {
            let (first, dates) = dates(inPeriod: index)
            guard dates != 0 else { continue }
            return time(of: 63 - hours.leadingZeroBitCount, on: first + Int64(63 - dates.leadingZeroBitCount))
        }
        return nil
    }

    private func time(of hour: Int, on date: Int64) -> Int64 {
        date * GregorianCalendar.secondsOfDay + Int64(hour) * 3600 + second
    }

    /// The hours whose time is not before a second of the day, as bits.
    private func hours(from second: Int64) -> UInt64 {
        let hour = max(0, GregorianCalendar.floor(second - self.second + 3599, by: 3600))
        return ~0 << hour
    }
}

// MARK: - Dates

/// Days are counted from 1970-01-01.
extension CalendarPattern {
    /// The first date from `day` on, and not after `limit`.
    func next(from day: Int64, through limit: Int64) -> Int64? {
        guard day <= limit else { return nil }
        if cycle == .day { return day }
        var (index, last) = (period(of: day), period(of: limit))
        if let onlyPeriods { (index, last) = (max(index, onlyPeriods.lowerBound), min(last, onlyPeriods.upperBound)) }
        while index <= last {
            let (first, dates) = dates(inPeriod: index)
            let ahead = day > first ? dates & ~0 << (day - first) : dates
            if ahead != 0 {
                let found = first + Int64(ahead.trailingZeroBitCount)
                return found <= limit ? found : nil
            }
            index += 1
        }
        return nil
    }

    /// The last date up to `day`, and not before `limit`.
    func previous(from day: Int64, through limit: Int64) -> Int64? {
        guard day >= limit else { return nil }
        if cycle == .day { return day }
        var (index, last) = (period(of: day), period(of: limit))
        if let onlyPeriods { (index, last) = (min(index, onlyPeriods.upperBound), max(last, onlyPeriods.lowerBound)) }
        while index >= last {
            let (first, dates) = dates(inPeriod: index)
            let passed = day >= first ? dates & (2 << (day - first) &- 1) : 0
            if passed != 0 {
                let found = first + Int64(63 - passed.leadingZeroBitCount)
                return found >= limit ? found : nil
            }
            index -= 1
        }
        return nil
    }

    /// How many dates there are from `day` through `limit`.
    private func dates(from day: Int64, through limit: Int64) -> Int {
        guard cycle != .day else { return Int(limit - day + 1) }
        var (index, last) = (period(of: day), period(of: limit))
        if let onlyPeriods { (index, last) = (max(index, onlyPeriods.lowerBound), min(last, onlyPeriods.upperBound)) }
        var count = 0
        while index <= last {
            var (first, dates) = dates(inPeriod: index)
            if day > first { dates &= ~0 << (day - first) }
            dates &= limit >= first ? 2 << (limit - first) &- 1 : 0
            count += dates.nonzeroBitCount
            index += 1
        }
        return count
    }

    /// Whether any date matches: in the only year, or in 28 years. 2001 to 2028 has every kind of year (its length and
    /// the weekday it begins on) between every kind of neighbours.
    var isPossible: Bool {
        let periods: ClosedRange<Int64>
        switch cycle {
        case .day, .week: return true
        case .month: periods = onlyPeriods ?? 2001 * 12...2028 * 12 + 11
        case .year, .weekYear: periods = onlyPeriods ?? 2001...2028
        }
        return periods.contains { dates(inPeriod: $0).dates != 0 }
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

    /// The dates in a period, as bits from a first day on.
    private func dates(inPeriod index: Int64) -> (first: Int64, dates: UInt64) {
        var (first, dates): (Int64, UInt64)
        switch cycle {
        case .day: (first, dates) = (index, 1)
        case .week: (first, dates) = (index * 7 - 3, components.weekdayBits)
        case .month: (first, dates) = self.dates(inMonth: index)
        case .year:
            let number = components.dayOfYear ?? 1
            first = GregorianCalendar.day(index, 1, 1) + number - 1
            dates = number <= (GregorianCalendar.isLeap(index) ? 366 : 365) ? 1 : 0
        case .weekYear:
            first = GregorianCalendar.firstMonday(ofWeekYear: index) + ((components.weekOfYear ?? 1) - 1) * 7
            dates = first < GregorianCalendar.firstMonday(ofWeekYear: index + 1) ? components.weekdayBits : 0
        }
        guard isFiltered else { return (first, dates) }
        for bit in 0..<7 as Range<Int64> where dates & 1 << bit != 0 && !components.match(first + bit) {
            dates &= ~(1 << bit)
        }
        return (first, dates)
    }

    /// The dates in a month, which is counted from the first of year 0.
    private func dates(inMonth index: Int64) -> (first: Int64, dates: UInt64) {
        let year = GregorianCalendar.floor(index, by: 12)
        let month = index - year * 12 + 1
        let isWanted = months & 1 << month != 0
        guard isWanted || missingDay == .nextTime else { return (0, 0) }
        let first = GregorianCalendar.day(year, month, 1)
        var dates: UInt64 = 0
        if isWanted {
            let count = Timestamp.days(in: month, of: year)
            dates = 1 << count - 1
            if let day = components.day {
                dates &= day.bits >> 1
                if missingDay == .previous, day.bits >> (count + 1) != 0 { dates |= 1 << (count - 1) }
            }
            if components.weekday != nil {
                let (week, since) = (components.weekdayBits, GregorianCalendar.daysSinceMonday(first))
                // The days of any seven, five times in a row.
                dates &= ((week >> since | week << (7 - since)) & 0x7F) * 0x1020_4081
            }
            if let ordinal = components.weekdayOrdinal { dates &= 0x7F << (7 * (ordinal - 1)) }
            if let week = components.weekOfMonth {
                dates &= 0x7F << (GregorianCalendar.firstMonday(ofMonthBeginning: first) + 7 * (week - 1))
            }
        }
        // What the month before lacks is on the first of this one. December lacks nothing.
        if missingDay == .nextTime, let day = components.day, month > 1, months & 1 << (month - 1) != 0,
            day.bits >> (Timestamp.days(in: month - 1, of: year) + 1) != 0
        {
            dates |= 1
        }
        return (first, dates)
    }
}
