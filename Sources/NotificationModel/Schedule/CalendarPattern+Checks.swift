extension CalendarPattern {
    /// Checks and compiles components. The cost is bounded and needs neither a clock nor a time zone: a few microseconds.
    ///
    /// Throws `invalid` at the component (`dateComponents.day`), at `dateComponents` when no single one is to blame, or at
    /// `missingDay`: for a value out of range, a hole between the components, a date that no year has, a policy that
    /// does not apply.
    init(_ components: CalendarComponents, missingDay: MissingDayPolicy? = nil) throws(ModelError) {
        guard components != CalendarComponents() else {
            throw Self.refused(nil, "must have at least one component")
        }
        for field in CalendarField.allCases {
            let range = field.range
            let isWithin =
                switch field.place {
                case .one(let place): components[keyPath: place].map { range.contains(Int64($0)) }
                case .several(let place): components[keyPath: place].map { $0.isWithin(range) }
                }
            guard isWithin == false else { continue }
            throw Self.refused(field, "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        if components.era == 0 { throw Self.refused(.era, "is 0: all years before year 1 are past") }
        if let (field, detail) = Self.hole(in: components) {
            throw Self.refused(field, "is missing: \(detail)")
        }
        try Self.check(missingDay, with: components)
        let policy = missingDay ?? .skip
        try Self.checkDate(components, policy)
        self.init(unchecked: components, missingDay: policy)
        guard isPossible else { throw Self.refused(nil, "no date has all of these components") }
    }

    private static func refused(_ field: CalendarField?, _ detail: String) -> ModelError {
        ModelError(.invalid, field: field.map { "dateComponents.\($0.name)" } ?? "dateComponents", detail)
    }

    /// The component that is missing between the largest and the smallest, and why it has to be there.
    ///
    /// Each component must be part of a chain without holes down to a day: month and day; month, weekdayOrdinal (or
    /// weekOfMonth) and weekday; dayOfYear; yearForWeekOfYear, weekOfYear and weekday. A chain may begin at any of its
    /// components. Without a day and a time, the smallest component may be any of era's, year's, quarter's or month's.
    private static func hole(in components: CalendarComponents) -> (CalendarField, String)? {
        let hasTime = components.hour != nil || components.minute != nil || components.second != nil
        let hasDay = components.day != nil || components.dayOfYear != nil || components.weekday != nil
        let hasWeek =
            components.weekOfYear != nil || components.weekOfMonth != nil || components.weekdayOrdinal != nil
            || components.yearForWeekOfYear != nil
        let hasMonth = components.month != nil || components.quarter != nil
        let hasDate = hasDay || hasWeek || hasMonth || components.year != nil || components.era != nil

        if components.era != nil, components.year == nil { return (.year, "era goes with a year") }
        if hasWeek, components.weekday == nil { return (.weekday, "a week or an ordinal goes with a weekday") }
        if components.yearForWeekOfYear != nil, components.weekOfYear == nil {
            return (.weekOfYear, "yearForWeekOfYear goes with it")
        }
        if hasDay || hasTime, let hole = holeAboveDay(components) { return hole }

        if hasDate, components.hour == nil, hasTime {
            return (.hour, "it is between the date and the smallest component")
        }
        if components.second != nil, components.minute == nil, components.hour != nil {
            return (.minute, "it is between hour and second")
        }
        return nil
    }

    private static func holeAboveDay(_ components: CalendarComponents) -> (CalendarField, String)? {
        if components.month != nil {
            let isInMonth =
                components.day != nil
                || components.weekday != nil && (components.weekdayOrdinal != nil || components.weekOfMonth != nil)
            if !isInMonth {
                return components.weekday != nil
                    ? (.weekdayOrdinal, "it or weekOfMonth is between month and weekday")
                    : (.day, "it is between month and the smallest component")
            }
        } else if components.quarter != nil {
            return (.month, "it is between quarter and the smallest component")
        } else if components.year != nil, components.dayOfYear == nil {
            return (.month, "it is between year and the smallest component; the year of weeks is yearForWeekOfYear")
        }
        return nil
    }

    /// The policy moves a day of a month, so only the month, the quarter and the year may be conditions beside the day.
    private static func check(_ policy: MissingDayPolicy?, with components: CalendarComponents) throws(ModelError) {
        guard let policy else { return }
        guard components.day != nil else {
            throw ModelError(.invalid, field: "missingDay", "applies only to dateComponents with a day")
        }
        guard policy == .skip || components.weekday == nil && components.dayOfYear == nil else {
            throw ModelError(.invalid, field: "missingDay", "does not apply to a day that must match other components")
        }
    }

    private static func checkDate(_ components: CalendarComponents, _ policy: MissingDayPolicy) throws(ModelError) {
        guard let month = components.month else { return }
        let name = month.isSeveral ? "none of the months \(month)" : "month \(month)"
        if let quarter = components.quarter, !month.values.contains(where: { ($0 + 2) / 3 == quarter }) {
            throw refused(
                .month,
                month.isSeveral ? "\(name) is in quarter \(quarter)" : "\(name) is not in quarter \(quarter)"
            )
        }
        guard policy == .skip, let day = components.day, let least = day.values.first else { return }
        // Year 4 is a leap year.
        let longest = month.values.map { Timestamp.days(in: Int64($0), of: Int64(components.year ?? 4)) }.max()
        guard let longest, Int64(least) > longest else { return }
        let place = components.year.map { "\(name) of \($0)" } ?? name
        let has = month.isSeveral ? "has a day" : "has no day"
        throw refused(.day, "\(place) \(has) \(day), and missingDay is skip")
    }
}
