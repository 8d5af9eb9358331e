@testable import NotificationModel
import Testing
import TestSupport

@Suite("Quiet hours")
struct QuietHoursTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let claim: String
        var zone = "Europe/Berlin"
        var start = "22:00"
        var end = "07:00"
        let now: String
        /// Nil when it is not quiet.
        let until: String?

        var testDescription: String { claim }
    }

    @Test(
        "quiet times end when the clock shows their end",
        arguments: [
            Row(claim: "before", now: "2026-11-21T21:59:59.999+01:00", until: nil),
            Row(claim: "the start counts", now: "2026-11-21T22:00:00+01:00", until: "2026-11-22T07:00:00+01:00"),
            Row(claim: "after midnight", now: "2026-11-22T06:59:59.999+01:00", until: "2026-11-22T07:00:00+01:00"),
            Row(claim: "the end does not count", now: "2026-11-22T07:00:00+01:00", until: nil),
            Row(
                claim: "on one day",
                start: "12:30",
                end: "14:00",
                now: "2026-11-21T13:00:00+01:00",
                until: "2026-11-21T14:00:00+01:00"
            ),
            Row(
                claim: "until midnight",
                start: "20:00",
                end: "00:00",
                now: "2026-11-21T23:59:00+01:00",
                until: "2026-11-22T00:00:00+01:00"
            ),
            Row(
                claim: "a night with a gap is shorter",
                now: "2026-03-28T22:00:00+01:00",
                until: "2026-03-29T07:00:00+02:00"
            ),
            Row(
                claim: "an end in a gap is the first instant after it",
                end: "02:30",
                now: "2026-03-29T01:59:59+01:00",
                until: "2026-03-29T03:00:00+02:00"
            ),
            Row(
                claim: "a start in a gap is the first instant after it",
                start: "02:30",
                end: "04:00",
                now: "2026-03-29T03:00:00+02:00",
                until: "2026-03-29T04:00:00+02:00"
            ),
            Row(
                claim: "nothing is left of a quiet time in a gap",
                start: "02:15",
                end: "02:45",
                now: "2026-03-29T03:00:00+02:00",
                until: nil
            ),
            Row(
                claim: "an end in an overlap is its first pass",
                end: "02:30",
                now: "2026-10-25T02:29:59+02:00",
                until: "2026-10-25T02:30:00+02:00"
            ),
            Row(
                claim: "the second pass is not quiet again",
                end: "02:30",
                now: "2026-10-25T02:10:00+01:00",
                until: nil
            ),
            Row(
                claim: "a start in an overlap is its first pass",
                start: "02:30",
                end: "04:00",
                now: "2026-10-25T02:00:00+01:00",
                until: "2026-10-25T04:00:00+01:00"
            ),
            Row(
                claim: "a gap of half an hour",
                zone: "Australia/Lord_Howe",
                end: "02:15",
                now: "2026-10-04T01:59:00+10:30",
                until: "2026-10-04T02:30:00+11:00"
            ),
            Row(
                claim: "a gap at midnight",
                zone: "America/Sao_Paulo",
                start: "20:00",
                end: "00:00",
                now: "2017-10-14T23:59:00-03:00",
                until: "2017-10-15T01:00:00-02:00"
            ),
            Row(
                claim: "a day that does not exist joins its nights",
                zone: "Pacific/Apia",
                now: "2011-12-29T23:00:00-10:00",
                until: "2011-12-31T07:00:00+14:00"
            ),
        ]
    )
    func table(_ row: Row) throws {
        let hours = try quiet(row.start, row.end)
        #expect(try hours.end(containing: at(row.now), in: zone(row.zone)) == row.until.map(at))
    }

    @Test("instants beyond the calendar and minutes beyond the day do not trap", arguments: [Int64.min, 0, .max])
    func extremes(_ instant: Int64) throws {
        let zone = try zone("Pacific/Apia")
        for (start, end) in [(-1, 1), (1440, 0), (Int.min, .max), (.max, .min), (0, 0)] {
            _ = QuietHours(start: start, end: end).end(containing: Timestamp(rawValue: instant), in: zone)
        }
    }

    /// What the definition says, minute by minute: the clock's latest reading so far decides, so that no pass of an overlap
    /// but the first counts.
    private func reference(_ hours: QuietHours, in zone: TimeZoneRules, from first: Int64, minutes: Int) -> [Bool] {
        var latest = Int64.min
        return (0..<minutes).map { minute in
            let instant = first + Int64(minute) * 60
            latest = max(latest, instant + Int64(zone.offset(at: Timestamp(seconds: instant))))
            let now = Int(latest / 60 % 1440)
            return hours.start < hours.end
                ? hours.start <= now && now < hours.end : hours.start <= now || now < hours.end
        }
    }

    @Test(
        "around every change of a clock they agree with a walk in steps of a minute",
        arguments: [
            ("Europe/Berlin", ["2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"]),
            ("America/New_York", ["2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"]),
            ("Australia/Lord_Howe", ["2026-04-04T15:00:00Z", "2026-10-03T15:30:00Z"]),
            ("Pacific/Apia", ["2011-12-30T10:00:00Z", "2012-03-31T14:00:00Z"]),
            ("America/Sao_Paulo", ["2017-10-15T03:00:00Z", "2018-02-18T02:00:00Z"]),
            ("Africa/Casablanca", ["2026-02-15T02:00:00Z", "2026-03-22T02:00:00Z"]),
            ("Asia/Kathmandu", ["2026-06-01T00:00:00Z"]),
        ] as [(String, [String])]
    )
    func walk(_ name: String, _ changes: [String]) throws {
        let zone = try zone(name)
        var generator = SeededGenerator(seed: 20)
        for change in try changes.map(at) {
            let first = change.seconds - 4 * 86_400
            for _ in 0..<40 {
                // Around the hours in which clocks change as often as elsewhere.
                let hours = Bool.random(using: &generator) ? 0...1439 : 0...240
                let start = Int.random(in: hours, using: &generator)
                let quiet = QuietHours(
                    start: start,
                    end: (start + Int.random(in: 1...1439, using: &generator)) % 1440
                )
                let walked = reference(quiet, in: zone, from: first, minutes: 10 * 1440)
                for minute in stride(from: 1440, to: 7 * 1440, by: 7) {
                    let now = Timestamp(seconds: first + Int64(minute) * 60)
                    let end = walked[minute...].firstIndex(of: false) ?? walked.count
                    let expected = walked[minute] ? Timestamp(seconds: first + Int64(end) * 60) : nil
                    guard quiet.end(containing: now, in: zone) != expected else { continue }
                    Issue.record("\(quiet) in \(name) at \(now): expected \(String(describing: expected))")
                    return
                }
            }
        }
    }

    private func quiet(_ start: String, _ end: String) throws -> QuietHours {
        let key = try NotificationKey(application: "shop", recipient: "u", identifier: "i")
        let json = #"{"content":{"title":"t"},"quietHours":{"start":"\#(start)","end":"\#(end)"}}"#
        return try #require(try NotificationRequest(json: bytes(json), key: key).limits?.quietHours)
    }
}
