import NotificationModel
import Testing

@Suite("Calendar triggers: required results")
struct CalendarReferenceTests {
    private static let night = CalendarComponents(hour: 2, minute: 30)
    private static let leapDay = CalendarComponents(month: 2, day: 29, hour: 9)
    private static let last = CalendarComponents(day: 31, hour: 9)
    private static let day30 = CalendarComponents(year: 2027, month: 2, day: 30, hour: 9)
    private static let april = CalendarComponents(month: 4, day: 31, hour: 9)
    private static let gapDate = CalendarComponents(year: 2026, month: 3, day: 8, hour: 2, minute: 30)
    private static let newYear = "2026-01-01T00:00:00-05:00"
    private static let gapEve = "2026-03-07T12:00:00-05:00"
    private static let overlapEve = "2026-10-31T12:00:00-04:00"

    private static let clocks: [CalendarRow] = [
        .init(
            name: "daily 02:30 over a gap",
            components: night,
            after: gapEve,
            gap: .skip,
            expected: ["2026-03-09T02:30:00-04:00", "2026-03-10T02:30:00-04:00"]
        ),
        .init(
            name: "daily 02:30 over a gap",
            components: night,
            after: gapEve,
            gap: .nextTime,
            expected: ["2026-03-08T03:30:00-04:00", "2026-03-09T02:30:00-04:00"]
        ),
        .init(
            name: "daily 02:30 over a gap, the default",
            components: night,
            after: gapEve,
            expected: ["2026-03-08T07:30:00Z", "2026-03-09T02:30:00-04:00"]
        ),
        .init(
            name: "daily 02:30 over a gap",
            components: night,
            after: gapEve,
            gap: .previous,
            expected: ["2026-03-08T01:30:00-05:00", "2026-03-09T02:30:00-04:00"]
        ),
        .init(name: "a date in a gap", components: gapDate, after: newYear, gap: .skip, expected: []),
        .init(
            name: "a date in a gap",
            components: gapDate,
            after: newYear,
            gap: .nextTime,
            expected: ["2026-03-08T03:30:00-04:00"]
        ),
        .init(
            name: "a date in a gap",
            components: gapDate,
            after: newYear,
            gap: .previous,
            expected: ["2026-03-08T01:30:00-05:00"]
        ),
        .init(
            name: "daily 01:30 over an overlap",
            components: .init(hour: 1, minute: 30),
            after: overlapEve,
            overlap: .first,
            expected: ["2026-11-01T05:30:00Z", "2026-11-02T01:30:00-05:00"]
        ),
        .init(
            name: "daily 01:30 over an overlap, the default",
            components: .init(hour: 1, minute: 30),
            after: overlapEve,
            expected: ["2026-11-01T05:30:00Z", "2026-11-02T01:30:00-05:00"]
        ),
        .init(
            name: "daily 01:30 over an overlap",
            components: .init(hour: 1, minute: 30),
            after: overlapEve,
            overlap: .last,
            expected: ["2026-11-01T06:30:00Z", "2026-11-02T01:30:00-05:00"]
        ),
        .init(
            name: "daily 01:30 over an overlap",
            components: .init(hour: 1, minute: 30),
            after: overlapEve,
            overlap: .both,
            expected: ["2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z", "2026-11-02T01:30:00-05:00"]
        ),
        .init(
            name: "midnight in a gap",
            zone: "America/Sao_Paulo",
            components: .init(hour: 0),
            after: "2018-11-03T12:00:00-03:00",
            gap: .skip,
            expected: ["2018-11-05T00:00:00-02:00"]
        ),
        .init(
            name: "midnight in a gap",
            zone: "America/Sao_Paulo",
            components: .init(hour: 0),
            after: "2018-11-03T12:00:00-03:00",
            gap: .nextTime,
            expected: ["2018-11-04T01:00:00-02:00", "2018-11-05T00:00:00-02:00"]
        ),
        .init(
            name: "midnight in a gap",
            zone: "America/Sao_Paulo",
            components: .init(hour: 0),
            after: "2018-11-03T12:00:00-03:00",
            gap: .previous,
            expected: ["2018-11-03T23:00:00-03:00", "2018-11-05T00:00:00-02:00"]
        ),
    ]

    private static let anyHour: [CalendarRow] = GapPolicy.allCases.flatMap { gap in
        OverlapPolicy.allCases.flatMap { overlap -> [CalendarRow] in
            [
                .init(
                    name: "minute 30 on the day of an overlap",
                    components: .init(minute: 30),
                    after: "2026-11-01T00:45:00-04:00",
                    gap: gap,
                    overlap: overlap,
                    expected: [
                        "2026-11-01T01:30:00-04:00", "2026-11-01T01:30:00-05:00", "2026-11-01T02:30:00-05:00",
                    ]
                ),
                .init(
                    name: "minute 30 on the day of a gap",
                    components: .init(minute: 30),
                    after: "2026-03-08T00:45:00-05:00",
                    gap: gap,
                    overlap: overlap,
                    expected: ["2026-03-08T01:30:00-05:00", "2026-03-08T03:30:00-04:00"]
                ),
                .init(
                    name: "minute 15 over a gap of half an hour",
                    zone: "Australia/Lord_Howe",
                    components: .init(minute: 15),
                    after: "2026-10-04T00:45:00+10:30",
                    gap: gap,
                    overlap: overlap,
                    expected: ["2026-10-04T01:15:00+10:30", "2026-10-04T03:15:00+11:00"]
                ),
                .init(
                    // 02:00 is left out, and the 02:30 that follows it is not at minute 0.
                    name: "minute 0 over a gap of half an hour",
                    zone: "Australia/Lord_Howe",
                    components: .init(minute: 0),
                    after: "2026-10-04T00:45:00+10:30",
                    gap: gap,
                    overlap: overlap,
                    expected: ["2026-10-04T01:00:00+10:30", "2026-10-04T03:00:00+11:00"]
                ),
                .init(
                    name: "minute 45 over an overlap of half an hour",
                    zone: "Australia/Lord_Howe",
                    components: .init(minute: 45),
                    after: "2026-04-05T01:15:00+11:00",
                    gap: gap,
                    overlap: overlap,
                    expected: [
                        "2026-04-05T01:45:00+11:00", "2026-04-05T01:45:00+10:30", "2026-04-05T02:45:00+10:30",
                    ]
                ),
            ]
        }
    }

    private static let missingDays: [CalendarRow] = [
        .init(
            name: "29 February",
            components: leapDay,
            after: "2025-03-01T00:00:00-05:00",
            expected: ["2028-02-29T09:00:00-05:00", "2032-02-29T09:00:00-05:00"]
        ),
        .init(
            name: "29 February",
            components: leapDay,
            after: "2025-03-01T00:00:00-05:00",
            missingDay: .nextTime,
            expected: [
                "2025-03-01T09:00:00-05:00", "2026-03-01T09:00:00-05:00", "2027-03-01T09:00:00-05:00",
                "2028-02-29T09:00:00-05:00", "2029-03-01T09:00:00-05:00",
            ]
        ),
        .init(
            name: "29 February",
            components: leapDay,
            after: "2025-03-01T00:00:00-05:00",
            missingDay: .previous,
            expected: ["2026-02-28T09:00:00-05:00", "2027-02-28T09:00:00-05:00", "2028-02-29T09:00:00-05:00"]
        ),
        .init(
            name: "day 31",
            components: last,
            after: "2026-01-31T12:00:00-05:00",
            expected: ["2026-03-31T09:00:00-04:00", "2026-05-31T09:00:00-04:00", "2026-07-31T09:00:00-04:00"]
        ),
        .init(
            name: "day 31",
            components: last,
            after: "2026-01-31T12:00:00-05:00",
            missingDay: .nextTime,
            expected: ["2026-03-01T09:00:00-05:00", "2026-03-31T09:00:00-04:00", "2026-05-01T09:00:00-04:00"]
        ),
        .init(
            name: "day 31",
            components: last,
            after: "2026-01-31T12:00:00-05:00",
            missingDay: .previous,
            expected: ["2026-02-28T09:00:00-05:00", "2026-03-31T09:00:00-04:00", "2026-04-30T09:00:00-04:00"]
        ),
        .init(name: "2027-02-30", components: day30, after: newYear, expected: []),
        .init(
            name: "2027-02-30",
            components: day30,
            after: newYear,
            missingDay: .nextTime,
            expected: ["2027-03-01T09:00:00-05:00"]
        ),
        .init(
            name: "2027-02-30",
            components: day30,
            after: newYear,
            missingDay: .previous,
            expected: ["2027-02-28T09:00:00-05:00"]
        ),
        .init(name: "31 April", components: april, after: newYear, expected: []),
        .init(
            name: "31 April",
            components: april,
            after: newYear,
            missingDay: .nextTime,
            expected: ["2026-05-01T09:00:00-04:00", "2027-05-01T09:00:00-04:00"]
        ),
        .init(
            name: "31 April",
            components: april,
            after: newYear,
            missingDay: .previous,
            expected: ["2026-04-30T09:00:00-04:00", "2027-04-30T09:00:00-04:00"]
        ),
        .init(
            name: "31 December next door to a year",
            components: .init(month: 12, day: 31),
            after: newYear,
            missingDay: .nextTime,
            expected: ["2026-12-31T00:00:00-05:00", "2027-12-31T00:00:00-05:00"]
        ),
    ]

    private static let dates: [CalendarRow] = [
        .init(
            name: "Friday 13th",
            components: .init(weekday: 6, day: 13),
            after: newYear,
            expected: [
                "2026-02-13T00:00:00-05:00", "2026-03-13T00:00:00-04:00", "2026-11-13T00:00:00-05:00",
                "2027-08-13T00:00:00-04:00",
            ]
        ),
        .init(
            name: "29 February across 2100",
            components: .init(month: 2, day: 29),
            after: "2096-03-01T00:00:00-05:00",
            expected: ["2104-02-29T00:00:00-05:00"]
        ),
        .init(
            name: "29 February on a Monday",
            components: .init(month: 2, weekday: 2, day: 29),
            after: newYear,
            expected: ["2044-02-29T00:00:00-05:00", "2072-02-29T00:00:00-05:00", "2112-02-29T00:00:00-05:00"]
        ),
        .init(
            name: "fifth Friday",
            components: .init(weekday: 6, weekdayOrdinal: 5),
            after: newYear,
            expected: [
                "2026-01-30T00:00:00-05:00", "2026-05-29T00:00:00-04:00", "2026-07-31T00:00:00-04:00",
                "2026-10-30T00:00:00-04:00",
            ]
        ),
        .init(
            name: "day 366",
            components: .init(dayOfYear: 366),
            after: newYear,
            expected: ["2028-12-31T00:00:00-05:00", "2032-12-31T00:00:00-05:00"]
        ),
        .init(
            name: "Monday of week 53",
            components: .init(weekOfYear: 53, weekday: 2),
            after: newYear,
            expected: ["2026-12-28T00:00:00-05:00", "2032-12-27T00:00:00-05:00", "2037-12-28T00:00:00-05:00"]
        ),
        .init(
            name: "Monday of week 1",
            components: .init(weekOfYear: 1, weekday: 2),
            after: "2026-06-01T00:00:00-04:00",
            expected: ["2027-01-04T00:00:00-05:00", "2028-01-03T00:00:00-05:00", "2029-01-01T00:00:00-05:00"]
        ),
        .init(
            name: "fourth Thursday of November",
            components: .init(month: 11, weekday: 5, weekdayOrdinal: 4),
            after: newYear,
            expected: [
                "2026-11-26T00:00:00-05:00", "2027-11-25T00:00:00-05:00", "2028-11-23T00:00:00-05:00",
                "2029-11-22T00:00:00-05:00",
            ]
        ),
        .init(
            name: "month 2",
            components: .init(month: 2),
            after: newYear,
            expected: ["2026-02-01T00:00:00-05:00", "2027-02-01T00:00:00-05:00"]
        ),
        .init(
            name: "quarter 3",
            components: .init(quarter: 3),
            after: newYear,
            expected: ["2026-07-01T00:00:00-04:00", "2027-07-01T00:00:00-04:00"]
        ),
        .init(
            name: "hour 9",
            components: .init(hour: 9),
            after: newYear,
            expected: ["2026-01-01T09:00:00-05:00", "2026-01-02T09:00:00-05:00"]
        ),
        .init(
            name: "second 5",
            components: .init(second: 5),
            after: newYear,
            expected: ["2026-01-01T00:00:05-05:00", "2026-01-01T00:01:05-05:00"]
        ),
        .init(
            // July 2026 begins on a Wednesday, August on a Saturday: its week 1 begins on the 3rd.
            name: "Friday of week 1 of a month",
            components: .init(weekOfMonth: 1, weekday: 6),
            after: "2026-07-01T00:00:00-04:00",
            expected: ["2026-07-03T00:00:00-04:00", "2026-08-07T00:00:00-04:00"]
        ),
        .init(
            // The Monday of July's week 1 is 29 June, which is in week 5 of June.
            name: "Monday of week 1 of a month",
            components: .init(weekOfMonth: 1, weekday: 2),
            after: "2026-07-01T00:00:00-04:00",
            expected: ["2026-08-03T00:00:00-04:00", "2026-11-02T00:00:00-05:00"]
        ),
        .init(
            name: "a year with repeats",
            components: .init(year: 2027, month: 2, day: 1),
            after: newYear,
            expected: ["2027-02-01T00:00:00-05:00"]
        ),
    ]

    @Test("clocks that change", arguments: clocks) func clock(_ row: CalendarRow) throws { try row.verify() }
    @Test("the hour is a wildcard", arguments: anyHour) func hour(_ row: CalendarRow) throws { try row.verify() }
    @Test("days that a month lacks", arguments: missingDays) func day(_ row: CalendarRow) throws { try row.verify() }
    @Test("dates", arguments: dates) func date(_ row: CalendarRow) throws { try row.verify() }

    @Test("a past date has no occurrence, whatever the policies", arguments: GapPolicy.allCases, OverlapPolicy.allCases)
    func past(gap: GapPolicy, overlap: OverlapPolicy) {
        let error = #expect(throws: ModelError.self) {
            try schedule(
                .init(year: 2025, month: 6, day: 1, hour: 9),
                after: Self.newYear,
                gap: gap,
                overlap: overlap,
                repeats: false
            )
        }
        #expect(error?.reason == .invalid && error?.field == "dateComponents")
        #expect(error?.detail.hasPrefix("are past") == true)
    }

    @Test("the only time is in a gap that is skipped: the reason says so")
    func skippedGap() {
        let error = #expect(throws: ModelError.self) {
            try schedule(Self.gapDate, after: Self.newYear, gap: .skip, repeats: false)
        }
        #expect(error?.reason == .gap && error?.field == "dateComponents")
        let late = #expect(throws: ModelError.self) {
            try schedule(Self.gapDate, after: "2026-03-08T12:00:00Z", gap: .skip, repeats: false)
        }
        #expect(late?.reason == .invalid)
    }
}
