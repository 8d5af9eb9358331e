import Testing

@testable import NotificationModel

@Suite("Calendar schedules")
struct CalendarScheduleTests {
    private let nine = CalendarComponents(hour: 9)

    @Test("the search is exclusive of its start, with its fraction of a second")
    func exclusive() throws {
        for (after, expected) in [
            ("2026-06-01T12:59:59.999Z", "2026-06-01T13:00:00Z"), ("2026-06-01T13:00:00.000Z", "2026-06-02T13:00:00Z"),
            ("2026-06-01T13:00:00.400Z", "2026-06-02T13:00:00Z"),
        ] {
            #expect(try schedule(nine, after: after).first == at(expected))
        }
    }

    @Test("an occurrence at notBefore counts, and one before it does not")
    func notBefore() throws {
        for (notBefore, expected) in [
            ("2026-07-01T13:00:00.000Z", "2026-07-01T13:00:00Z"), ("2026-07-01T13:00:00.001Z", "2026-07-02T13:00:00Z"),
            ("2026-07-01T12:59:59.999Z", "2026-07-01T13:00:00Z"), ("2026-05-01T13:00:00.000Z", "2026-06-02T13:00:00Z"),
            ("2026-06-01T13:00:00.000Z", "2026-06-02T13:00:00Z"),
        ] {
            let found = try schedule(nine, after: "2026-06-01T13:00:00Z", notBefore: notBefore)
            #expect(try found.first == at(expected), "not before \(notBefore)")
        }
    }

    @Test("one that does not repeat has one occurrence")
    func once() throws {
        let once = try schedule(nine, after: "2026-06-01T00:00:00Z", repeats: false)
        #expect(once.next(after: once.first) == nil)
        #expect(once.previous(through: .latest, from: once.first) == once.first)
        #expect(once.count(from: once.first, through: once.first) == 1)
        #expect(once.explain(once.first) != nil)
        #expect(once.explain(once.first.adding(milliseconds: 86_400_000)) == nil)
        let both = try schedule(
            .init(hour: 1, minute: 30),
            after: "2026-10-31T12:00:00Z",
            overlap: .both,
            repeats: false
        )
        #expect(both.next(after: both.first) == nil)
    }

    @Test("counts and searches back agree with searches forward")
    func backAndForth() throws {
        let sets: [CalendarComponents] = [
            .init(second: 7), .init(minute: 30), nine, .init(hour: 2, minute: 30), .init(hour: 1, minute: 30),
            .init(weekday: 1, hour: 2, minute: 15), .init(day: 31), .init(month: 2, day: 29),
            .init(weekday: 6, day: 13),
            .init(weekOfYear: 53, weekday: 1), .init(dayOfYear: 366), .init(weekday: 1, weekdayOrdinal: 5),
            .init(weekOfMonth: 1, weekday: 2),
        ]
        for name in ["America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Dublin", "UTC", "Asia/Gaza"] {
            for components in sets {
                for overlap in OverlapPolicy.allCases {
                    let schedule = try schedule(
                        components,
                        in: name,
                        after: "2011-10-01T00:00:00Z",
                        gap: GapPolicy.allCases[overlap == .both ? 1 : 0],
                        overlap: overlap
                    )
                    let found = schedule.prefix(400)
                    let (first, last) = (found[0], found[found.count - 1])
                    #expect(schedule.count(from: first, through: last) == found.count)
                    let wrong = found.indices.filter { $0 % 11 == 0 || $0 < 16 }.filter { index in
                        let (occurrence, middle) = (found[index], index / 2)
                        let before = occurrence.adding(milliseconds: -1)
                        return schedule.count(from: found[middle], through: occurrence) != index - middle + 1
                            || schedule.previous(through: occurrence, from: first) != occurrence
                            || schedule.previous(through: before, from: first) != found[max(0, index - 1)]
                    }
                    #expect(wrong.isEmpty, "\(name) \(components) \(overlap)")
                }
            }
        }
    }

    @Test("repeats go on by the footer's rule long after the file's last transition")
    func farFuture() throws {
        let night = try schedule(.init(hour: 2, minute: 30), after: "2100-03-13T12:00:00-05:00")
        #expect(
            try night.prefix(2).map(\.rfc3339)
                == [at("2100-03-14T03:30:00-04:00"), at("2100-03-15T02:30:00-04:00")]
                .map(\.rfc3339)
        )
        let date = try schedule(
            .init(year: 2100, month: 7, day: 1, hour: 9),
            in: "Europe/Dublin",
            after: "2060-01-01T00:00:00Z"
        )
        #expect(try date.first == at("2100-07-01T09:00:00+01:00"))
        let back = try schedule(
            .init(hour: 1, minute: 45),
            in: "Australia/Lord_Howe",
            after: "2100-04-03T12:00:00Z",
            overlap: .both
        )
        #expect(try back.prefix(2) == [at("2100-04-04T01:45:00+11:00"), at("2100-04-04T01:45:00+10:30")])
    }

    @Test("nothing within 60 years is refused, what comes just in time is not")
    func horizon() throws {
        let far = CalendarComponents(year: 2087, month: 1, day: 1)
        let error = #expect(throws: ModelError.self) { try schedule(far, after: "2026-11-22T00:00:00Z") }
        #expect(error?.reason == .invalid && error?.field == "dateComponents")
        #expect(error?.detail.contains("within 60 years") == true)
        #expect(try schedule(far, after: "2027-06-01T00:00:00Z").first == at("2087-01-01T00:00:00-05:00"))
    }

    @Test("the ends of time are refused or silent, and never trap")
    func extremes() throws {
        let zone = try zone("America/New_York")
        for components in [nine, .init(second: 0), .init(month: 2, day: 29), .init(weekOfYear: 53, weekday: 1)] {
            for anchor in [Timestamp(rawValue: .max), .latest] {
                let trigger = CalendarTrigger(dateComponents: components, repeats: true)
                #expect(throws: ModelError.self) { try CalendarSchedule(trigger, anchor: anchor, zone: zone) }
            }
            for notBefore in [Timestamp(rawValue: .max), Timestamp(rawValue: .min), nil] {
                let trigger = CalendarTrigger(dateComponents: components, repeats: true, notBefore: notBefore)
                let schedule = try? CalendarSchedule(trigger, anchor: Timestamp(rawValue: .min), zone: zone)
                #expect((schedule == nil) == (notBefore?.rawValue == .max))
                guard let schedule else { continue }
                #expect(schedule.first >= .earliest)
                #expect(schedule.next(after: Timestamp(rawValue: .max)) == nil)
                #expect(schedule.next(after: .latest) == nil)
                let last = schedule.previous(through: Timestamp(rawValue: .max), from: schedule.first)
                #expect(last > schedule.first && last <= .latest && schedule.next(after: last) == nil)
                #expect(schedule.previous(through: Timestamp(rawValue: .min), from: schedule.first) == schedule.first)
                #expect(schedule.explain(Timestamp(rawValue: .max)) == nil)
                #expect(schedule.explain(Timestamp(rawValue: .min)) == nil)
            }
        }
    }

    @Test("an explanation says what the policies did")
    func explanations() throws {
        let night = CalendarComponents(hour: 2, minute: 30)
        let gap = try schedule(night, after: "2026-03-08T00:00:00Z")
        let moved = try #require(gap.explain(gap.first))
        #expect(moved.resolution == .gap(policy: .nextTime, seconds: 3600))
        #expect(moved.wanted.description == "2026-03-08T02:30:00" && moved.local.description == "2026-03-08T03:30:00")
        #expect(moved.offset == -14_400 && moved.abbreviation == "EDT" && moved.isDaylightSavingTime)
        #expect(
            moved.description
                == "2026-03-08T07:30:00.000Z  2026-03-08T03:30:00-04:00 EDT America/New_York; "
                + "2026-03-08T02:30:00 does not exist: forward by 3600 s (gap nextTime)"
        )

        let back = try schedule(night, after: "2026-03-08T00:00:00Z", gap: .previous)
        #expect(back.explain(back.first)?.resolution == .gap(policy: .previous, seconds: -3600))

        let passes = try schedule(.init(minute: 30), after: "2026-11-01T05:00:00Z").prefix(3)
        let hourly = try schedule(.init(minute: 30), after: "2026-11-01T05:00:00Z")
        #expect(
            passes.map { hourly.explain($0)?.resolution } == [
                .overlap(isFirst: true, seconds: 3600), .overlap(isFirst: false, seconds: 3600), .exact,
            ]
        )

        let last = try schedule(.init(day: 31, hour: 9), after: "2026-04-01T12:00:00Z", missingDay: .previous)
        #expect(last.explain(last.first)?.missingDay == .previous)
        #expect(try last.explain(at("2026-05-31T09:00:00-04:00"))?.missingDay == nil)
        #expect(try last.explain(at("2026-05-30T09:00:00-04:00")) == nil)

        // Two dates fall on this instant: the one that exists explains it.
        let apia = try schedule(nine, in: "Pacific/Apia", after: "2011-12-30T00:00:00Z")
        #expect(try apia.first == at("2011-12-31T09:00:00+14:00"))
        #expect(apia.explain(apia.first)?.resolution == .exact)
    }

    @Test("schedules are equal when their zones' rules are")
    func equality() throws {
        let one = try schedule(nine, after: "2026-06-01T00:00:00Z")
        #expect(try one == schedule(nine, after: "2026-06-01T00:00:00Z"))
        #expect(try one != schedule(nine, after: "2026-06-01T01:00:00Z"))
        #expect(try one != schedule(nine, in: "America/Detroit", after: "2026-06-01T00:00:00Z"))
        #expect(try one != schedule(.init(hour: 9), after: "2026-06-03T00:00:00Z"))
        #expect(try Set([one, schedule(nine, after: "2026-06-01T00:00:00Z")]).count == 1)
    }

    @Test("a jitter is in milliseconds, and the misfire policy is kept")
    func carried() throws {
        let trigger = CalendarTrigger(dateComponents: nine, misfire: .drop, jitter: 30.5)
        let found = try CalendarSchedule(trigger, anchor: at("2026-06-01T00:00:00Z"), zone: zone("UTC"))
        #expect(found.jitter == 30_500 && found.misfire == .drop && !found.repeats)
    }

    @Test("a restored schedule is the same, and stands when the zone's rules leave it no occurrence")
    func restored() throws {
        let gap = CalendarTrigger(
            dateComponents: .init(year: 2026, month: 3, day: 8, hour: 2, minute: 30),
            timeZone: "America/New_York",
            gap: .skip
        )
        let (anchor, due) = try (at("2026-01-01T00:00:00Z"), at("2026-03-08T07:30:00Z"))
        #expect(throws: ModelError.self) {
            try CalendarSchedule(gap, anchor: anchor, zone: zone("America/New_York"))
        }
        let changed = try CalendarSchedule(
            restoring: gap,
            anchor: anchor,
            zone: zone("America/New_York"),
            occurrence: due
        )
        #expect(changed.first == due && changed.next(after: due) == nil)

        let daily = try schedule(nine, after: "2026-06-01T00:00:00Z", notBefore: "2026-07-01T00:00:00Z")
        let again = try CalendarSchedule(
            restoring: daily.trigger,
            anchor: daily.anchor,
            zone: daily.zone,
            occurrence: at("2027-01-01T14:00:00Z")
        )
        #expect(again == daily)
        #expect(throws: ModelError.self) {
            let hole = CalendarTrigger(dateComponents: .init(month: 2, hour: 9))
            _ = try CalendarSchedule(restoring: hole, anchor: anchor, zone: zone("UTC"), occurrence: due)
        }
    }
}
