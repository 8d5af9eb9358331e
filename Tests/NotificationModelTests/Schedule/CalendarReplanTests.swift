import Testing

@testable import NotificationModel

/// What was planned with one zone's rules, and read with another's under the same name.
@Suite("Calendar triggers after a change of the time zone data")
struct CalendarReplanTests {
    /// A rule as in the last line of a zone file, for all time.
    private static func rules(_ text: String) throws -> TimeZoneRules {
        var writer = TZifWriter()
        (writer.transitions, writer.footer) = ([], text)
        let bytes = writer.bytes()
        return TimeZoneRules(name: "Test/Zone", file: try TimeZoneFile(bytes), digest: TimeZoneFiles.hash(bytes))
    }

    private static let winter = "CET-1"
    /// Nuuk: on 27 March 2027 at 23:00 the clock goes to 00:00.
    private static let nuuk = "<-02>2<-01>,M3.5.0/-1,M10.5.0/0"
    private static let summer = "CET-1CEST,M3.5.0,M10.5.0/3"

    private static func trigger(
        _ components: CalendarComponents,
        repeats: Bool = true,
        gap: GapPolicy? = nil,
        overlap: OverlapPolicy? = nil
    ) -> CalendarTrigger {
        CalendarTrigger(
            dateComponents: components,
            timeZone: "Test/Zone",
            repeats: repeats,
            gap: gap,
            overlap: overlap
        )
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var components: CalendarComponents
        var repeats = true
        var gap: GapPolicy?
        var overlap: OverlapPolicy?
        var before: String
        var after: String
        /// The planned occurrence, by the rules before.
        var planned: String
        /// Local times, which have the offset of the rules after.
        var expected: [String]

        var testDescription: String { name }
    }

    @Test(
        "the same time on the wall takes the place of the planned one",
        arguments: [
            Row(
                name: "daylight saving time is introduced, and what fired does not fire again",
                components: .init(hour: 9),
                before: winter,
                after: summer,
                planned: "2026-07-02T08:00:00Z",
                expected: ["2026-07-02T09:00:00+02:00", "2026-07-03T09:00:00+02:00"]
            ),
            Row(
                name: "it is given up: the clock is put back, and nothing is left out",
                components: .init(hour: 9),
                before: summer,
                after: winter,
                planned: "2026-07-02T07:00:00Z",
                expected: ["2026-07-02T09:00:00+01:00", "2026-07-03T09:00:00+01:00"]
            ),
            Row(
                name: "a one-shot moves, too",
                components: .init(year: 2026, month: 7, day: 2, hour: 9),
                repeats: false,
                before: winter,
                after: summer,
                planned: "2026-07-02T08:00:00Z",
                expected: ["2026-07-02T09:00:00+02:00"]
            ),
            Row(
                name: "a one-shot in a gap that is new",
                components: .init(hour: 2, minute: 30),
                repeats: false,
                before: winter,
                after: summer,
                planned: "2026-03-29T01:30:00Z",
                expected: ["2026-03-29T03:30:00+02:00"]
            ),
            Row(
                name: "a gap that is no more",
                components: .init(hour: 2, minute: 30),
                before: summer,
                after: winter,
                planned: "2026-03-29T01:30:00Z",
                expected: ["2026-03-29T02:30:00+01:00", "2026-03-30T02:30:00+01:00"]
            ),
            Row(
                name: "a gap that is new and is skipped",
                components: .init(hour: 2, minute: 30),
                gap: .skip,
                before: winter,
                after: summer,
                planned: "2026-03-29T01:30:00Z",
                expected: ["2026-03-30T02:30:00+02:00"]
            ),
            Row(
                name: "the last of two",
                components: .init(hour: 2, minute: 30),
                overlap: .both,
                before: summer,
                after: "CET-1CEST,M3.5.0,M10.5.0/3",
                planned: "2026-10-25T01:30:00Z",
                expected: ["2026-10-25T02:30:00+01:00", "2026-10-26T02:30:00+01:00"]
            ),
            Row(
                name: "any hour: the next time that the clock shows it",
                components: .init(minute: 30),
                before: winter,
                after: "XST-1:15",
                planned: "2026-07-02T08:30:00Z",
                expected: ["2026-07-02T10:30:00+01:15", "2026-07-02T11:30:00+01:15"]
            ),
            Row(
                name: "a time that a gap pushed past midnight belongs to the day before: nothing changed",
                components: .init(hour: 23, minute: 30),
                before: nuuk,
                after: nuuk,
                planned: "2027-03-28T01:30:00Z",
                expected: ["2027-03-28T00:30:00-01:00", "2027-03-28T23:30:00-01:00"]
            ),
            Row(
                name: "a time that a gap pushed past midnight belongs to the day before: the gap is no more",
                components: .init(hour: 23, minute: 30),
                repeats: false,
                before: nuuk,
                after: "<-02>2",
                planned: "2027-03-28T01:30:00Z",
                expected: ["2027-03-27T23:30:00-02:00"]
            ),
            Row(
                name: "a time that a gap pushed past midnight, of a weekday",
                components: .init(weekday: 7, hour: 23, minute: 30),
                before: nuuk,
                after: "<-03>3",
                planned: "2027-03-28T01:30:00Z",
                expected: ["2027-03-27T23:30:00-03:00", "2027-04-03T23:30:00-03:00"]
            ),
            Row(
                name: "a time that a gap put back before midnight belongs to the day after",
                components: .init(hour: 0, minute: 30),
                gap: .previous,
                before: "<-02>2<-01>,M3.5.0/0,M10.5.0/0",
                after: "<-02>2",
                planned: "2027-03-28T01:30:00Z",
                expected: ["2027-03-28T00:30:00-02:00", "2027-03-29T00:30:00-02:00"]
            ),
            Row(
                name: "two hours a day: the one that was planned",
                components: .init(weekday: [5, 6], hour: [9, 10]),
                before: winter,
                after: summer,
                planned: "2026-07-02T08:00:00Z",
                expected: ["2026-07-02T09:00:00+02:00", "2026-07-02T10:00:00+02:00", "2026-07-03T09:00:00+02:00"]
            ),
            Row(
                name: "two hours a day of which one was in a gap that is longer than the time between them",
                components: .init(hour: [1, 2], minute: 30),
                before: "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3",
                after: "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3",
                planned: "2027-03-28T01:30:00Z",
                expected: ["2027-03-28T03:30:00+02:00", "2027-03-28T04:30:00+02:00", "2027-03-29T01:30:00+02:00"]
            ),
            Row(
                name: "nothing changed",
                components: .init(month: 2, day: 29, hour: 9),
                before: summer,
                after: summer,
                planned: "2028-02-29T08:00:00Z",
                expected: ["2028-02-29T09:00:00+01:00", "2032-02-29T09:00:00+01:00"]
            ),
        ]
    )
    func replanned(_ row: Row) throws {
        let (before, after) = (try Self.rules(row.before), try Self.rules(row.after))
        let trigger = Self.trigger(row.components, repeats: row.repeats, gap: row.gap, overlap: row.overlap)
        let planned = try at(row.planned)
        let anchor = planned.adding(milliseconds: -1000)
        // It was planned like that.
        let first = try CalendarSchedule(trigger, anchor: anchor, zone: before)
        #expect(first.first == planned)
        let read = try CalendarSchedule(
            restoring: trigger,
            anchor: anchor,
            zone: after,
            occurrence: planned,
            offset: first.offset(of: planned)
        )
        let (schedule, occurrence) = read.replanned(planned)
        var found = [occurrence]
        while found.count < row.expected.count, let next = schedule.next(after: found[found.count - 1]) {
            found.append(next)
        }
        #expect(found == (try row.expected.map(at)))
        if !row.repeats { #expect(schedule.next(after: occurrence) == nil) }
        // Once more: nothing moves.
        let again = try CalendarSchedule(
            restoring: trigger,
            anchor: anchor,
            zone: after,
            occurrence: occurrence,
            offset: schedule.offset(of: occurrence)
        )
        #expect(again.replanned(occurrence).occurrence == occurrence)
    }

    @Test("a zone that comes back puts right what was planned without it")
    func back() throws {
        let trigger = Self.trigger(.init(hour: 9))
        let (anchor, planned) = (try at("2026-03-27T12:00:00Z"), try at("2026-03-28T08:00:00Z"))
        let lost = TimeZoneRules(substituteFor: "Test/Zone", offset: 3600)
        let without = try CalendarSchedule(
            restoring: trigger,
            anchor: anchor,
            zone: lost,
            occurrence: planned,
            offset: 3600
        )
        let next = try #require(without.next(after: planned))
        // An hour late by the rules that nobody has.
        #expect(try next == at("2026-03-29T08:00:00Z"))
        let with = try CalendarSchedule(
            restoring: trigger,
            anchor: anchor,
            zone: Self.rules(Self.summer),
            occurrence: next,
            offset: without.offset(of: next)
        )
        #expect(try with.replanned(next).occurrence == at("2026-03-29T07:00:00Z"))
    }

    @Test("a one-shot that a gap pushed past midnight keeps its date when the device moves")
    func moved() throws {
        let (nuuk, reykjavik) = (try zone("America/Nuuk"), try zone("Atlantic/Reykjavik"))
        for components in [
            CalendarComponents(hour: 23, minute: 30), .init(year: 2027, month: 3, day: 27, hour: 23, minute: 30),
        ] {
            let trigger = CalendarTrigger(dateComponents: components)
            let anchor = try at("2027-03-27T12:00:00Z")
            let schedule = try CalendarSchedule(trigger, anchor: anchor, zone: nuuk)
            #expect(try schedule.first == at("2027-03-28T01:30:00Z"))
            let moved = try #require(schedule.moved(to: reykjavik, from: schedule.first, at: anchor))
            #expect(try moved.occurrence == at("2027-03-27T23:30:00Z"))
        }
    }
}
