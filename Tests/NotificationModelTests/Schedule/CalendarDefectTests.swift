import NotificationModel
import Testing

/// Foundation's calendar has these defects on Linux (reference, B4); a trigger must not show them.
@Suite("Calendar triggers: defects of Foundation")
struct CalendarDefectTests {
    @Test("1: the trigger's zone decides, not the machine's")
    func zones() throws {
        let shanghai = try schedule(.init(hour: 9, minute: 30), in: "Asia/Shanghai", after: "2026-06-01T00:00:00Z")
        #expect(
            try schedule(.init(hour: 9, minute: 30), after: "2026-06-01T00:00:00Z").first == at("2026-06-01T13:30:00Z")
        )
        #expect(try shanghai.first == at("2026-06-01T01:30:00Z"))
    }

    private static let gaps: [CalendarRow] = [
        .init(
            name: "Lord Howe, half an hour",
            zone: "Australia/Lord_Howe",
            components: .init(hour: 2, minute: 15),
            after: "2026-10-03T12:00:00Z",
            expected: ["2026-10-04T02:45:00+11:00", "2026-10-05T02:15:00+11:00"]
        ),
        .init(
            name: "Lord Howe, half an hour",
            zone: "Australia/Lord_Howe",
            components: .init(hour: 2, minute: 15),
            after: "2026-10-03T12:00:00Z",
            gap: .previous,
            expected: ["2026-10-04T01:45:00+10:30", "2026-10-05T02:15:00+11:00"]
        ),
        .init(
            name: "Lord Howe, half an hour",
            zone: "Australia/Lord_Howe",
            components: .init(hour: 2, minute: 15),
            after: "2026-10-03T12:00:00Z",
            gap: .skip,
            expected: ["2026-10-05T02:15:00+11:00"]
        ),
        .init(
            name: "Caracas, half an hour",
            zone: "America/Caracas",
            components: .init(hour: 2, minute: 45),
            after: "2016-04-30T12:00:00Z",
            expected: ["2016-05-01T03:15:00-04:00", "2016-05-02T02:45:00-04:00"]
        ),
        .init(
            name: "Nuuk, across midnight",
            zone: "America/Nuuk",
            components: .init(hour: 23, minute: 30),
            after: "2026-03-28T12:00:00Z",
            expected: ["2026-03-29T00:30:00-01:00", "2026-03-29T23:30:00-01:00"]
        ),
        .init(
            name: "Troll, two hours",
            zone: "Antarctica/Troll",
            components: .init(hour: 2, minute: 30),
            after: "2026-03-28T12:00:00Z",
            expected: ["2026-03-29T04:30:00+02:00", "2026-03-30T02:30:00+02:00"]
        ),
        .init(
            name: "Casey, three hours",
            zone: "Antarctica/Casey",
            components: .init(hour: 1, minute: 30),
            after: "2020-10-03T12:00:00Z",
            expected: ["2020-10-04T04:30:00+11:00", "2020-10-05T01:30:00+11:00"]
        ),
    ]

    @Test("2: gaps of any length, across midnight too", arguments: gaps)
    func gap(_ row: CalendarRow) throws { try row.verify() }

    @Test("4: second Tuesdays, one after the other, with every policy", arguments: GapPolicy.allCases)
    func ordinals(_ gap: GapPolicy) throws {
        let tuesdays = try schedule(
            .init(weekday: 3, weekdayOrdinal: 2, hour: 9),
            after: "2026-01-01T00:00:00Z",
            gap: gap
        )
        let days = tuesdays.prefix(48).map { tuesdays.zone.local(at: $0) }
        #expect(days.prefix(4).map(\.day) == [13, 10, 10, 14])
        #expect(days.map(\.month) == (0..<48).map { $0 % 12 + 1 })
        #expect(days.allSatisfy { (8...14).contains($0.day) && $0.hour == 9 })
    }

    @Test("5: the last pass is the last one with a second too")
    func lastWithSecond() throws {
        let last = try schedule(
            .init(hour: 1, minute: 30, second: 0),
            after: "2026-10-31T12:00:00-04:00",
            overlap: .last
        )
        #expect(try last.first == at("2026-11-01T06:30:00Z"))
    }

    @Test("6: a search from between the passes gives the next day")
    func betweenPasses() throws {
        for after in ["2026-11-01T01:30:00-04:00", "2026-11-01T01:45:00-04:00", "2026-11-01T01:15:00-05:00"] {
            let found = try schedule(.init(hour: 1, minute: 30), after: after)
            #expect(try found.first == at("2026-11-02T01:30:00-05:00"), "after \(after)")
            let last = try schedule(.init(hour: 1, minute: 30), after: after, overlap: .last)
            #expect(try last.first == at("2026-11-01T01:30:00-05:00"), "after \(after)")
        }
    }

    @Test("7: backward, the passes keep their meaning")
    func backward() throws {
        let start = try at("2026-10-30T01:30:00-04:00")
        for (overlap, expected) in [
            (OverlapPolicy.first, "2026-11-01T05:30:00Z"), (.last, "2026-11-01T06:30:00Z"),
            (.both, "2026-11-01T06:30:00Z"),
        ] {
            let found = try schedule(
                .init(hour: 1, minute: 30),
                after: "2026-10-30T00:00:00-04:00",
                overlap: overlap
            )
            #expect(found.first == start)
            #expect(try found.previous(through: at("2026-11-01T12:00:00Z"), from: start) == at(expected))
        }
    }

    @Test("7: backward, a time that moved to the day before is found from there")
    func backwardAcrossMidnight() throws {
        let midnights = try schedule(
            .init(hour: 0),
            in: "America/Sao_Paulo",
            after: "2018-11-01T12:00:00Z",
            gap: .previous
        )
        let moved = try at("2018-11-03T23:00:00-03:00")
        #expect(midnights.previous(through: moved, from: midnights.first) == moved)
        #expect(try midnights.previous(through: at("2018-11-04T12:00:00Z"), from: midnights.first) == moved)
        #expect(try midnights.count(from: midnights.first, through: at("2018-11-05T02:00:00Z")) == 4)
    }

    private static let apia: [CalendarRow] =
        [
            .init(
                name: "a date that Apia lacks",
                zone: "Pacific/Apia",
                components: .init(year: 2011, month: 12, day: 30, hour: 9),
                after: "2011-12-01T00:00:00Z",
                expected: ["2011-12-31T09:00:00+14:00"]
            ),
            .init(
                name: "a date that Apia lacks",
                zone: "Pacific/Apia",
                components: .init(year: 2011, month: 12, day: 30, hour: 9),
                after: "2011-12-01T00:00:00Z",
                gap: .previous,
                expected: ["2011-12-29T09:00:00-10:00"]
            ),
            .init(
                name: "a date that Apia lacks",
                zone: "Pacific/Apia",
                components: .init(year: 2011, month: 12, day: 30, hour: 9),
                after: "2011-12-01T00:00:00Z",
                gap: .skip,
                expected: []
            ),
        ]
        + GapPolicy.allCases.map { gap in
            .init(
                name: "daily, one occurrence an instant",
                zone: "Pacific/Apia",
                components: .init(hour: 9),
                after: "2011-12-28T12:00:00-10:00",
                gap: gap,
                expected: ["2011-12-29T09:00:00-10:00", "2011-12-31T09:00:00+14:00", "2012-01-01T09:00:00+14:00"]
            )
        }

    @Test("8: a day that a zone lacks is a gap of 24 hours", arguments: apia)
    func missingDay(_ row: CalendarRow) throws { try row.verify() }

    @Test("9: weeks of a month differ")
    func weeksOfMonth() throws {
        let days = try (1...5).map { week in
            let found = try schedule(
                .init(year: 2026, month: 7, weekOfMonth: week, weekday: 6),
                after: "2026-01-01T00:00:00Z"
            )
            return found.zone.local(at: found.first).day
        }
        #expect(days == [3, 10, 17, 24, 31])
    }
}
