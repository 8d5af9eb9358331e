import Foundation
import NotificationModel

// Answers the queries of `Tests/IntegrationTests/Clients/calendar/compare.py`, a JSON object a line, and checks the schedule against itself on the way.

struct Query: Decodable {
    let id: Int
    let zone: String
    let components: [String: Values]
    let gap: GapPolicy?
    let overlap: OverlapPolicy?
    let missingDay: MissingDayPolicy?
    let repeats: Bool
    /// Milliseconds since 1970.
    let notBefore: Int64?
    let after: Int64
    let count: Int
}

/// A value of a component, or several.
enum Values: Decodable {
    case one(Int)
    case several([Int])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int.self) {
            self = .one(value)
        } else {
            self = .several(try container.decode([Int].self))
        }
    }

    var one: Int? { if case .one(let value) = self { value } else { nil } }

    var all: CalendarValues {
        switch self {
        case .one(let value): CalendarValues(value)
        case .several(let values): CalendarValues(values)
        }
    }
}

struct Answer: Encodable {
    let id: Int
    var milliseconds: [Int64] = []
    var reason: String?
    var field: String?
    /// Where the schedule contradicts itself.
    var fault: String?
}

func components(_ values: [String: Values]) -> CalendarComponents {
    CalendarComponents(
        era: values["era"]?.one,
        year: values["year"]?.one,
        quarter: values["quarter"]?.one,
        month: values["month"]?.all,
        weekOfYear: values["weekOfYear"]?.one,
        weekOfMonth: values["weekOfMonth"]?.one,
        yearForWeekOfYear: values["yearForWeekOfYear"]?.one,
        weekday: values["weekday"]?.all,
        weekdayOrdinal: values["weekdayOrdinal"]?.one,
        day: values["day"]?.all,
        dayOfYear: values["dayOfYear"]?.one,
        hour: values["hour"]?.all,
        minute: values["minute"]?.one,
        second: values["second"]?.one
    )
}

/// The first way in which searches in both directions, counts and explanations do not agree.
func fault(of schedule: CalendarSchedule, _ occurrences: [Timestamp]) -> String? {
    guard let first = occurrences.first else { return "no occurrence" }
    for (index, occurrence) in occurrences.enumerated() {
        let before = occurrences[max(0, index - 1)]
        guard schedule.previous(through: occurrence, from: first) == occurrence else {
            return "previous at \(occurrence)"
        }
        guard schedule.previous(through: occurrence.adding(milliseconds: -1), from: first) == before else {
            return "previous before \(occurrence)"
        }
        guard schedule.previous(through: occurrence.adding(milliseconds: 999), from: first) == occurrence else {
            return "previous after \(occurrence)"
        }
        guard schedule.count(from: first, through: occurrence) == index + 1 else { return "count to \(occurrence)" }
        guard let explanation = schedule.explain(occurrence) else { return "no explanation of \(occurrence)" }
        guard explanation.local == schedule.zone.local(at: occurrence) else { return "explanation of \(occurrence)" }
        let isExact = explanation.local == explanation.wanted
        if case .gap = explanation.resolution, isExact { return "\(occurrence) is explained as a gap" }
        if case .exact = explanation.resolution, !isExact { return "\(occurrence) is explained as exact" }
        guard schedule.explain(occurrence.adding(milliseconds: 1)) == nil else {
            return "an explanation of what is no occurrence"
        }
    }
    return nil
}

func answer(_ query: Query, _ database: TimeZoneDatabase) throws -> Answer {
    var answer = Answer(id: query.id)
    do {
        let trigger = CalendarTrigger(
            dateComponents: components(query.components),
            timeZone: query.zone,
            repeats: query.repeats,
            notBefore: query.notBefore.map(Timestamp.init(rawValue:)),
            gap: query.gap,
            overlap: query.overlap,
            missingDay: query.missingDay
        )
        let zone = try database.rules(named: query.zone)
        let schedule = try CalendarSchedule(trigger, anchor: Timestamp(rawValue: query.after), zone: zone)
        var found = [schedule.first]
        while found.count < query.count, let next = schedule.next(after: found[found.count - 1]) { found.append(next) }
        answer.milliseconds = found.map(\.rawValue)
        answer.fault = fault(of: schedule, found)
    } catch let error as ModelError {
        (answer.reason, answer.field) = (error.reason.rawValue, error.field)
    } catch let error as TimeZoneError {
        (answer.reason, answer.field) = (error.modelError.reason.rawValue, "timeZone")
    }
    return answer
}

let database = try TimeZoneDatabase()
let (decoder, encoder) = (JSONDecoder(), JSONEncoder())
while let line = readLine() {
    let output = try encoder.encode(answer(decoder.decode(Query.self, from: Data(line.utf8)), database))
    print(String(decoding: output, as: UTF8.self))
}
