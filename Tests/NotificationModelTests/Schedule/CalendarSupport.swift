import NotificationModel
import Testing

/// The system's zones, as the tests use them.
func zone(_ name: String) throws -> TimeZoneRules {
    try TimeZoneDatabase.system.get().rules(named: name)
}

/// An instant from RFC 3339 with any offset.
func at(_ text: String) throws -> Timestamp {
    try #require(Timestamp(rfc3339: text), "\(text) is not RFC 3339")
}

/// A schedule for components in a zone, from an instant on.
func schedule(
    _ components: CalendarComponents,
    in zoneName: String = "America/New_York",
    after: String,
    gap: GapPolicy? = nil,
    overlap: OverlapPolicy? = nil,
    missingDay: MissingDayPolicy? = nil,
    repeats: Bool = true,
    notBefore: String? = nil
) throws -> CalendarSchedule {
    let trigger = CalendarTrigger(
        dateComponents: components,
        timeZone: zoneName,
        repeats: repeats,
        notBefore: try notBefore.map(at),
        gap: gap,
        overlap: overlap,
        missingDay: missingDay
    )
    return try CalendarSchedule(trigger, anchor: at(after), zone: zone(zoneName))
}

extension CalendarSchedule {
    /// The first occurrences, as many as asked for if there are so many.
    func prefix(_ count: Int) -> [Timestamp] {
        var found = [first]
        while found.count < count, let next = next(after: found[found.count - 1]) { found.append(next) }
        return found
    }
}

/// One row of a table of expected occurrences.
struct CalendarRow: CustomTestStringConvertible, Sendable {
    let name: String
    var zone = "America/New_York"
    let components: CalendarComponents
    let after: String
    var gap: GapPolicy?
    var overlap: OverlapPolicy?
    var missingDay: MissingDayPolicy?
    /// RFC 3339 with the local offset; empty when the trigger must be refused.
    let expected: [String]

    var testDescription: String {
        let policies = [gap?.rawValue, overlap?.rawValue, missingDay?.rawValue].compactMap { $0 }
        return "\(name) \(policies.joined(separator: " "))"
    }

    func verify() throws {
        do {
            let schedule = try schedule(
                components,
                in: zone,
                after: after,
                gap: gap,
                overlap: overlap,
                missingDay: missingDay
            )
            let expected = try expected.map(at)
            #expect(schedule.prefix(expected.count) == expected)
            for (index, occurrence) in expected.enumerated() {
                let before = schedule.previous(through: occurrence.adding(milliseconds: -1), from: schedule.first)
                #expect(schedule.previous(through: occurrence, from: schedule.first) == occurrence)
                #expect(before == expected[max(0, index - 1)])
                #expect(schedule.count(from: schedule.first, through: occurrence) == index + 1)
                #expect(schedule.explain(occurrence)?.instant == occurrence)
            }
        } catch let error as ModelError {
            #expect(expected.isEmpty, "refused: \(error)")
        }
    }
}
