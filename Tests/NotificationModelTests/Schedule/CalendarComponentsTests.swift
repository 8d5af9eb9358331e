import Testing
import TestSupport

@testable import NotificationModel

@Suite("Calendar components")
struct CalendarComponentsTests {
    struct Refusal: CustomTestStringConvertible, Sendable {
        let components: CalendarComponents
        var missingDay: MissingDayPolicy?
        /// Relative to the trigger.
        let field: String
        let word: String

        init(
            _ components: CalendarComponents,
            _ field: String,
            _ word: String,
            missingDay: MissingDayPolicy? = nil
        ) {
            (self.components, self.field, self.word, self.missingDay) = (components, field, word, missingDay)
        }

        var testDescription: String {
            let set = CalendarField.allCases.compactMap { field in
                switch field.place {
                case .one(let place): components[keyPath: place].map { "\(field.name) \($0)" }
                case .several(let place): components[keyPath: place].map { "\(field.name) \($0)" }
                }
            }
            return set.joined(separator: ", ")
        }
    }

    private static let holes: [Refusal] = [
        .init(.init(month: 9, hour: 23), "dateComponents.day", "missing"),
        .init(.init(day: 15, minute: 30), "dateComponents.hour", "missing"),
        .init(.init(day: 15, second: 30), "dateComponents.hour", "missing"),
        .init(.init(weekday: 2, minute: 30), "dateComponents.hour", "missing"),
        .init(.init(weekday: [2, 3], minute: 30), "dateComponents.hour", "missing"),
        .init(.init(month: [9, 10], hour: 23), "dateComponents.day", "missing"),
        .init(.init(hour: 9, second: 30), "dateComponents.minute", "missing"),
        .init(.init(year: 2027, weekday: 2), "dateComponents.month", "missing"),
        .init(.init(year: 2027, day: 2), "dateComponents.month", "missing"),
        .init(.init(year: 2027, hour: 2), "dateComponents.month", "missing"),
        .init(.init(year: 2027, quarter: 2, day: 2), "dateComponents.month", "missing"),
        .init(.init(quarter: 2, hour: 2), "dateComponents.month", "missing"),
        .init(.init(quarter: 2, dayOfYear: 100), "dateComponents.month", "missing"),
        .init(.init(month: 6, weekday: 2), "dateComponents.weekdayOrdinal", "missing"),
        .init(.init(month: 6, dayOfYear: 160), "dateComponents.day", "missing"),
        .init(.init(year: 2027, weekOfYear: 5, weekday: 2), "dateComponents.month", "yearForWeekOfYear"),
        .init(.init(weekOfYear: 5), "dateComponents.weekday", "missing"),
        .init(.init(weekOfMonth: 5, hour: 9), "dateComponents.weekday", "missing"),
        .init(.init(weekOfMonth: 2, day: 9), "dateComponents.weekday", "missing"),
        .init(.init(weekdayOrdinal: 5), "dateComponents.weekday", "missing"),
        .init(.init(yearForWeekOfYear: 2027), "dateComponents.weekday", "missing"),
        .init(.init(yearForWeekOfYear: 2027, weekday: 2), "dateComponents.weekOfYear", "missing"),
        .init(.init(era: 1), "dateComponents.year", "missing"),
        .init(.init(era: 1, month: 2), "dateComponents.year", "missing"),
    ]

    private static let impossible: [Refusal] = [
        .init(.init(), "dateComponents", "at least one"),
        .init(.init(hour: 25), "dateComponents.hour", "0 to 23"),
        .init(.init(hour: -1), "dateComponents.hour", "0 to 23"),
        .init(.init(weekday: 0), "dateComponents.weekday", "1 to 7"),
        .init(.init(weekday: []), "dateComponents.weekday", "1 to 7"),
        .init(.init(weekday: [2, 8]), "dateComponents.weekday", "1 to 7"),
        .init(.init(hour: [-1, 9]), "dateComponents.hour", "0 to 23"),
        .init(.init(day: [1, 63]), "dateComponents.day", "1 to 31"),
        .init(.init(day: [1, .max]), "dateComponents.day", "1 to 31"),
        .init(.init(month: [4, 6], day: [31]), "dateComponents.day", "none of the months 4, 6 has a day 31"),
        .init(.init(month: [1, 2], weekday: 2, day: [30, 31], dayOfYear: 60), "dateComponents", "no date"),
        .init(.init(quarter: 1, month: [5, 9]), "dateComponents.month", "none of the months 5, 9 is in quarter 1"),
        .init(.init(weekday: 8), "dateComponents.weekday", "1 to 7"),
        .init(.init(weekday: 2, weekdayOrdinal: -1), "dateComponents.weekdayOrdinal", "1 to 5"),
        .init(.init(weekOfMonth: 0, weekday: 2), "dateComponents.weekOfMonth", "1 to 5"),
        .init(.init(year: .max), "dateComponents.year", "1 to 9999"),
        .init(.init(year: .min), "dateComponents.year", "1 to 9999"),
        .init(.init(era: 0, year: 44, month: 3, day: 15), "dateComponents.era", "past"),
        .init(.init(month: 2, day: 30), "dateComponents.day", "month 2 has no day 30"),
        .init(.init(month: 4, day: 31), "dateComponents.day", "month 4 has no day 31"),
        .init(.init(year: 2027, month: 2, day: 29), "dateComponents.day", "month 2 of 2027 has no day 29"),
        .init(.init(year: 2100, month: 2, day: 29), "dateComponents.day", "month 2 of 2100 has no day 29"),
        .init(.init(quarter: 1, month: 5), "dateComponents.month", "not in quarter"),
        .init(.init(year: 2027, dayOfYear: 366), "dateComponents", "no date"),
        .init(.init(day: 31, dayOfYear: 60), "dateComponents", "no date"),
        .init(.init(month: 2, day: 29, dayOfYear: 61), "dateComponents", "no date"),
        .init(.init(weekOfMonth: 3, weekday: 6, weekdayOrdinal: 5), "dateComponents", "no date"),
        .init(.init(weekOfYear: 53, yearForWeekOfYear: 2027, weekday: 2), "dateComponents", "no date"),
        .init(.init(month: 2, weekOfMonth: 5, weekday: 1), "dateComponents", "no date"),
        .init(.init(hour: 9), "missingDay", "a day", missingDay: .skip),
        .init(.init(weekday: 6, weekdayOrdinal: 5), "missingDay", "a day", missingDay: .previous),
        .init(.init(weekday: 6, day: 31), "missingDay", "other components", missingDay: .previous),
        .init(.init(day: 31, dayOfYear: 90), "missingDay", "other components", missingDay: .nextTime),
    ]

    @Test("a hole between components is refused by the missing one", arguments: holes)
    func hole(_ refusal: Refusal) { verify(refusal) }

    @Test("impossible components are refused by the one to blame", arguments: impossible)
    func refused(_ refusal: Refusal) { verify(refusal) }

    private func verify(_ refusal: Refusal) {
        let trigger = CalendarTrigger(dateComponents: refusal.components, missingDay: refusal.missingDay)
        let error = failure { () throws(ModelError) in try CalendarSchedule.check(trigger) }
        #expect(error?.reason == .invalid)
        #expect(error?.field == refusal.field)
        #expect(error?.detail.contains(refusal.word) == true, "\(error?.detail ?? "")")
    }

    private static let complete: [CalendarComponents] = [
        .init(year: 2027), .init(year: 2027, quarter: 3), .init(quarter: 2, month: 5), .init(month: 2, day: 29),
        .init(month: 2, day: 28, hour: 9, minute: 0, second: 0), .init(weekday: 2), .init(weekday: 6, day: 13),
        .init(year: 2027, dayOfYear: 100), .init(weekday: 1, dayOfYear: 366), .init(minute: 5, second: 5),
        .init(era: 1, year: 2027, month: 2, day: 28), .init(weekOfYear: 53, yearForWeekOfYear: 2026, weekday: 1),
        .init(month: 11, weekday: 5, weekdayOrdinal: 4), .init(month: 1, weekOfYear: 53, weekday: 6, day: 1),
        .init(weekday: [2, 3, 4, 5, 6], hour: [9, 17]), .init(quarter: 2, month: [1, 5]),
        .init(month: [2, 3], day: [30, 31]),
    ]

    @Test("sets without a hole are allowed", arguments: complete)
    func allowed(_ components: CalendarComponents) throws {
        try CalendarSchedule.check(CalendarTrigger(dateComponents: components))
    }

    @Test("what 28 years do not have, 400 years do not have either")
    func cycle() throws {
        var generator = SeededGenerator(seed: 28)
        var counts = (possible: 0, impossible: 0)
        for _ in 0..<1000 {
            let pattern = CalendarPattern(unchecked: Self.dates(&generator), missingDay: .skip)
            let start = GregorianCalendar.day(1999, 1, 1)
            let exists = pattern.next(from: start, through: start + 402 * 366) != nil
            #expect(pattern.isPossible == exists, "\(pattern)")
            if exists { counts.possible += 1 } else { counts.impossible += 1 }
        }
        #expect(counts.possible > 100 && counts.impossible > 100)
    }

    /// Several ways to say which day it is, which mostly contradict each other.
    private static func dates(_ generator: inout SeededGenerator) -> CalendarComponents {
        func some(_ range: ClosedRange<Int>, _ chance: Double) -> Int? {
            guard Double.random(in: 0..<1, using: &generator) < chance else { return nil }
            return Bool.random(using: &generator) ? range.upperBound : Int.random(in: range, using: &generator)
        }
        func several(_ range: ClosedRange<Int>, _ chance: Double) -> CalendarValues? {
            guard let first = some(range, chance) else { return nil }
            return CalendarValues([first, some(range, 0.3) ?? first, some(range, 0.3) ?? first])
        }
        var components = CalendarComponents(weekday: several(1...7, 1))
        components.day = several(28...31, 0.6)
        components.month = components.day == nil ? nil : several(1...12, 0.6)
        components.dayOfYear = some(358...366, 0.3)
        components.weekOfYear = some(52...53, 0.4)
        components.weekdayOrdinal = some(4...5, 0.3)
        components.weekOfMonth = some(4...5, 0.3)
        return components
    }

    @Test("searches in both directions find the dates that have the components")
    func bothDirections() {
        var generator = SeededGenerator(seed: 3)
        var found = 0
        for _ in 0..<400 {
            let pattern = CalendarPattern(unchecked: Self.dates(&generator), missingDay: .skip)
            let start = GregorianCalendar.day(Int64.random(in: 1970...2096, using: &generator), 1, 1)
            let expected = (start..<start + 4 * 366).filter(pattern.components.match)
            var (dates, day) = ([Int64](), start)
            while let next = pattern.next(from: day, through: start + 4 * 366 - 1) {
                dates.append(next)
                day = next + 1
            }
            #expect(dates == expected)
            dates = []
            day = start + 4 * 366 - 1
            while let previous = pattern.previous(from: day, through: start) {
                dates.append(previous)
                day = previous - 1
            }
            #expect(dates.reversed() == expected)
            found += expected.count
        }
        #expect(found > 100)
    }

    @Test("days that a month lacks move, searched from any day in both directions", arguments: 29...31)
    func movedDays(_ wanted: Int) throws {
        for policy in [MissingDayPolicy.previous, .nextTime] {
            for month in [nil, 2, 4] as [Int?] {
                let pattern = try CalendarPattern(
                    CalendarComponents(month: month.map { CalendarValues($0) }, day: CalendarValues(wanted)),
                    missingDay: policy
                )
                let (start, end) = (GregorianCalendar.day(2095, 12, 1), GregorianCalendar.day(2105, 2, 1))
                let dates = (start..<end).filter { day in
                    let date = Timestamp.date(ofDay: day)
                    guard date.day != wanted else { return month == nil || date.month == month.map(Int64.init) }
                    // The month whose day it stands for has its last day here or the day before.
                    let last = policy == .previous ? day : day - 1
                    let own = Timestamp.date(ofDay: last)
                    let isLast = Timestamp.date(ofDay: last + 1).day == 1
                    return isLast && own.day < wanted && (month == nil || own.month == month.map(Int64.init))
                }
                let wrong = (start..<end - 40).filter { day in
                    pattern.next(from: day, through: end - 1) != dates.first { $0 >= day }
                        || pattern.previous(from: day, through: start) != dates.last { $0 <= day }
                        || pattern.next(from: day, through: day) != (dates.contains(day) ? day : nil)
                        || pattern.previous(from: day, through: day) != (dates.contains(day) ? day : nil)
                }
                #expect(wrong.isEmpty && dates.count >= 9, "\(policy) \(month ?? 0): \(wrong.prefix(5))")
            }
        }
    }

    /// Times of a pattern by its conditions, day by day.
    private static func times(_ pattern: CalendarPattern, _ days: Range<Int64>) -> [Int64] {
        let dates = days.filter { pattern.next(from: $0, through: $0) != nil }
        return dates.flatMap { date in
            (0..<24).filter { pattern.hours & 1 << $0 != 0 }.map { date * 86_400 + Int64($0) * 3600 + pattern.second }
        }
    }

    @Test("times are found in both directions, and counted, as a list of all of them has them")
    func times() throws {
        var generator = SeededGenerator(seed: 27)
        var found = 0
        for round in 0..<300 {
            var components = round % 3 == 0 ? CalendarComponents() : Self.dates(&generator)
            if round % 3 == 1 {
                components = CalendarComponents(weekday: components.weekday)
            } else if round % 3 == 2 {
                components.dayOfYear = nil
                components.weekOfYear = nil
            }
            components.hour = CalendarValues((0..<3).map { _ in Int.random(in: 0...23, using: &generator) })
            components.minute = 30
            let pattern = CalendarPattern(unchecked: components, missingDay: .skip)
            let first = Int64.random(in: -1000...20_000, using: &generator)
            let times = Self.times(pattern, first..<first + 100)
            for _ in 0..<30 {
                let range = first * 86_400..<(first + 100) * 86_400
                let (one, other) = (
                    Int64.random(in: range, using: &generator), Int64.random(in: range, using: &generator)
                )
                // Also exactly at a time, and a second beside it.
                let start =
                    times.isEmpty || Bool.random(using: &generator) ? min(one, other) : times[times.count / 2] + one % 2
                let end = max(start, one, other)
                let inside = times.filter { $0 >= start && $0 <= end }
                #expect(pattern.next(fromTime: start, through: end) == inside.first)
                #expect(pattern.previous(fromTime: end, through: start) == inside.last)
                #expect(pattern.count(from: start, through: end) == inside.count)
                found += inside.count
            }
        }
        #expect(found > 10_000)
    }

    @Test(
        "what a month lacks is on one date, though it is listed with that one",
        arguments: [MissingDayPolicy.previous, .nextTime]
    )
    func oneDate(_ policy: MissingDayPolicy) throws {
        let schedule = try schedule(
            .init(day: [1, 30, 31]),
            in: "UTC",
            after: "2027-01-31T00:00:00Z",
            missingDay: policy
        )
        let expected =
            policy == .previous
            ? [
                "2027-02-01", "2027-02-28", "2027-03-01", "2027-03-30", "2027-03-31", "2027-04-01", "2027-04-30",
                "2027-05-01",
            ]
            : [
                "2027-02-01", "2027-03-01", "2027-03-30", "2027-03-31", "2027-04-01", "2027-04-30", "2027-05-01",
                "2027-05-30",
            ]
        #expect(schedule.prefix(8) == (try expected.map { try at("\($0)T00:00:00Z") }))
        #expect(
            try schedule.count(from: schedule.first, through: at("2027-05-01T00:00:00Z")) == expected.count
                - (policy == .previous ? 0 : 1)
        )
    }

    @Test("a list of a year's dates is past with its last, also when that one is in a gap that is skipped")
    func past() throws {
        let berlin = try zone("Europe/Berlin")
        let trigger = CalendarTrigger(
            dateComponents: .init(year: 2026, month: 3, day: [28, 29], hour: 2, minute: 30),
            timeZone: "Europe/Berlin",
            gap: .skip
        )
        try CalendarSchedule.check(trigger, after: at("2026-03-28T00:00:00Z"), zone: berlin)
        #expect(
            try CalendarSchedule(trigger, anchor: at("2026-03-28T00:00:00Z"), zone: berlin).first
                == at("2026-03-28T01:30:00Z")
        )
        let afterFirst = try at("2026-03-28T02:00:00Z")
        let gap = failure { () throws(ModelError) in
            try CalendarSchedule.check(trigger, after: afterFirst, zone: berlin)
        }
        #expect(gap?.reason == .gap)
        let later = try at("2026-03-31T06:00:00Z")
        for zone in [berlin, nil] {
            let past = failure { () throws(ModelError) in try CalendarSchedule.check(trigger, after: later, zone: zone)
            }
            #expect(past?.reason == .invalid && past?.detail.contains("past") == true)
        }
    }

    @Test(
        "lists have all of their occurrences, through changes of the clock",
        arguments: [
            CalendarRow(
                name: "workdays",
                components: .init(weekday: [2, 3, 4, 5, 6], hour: 9),
                after: "2026-03-05T15:00:00Z",
                expected: ["2026-03-06T09:00:00-05:00", "2026-03-09T09:00:00-04:00", "2026-03-10T09:00:00-04:00"]
            ),
            CalendarRow(
                name: "two hours of which one is in the gap: one instant is one occurrence",
                components: .init(hour: [2, 3], minute: 30),
                after: "2026-03-07T08:00:00Z",
                expected: ["2026-03-07T03:30:00-05:00", "2026-03-08T03:30:00-04:00", "2026-03-09T02:30:00-04:00"]
            ),
            CalendarRow(
                name: "two hours of which one is twice",
                components: .init(hour: [1, 2], minute: 30),
                after: "2026-11-01T05:00:00Z",
                overlap: .both,
                expected: [
                    "2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00", "2026-11-01T02:30:00-05:00",
                    "2026-11-02T01:30:00-05:00",
                ]
            ),
            CalendarRow(
                name: "months without a day",
                components: .init(month: [3, 9]),
                after: "2026-03-05T15:00:00Z",
                expected: ["2026-09-01T00:00:00-04:00", "2027-03-01T00:00:00-05:00", "2027-09-01T00:00:00-04:00"]
            ),
        ]
    )
    func lists(_ row: CalendarRow) throws { try row.verify() }
}
