import Testing

@testable import NotificationModel

/// The changes of the offset of every zone from 1970 to 2100, against the definition: an instant's local time is the
/// instant plus the offset then. Where a rule repeats each year every seventh change stands for all; the oracle's sweep has
/// them all.
@Suite("Calendar triggers: all zones")
struct CalendarSweepTests {
    private static let years = -1 as Int64..<4_102_444_800

    private struct Change {
        let zone: TimeZoneRules
        let instant: Int64
        let before: Int64
        let after: Int64
    }

    private func changes() throws -> [Change] {
        let database = try TimeZoneDatabase.system.get()
        var (seen, changes) = (Set<UInt64>(), [Change]())
        for name in database.identifiers {
            let zone = try database.rules(named: name)
            guard seen.insert(zone.digest).inserted else { continue }
            var span = zone.span(at: Self.years.lowerBound)
            while span.end < Self.years.upperBound {
                let next = zone.span(at: span.end)
                guard next.start == span.end, zone.span(at: span.end - 1).offset == span.offset else {
                    Issue.record("\(name): the periods at \(span.end) do not join")
                    break
                }
                if next.offset != span.offset {
                    changes.append(Change(zone: zone, instant: span.end, before: span.offset, after: next.offset))
                }
                span = next
            }
        }
        return changes
    }

    private func daily(_ change: Change, _ wall: Int64, _ gap: GapPolicy, _ overlap: OverlapPolicy)
        -> CalendarOccurrences
    {
        let time = LocalDateTime(seconds: wall)
        let components = CalendarComponents(hour: CalendarValues(time.hour), minute: time.minute, second: time.second)
        let pattern = CalendarPattern(unchecked: components, missingDay: .skip)
        return CalendarOccurrences(pattern: pattern, zone: change.zone, gap: gap, overlap: overlap)
    }

    /// What is wrong, as text; `#expect` on each of a million conditions would take minutes.
    private struct Findings {
        var wrong: [String] = []

        mutating func check(_ isRight: Bool, _ what: @autoclosure () -> String) {
            if !isRight { wrong.append(what()) }
        }
    }

    @Test("each gap and each overlap, with all policies")
    func sweep() throws {
        let changes = try changes()
        let gaps = changes.count { $0.after > $0.before }
        #expect(gaps > 5000 && changes.count - gaps > 5000)
        var findings = Findings()
        let ruled = 2_208_988_800 as Int64  // 2040
        for (number, change) in changes.enumerated() where change.instant < ruled || number % 7 == 0 {
            let length = abs(change.after - change.before)
            let low = change.instant + min(change.before, change.after)
            for position in [0, length / 2, length - 1] {
                if change.after > change.before {
                    verifyGap(change, low + position, length, &findings)
                } else {
                    verifyOverlap(change, low + position, length, &findings)
                }
            }
            for wall in [low - 1, low + length] {
                let name = "\(change.zone.name) \(LocalDateTime(seconds: wall)), beside a change"
                guard case .once(let instant) = change.zone.instants(of: wall) else {
                    findings.check(false, name)
                    continue
                }
                findings.check(instant + change.zone.span(at: instant).offset == wall, name)
            }
        }
        #expect(findings.wrong.isEmpty, "\(findings.wrong.count) wrong: \(findings.wrong.prefix(10))")
    }

    private func verifyGap(_ change: Change, _ wall: Int64, _ length: Int64, _ findings: inout Findings) {
        let instants = change.zone.instants(of: wall)
        let (forward, back) = (wall - change.before, wall - change.after)
        let isGap =
            instants == .gap(before: change.before, after: change.after)
            && (change.instant..<change.instant + length).contains(forward) && back < change.instant
        findings.check(isGap, "\(change.zone.name) \(wall): \(instants)")
        for gap in GapPolicy.allCases {
            let occurrences = daily(change, wall, gap, .first)
            let atForward = occurrences.next(after: forward - 1) == forward
            let atBack = occurrences.next(after: back - 1) == back
            // In a gap of a day, the days beside it have their occurrences at these instants.
            let isRight =
                length == 86_400
                ? atForward && atBack : atForward == (gap == .nextTime) && atBack == (gap == .previous)
            findings.check(isRight, "\(change.zone.name) \(wall) \(gap)")
        }
    }

    private func verifyOverlap(_ change: Change, _ wall: Int64, _ length: Int64, _ findings: inout Findings) {
        let (first, last) = (wall - change.before, wall - change.after)
        let instants = change.zone.instants(of: wall)
        let isOverlap =
            instants == .overlap(first: first, last: last) && last - first == length && first < change.instant
            && last >= change.instant
        findings.check(isOverlap, "\(change.zone.name) \(wall): \(instants)")
        for overlap in OverlapPolicy.allCases {
            let occurrences = daily(change, wall, .nextTime, overlap)
            let forward = (
                first: occurrences.next(after: first - 1) == first, last: occurrences.next(after: last - 1) == last
            )
            let back = (
                first: occurrences.previous(through: first, downTo: first) != nil,
                last: occurrences.previous(through: last, downTo: last) != nil
            )
            let expected = (first: overlap != .last, last: overlap != .first)
            findings.check(forward == expected && back == expected, "\(change.zone.name) \(wall) \(overlap)")
        }
        // No second firing on the day: from between the passes the next day's time follows.
        let next = daily(change, wall, .nextTime, .first).next(after: first + length / 2)
        findings.check(next.map { $0 > last } == true, "\(change.zone.name) \(wall), between the passes")
    }
}
