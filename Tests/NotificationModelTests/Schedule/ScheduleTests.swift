import NotificationModel
import Testing

@Suite("Schedules")
struct ScheduleTests {
    private let id = RequestID.uuid(UUIDValue(high: 1, low: 2))

    private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(rawValue: milliseconds) }

    private func every(_ interval: Int64, repeats: Bool = true, jitter: Int64 = 0) -> Schedule {
        .interval(.init(interval: interval, anchor: at(1000), repeats: repeats, misfire: nil, jitter: jitter))
    }

    @Test("an interval's occurrences are counted from the anchor")
    func interval() {
        let schedule = every(60_000)
        #expect(schedule.first == at(61_000))
        #expect(schedule.next(after: at(61_000)) == at(121_000))
        #expect(schedule.previous(through: at(120_999), from: at(61_000)) == at(61_000))
        #expect(schedule.previous(through: at(121_000), from: at(61_000)) == at(121_000))
        #expect(schedule.previous(through: at(0), from: at(61_000)) == at(61_000))
        #expect(schedule.count(from: at(61_000), through: at(181_000)) == 3)
    }

    @Test("one that does not repeat has one occurrence")
    func once() {
        let schedule = every(1, repeats: false)
        #expect(schedule.first == at(1001))
        #expect(schedule.next(after: at(1001)) == nil)
        #expect(schedule.previous(through: .latest, from: at(1001)) == at(1001))
    }

    @Test(
        "an occurrence is due before the next one, and the last due one is found",
        arguments: [0, 1, 59_999, 600_000] as [Int64]
    )
    func jitter(_ jitter: Int64) throws {
        let schedule = every(60_000, jitter: jitter)
        var (occurrence, before) = (schedule.first, at(0))
        for _ in 0..<1000 {
            let next = try #require(schedule.next(after: occurrence))
            let due = schedule.due(for: occurrence, of: id)
            #expect(due >= occurrence && due < next && due.rawValue - occurrence.rawValue <= jitter)
            #expect(schedule.lastDue(at: due, from: schedule.first, of: id) == occurrence)
            if occurrence > schedule.first {
                #expect(schedule.lastDue(at: at(due.rawValue - 1), from: schedule.first, of: id) == before)
            }
            (occurrence, before) = (next, occurrence)
        }
    }

    @Test("the largest values of the changelog do not trap")
    func largest() {
        let schedule = every(.max, jitter: .max)
        #expect(schedule.first == at(.max))
        #expect(schedule.next(after: schedule.first) == at(.max))
        #expect(schedule.due(for: schedule.first, of: id) == at(.max))
        #expect(every(1, repeats: false, jitter: .max).due(for: at(1001), of: id) >= at(1001))
    }

    @Test("an interval takes no more room because there are calendars")
    func size() {
        #expect(MemoryLayout<Schedule>.size == MemoryLayout<IntervalSchedule>.size)
    }

    @Test("a trigger without times has no schedule")
    func refused() throws {
        let zones = try TimeZones.system()
        #expect(try Schedule(.push, anchor: at(0), zones: zones) == nil)
        let region = CircularRegion(latitude: 0, longitude: 0, radius: 1)
        let location = NotificationTrigger.location(
            LocationTrigger(region: region, notifyOnEntry: true, notifyOnExit: false)
        )
        #expect(try Schedule(location, anchor: at(0), zones: zones) == nil)
        try Schedule.check(location, at: at(0), zones: zones.database)
    }

    @Test("a calendar's occurrences are those of its zone, with jitter and the last one due as an interval's")
    func calendar() throws {
        let zones = try TimeZones(TimeZoneDatabase.system.get(), standard: "Europe/Berlin")
        let trigger = CalendarTrigger(dateComponents: .init(hour: 2, minute: 30), repeats: true, jitter: 3600)
        let anchor = try #require(Timestamp(rfc3339: "2026-03-28T12:00:00Z"))
        let schedule = try #require(try Schedule(.calendar(trigger), anchor: anchor, zones: zones))
        // On the 29th 02:30 does not exist: 03:30 summer time.
        let expected = ["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"]
            .compactMap { Timestamp(rfc3339: $0) }
        #expect(schedule.first == expected[0] && schedule.repeats && schedule.jitter == 3_600_000)
        #expect(schedule.next(after: expected[0]) == expected[1])
        #expect(schedule.previous(through: .latest, from: expected[0]) > expected[2])
        #expect(schedule.count(from: expected[0], through: expected[2]) == 3)
        let due = schedule.due(for: expected[1], of: id)
        #expect(due >= expected[1] && due <= expected[1].adding(milliseconds: 3_600_000))
        #expect(schedule.lastDue(at: due, from: expected[0], of: id) == expected[1])
        let before = due.adding(milliseconds: -1)
        #expect(schedule.lastDue(at: before, from: expected[0], of: id) == expected[0])
    }

    @Test(
        "a calendar trigger that is past is refused before it is published",
        arguments: [
            (2026, "Asia/Shanghai", "2026-02-28T16:00:00Z", ReasonCode?.none),
            (2026, "Asia/Shanghai", "2026-03-01T01:00:00Z", .invalid),
            // Somewhere it may still be to come.
            (2026, nil, "2026-03-01T09:00:00Z", nil), (2026, nil, "2026-03-03T00:00:00Z", .invalid),
            (nil, "Asia/Shanghai", "2026-03-01T02:00:00Z", nil),
            (2026, "Asia/Beijing", "2020-01-01T00:00:00Z", .invalid),
        ] as [(Int?, String?, String, ReasonCode?)]
    )
    func past(_ year: Int?, _ zone: String?, _ now: String, _ reason: ReasonCode?) throws {
        let components = CalendarComponents(year: year, month: 3, day: 1, hour: 9)
        let trigger = NotificationTrigger.calendar(CalendarTrigger(dateComponents: components, timeZone: zone))
        let (now, zones) = (try #require(Timestamp(rfc3339: now)), try TimeZoneDatabase.system.get())
        let error = failure { () throws(ModelError) in try Schedule.check(trigger, at: now, zones: zones) }
        #expect(error?.reason == reason)
        if zone == "Asia/Beijing" {
            #expect(error?.field == "trigger.timeZone")
        } else if reason != nil {
            #expect(error?.field == "trigger.dateComponents")
        }
    }
}
