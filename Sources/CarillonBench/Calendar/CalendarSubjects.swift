import Foundation
import NotificationModel

/// A program or library that computes the occurrences of calendar triggers.
protocol CalendarSubject {
    var name: String { get }

    /// The occurrences of each trigger from each of its starts.
    func occurrences(of workload: CalendarWorkload) throws -> [[[Timestamp]]]

    /// Computes all of them, again and again, for about so many seconds.
    func run(_ workload: CalendarWorkload, seconds: Double) throws -> CalendarPasses
}

/// Complete passes over all triggers.
struct CalendarPasses: Decodable {
    var passes: Int
    var seconds: Double
    /// Of the seconds since 1970 of all occurrences of all passes.
    var sum: Int64
}

/// A function of this process: from an instant to the next occurrence.
struct CalendarFunction: CalendarSubject {
    let name: String
    /// Of a trigger.
    let makeNext: (CalendarWorkload.Planned) throws -> (Timestamp) -> Timestamp?

    /// Of the consumer service.
    static var carillon: CalendarFunction {
        CalendarFunction(name: "carillon") { trigger in
            let schedule = trigger.schedule
            return { schedule.next(after: $0) }
        }
    }

    /// `Calendar` with its usual policy, which for gaps is that of Carillon too. With dates that a month may lack, or
    /// seems to lack, that policy finds the begin of the next month; there only exact matches count.
    static var foundation: CalendarFunction {
        CalendarFunction(name: "foundation") { trigger in
            var calendar = Calendar(identifier: .gregorian)
            guard let zone = TimeZone(identifier: trigger.entry.zone) else {
                throw BenchmarkError("Foundation has no zone \(trigger.entry.zone)")
            }
            calendar.timeZone = zone
            let given = trigger.entry.components
            let components = DateComponents(
                month: given.month?.only,
                day: given.day?.only,
                hour: given.hour?.only,
                minute: given.minute,
                second: given.second,
                weekday: given.weekday?.only,
                weekdayOrdinal: given.weekdayOrdinal
            )
            let isRare = given.day?.only ?? 1 > 28 || given.weekdayOrdinal != nil
            let policy = isRare ? Calendar.MatchingPolicy.strict : .nextTime
            return { [calendar] instant in
                let date = Date(timeIntervalSince1970: Double(instant.rawValue) / 1_000)
                let next = calendar.nextDate(after: date, matching: components, matchingPolicy: policy)
                return next.map { Timestamp(rawValue: Int64(($0.timeIntervalSince1970 * 1_000).rounded())) }
            }
        }
    }

    func occurrences(of workload: CalendarWorkload) throws -> [[[Timestamp]]] {
        try workload.triggers.map { trigger in
            let next = try makeNext(trigger)
            return try trigger.starts.map { start in
                try CalendarWorkload.occurrences(
                    of: workload.length,
                    after: start,
                    of: "\(name), \(trigger.entry.name)",
                    next: next
                )
            }
        }
    }

    func run(_ workload: CalendarWorkload, seconds: Double) throws -> CalendarPasses {
        let functions = try workload.triggers.map { (try makeNext($0), $0.starts) }
        var result = CalendarPasses(passes: 0, seconds: 0, sum: 0)
        let begin = ContinuousClock.now
        repeat {
            for (next, starts) in functions {
                for start in starts {
                    var instant = start
                    for _ in 0..<workload.length {
                        guard let occurrence = next(instant) else { throw BenchmarkError("\(name): no occurrence") }
                        result.sum &+= occurrence.rawValue / 1_000
                        instant = occurrence
                    }
                }
            }
            result.passes += 1
            result.seconds = (.now - begin) / .seconds(1)
        } while result.seconds < seconds
        return result
    }
}

/// `rrule` of Python's `dateutil`, in a process of its own.
struct CalendarRules: CalendarSubject {
    let name = "dateutil"
    private let python: URL
    private let program: URL
    private let workbench: Workbench

    /// Says nothing when the package is missing.
    private static let check = "import sys, importlib.util as util; sys.exit(util.find_spec('dateutil') is None)"

    private struct Work: Encodable {
        struct Trigger: Encodable {
            var zone: String
            var components: [String: Int]
            var starts: [Int64]
        }

        var length: Int
        var triggers: [Trigger]
    }

    /// The first Python that has the package.
    ///
    /// - Parameter directories: virtual environments; the system's Python comes after them.
    /// - Throws: ``MissingProgram`` when there is none.
    init(in directories: [String], on workbench: Workbench) throws {
        let places = directories.map { "\($0)/bin/python" } + ["/usr/bin/python3"]
        let found = places.first { path in
            guard FileManager.default.isExecutableFile(atPath: path) else { return false }
            return (try? workbench.run(URL(fileURLWithPath: path), ["-c", Self.check]).status) == 0
        }
        guard let found else { throw MissingProgram("Python's dateutil", remedy: "apt-get install python3-dateutil") }
        (python, self.workbench) = (URL(fileURLWithPath: found), workbench)
        program = try Programs.resource("calendar_rules.py")
    }

    func occurrences(of workload: CalendarWorkload) throws -> [[[Timestamp]]] {
        let seconds = try JSONDecoder().decode([[[Int64]]].self, from: try call("list", workload))
        return seconds.map { $0.map { $0.map { Timestamp(rawValue: $0 * 1_000) } } }
    }

    func run(_ workload: CalendarWorkload, seconds: Double) throws -> CalendarPasses {
        try JSONDecoder().decode(CalendarPasses.self, from: try call("\(seconds)", workload))
    }

    private func call(_ mode: String, _ workload: CalendarWorkload) throws -> Data {
        let file = workbench.place("triggers")
        let triggers = workload.triggers.map { trigger in
            let given = trigger.entry.components
            let components = [
                "month": given.month?.only, "day": given.day?.only, "weekday": given.weekday?.only,
                "weekdayOrdinal": given.weekdayOrdinal, "hour": given.hour?.only, "minute": given.minute,
                "second": given.second,
            ]
            return Work.Trigger(
                zone: trigger.entry.zone,
                components: components.compactMapValues { $0 },
                starts: trigger.starts.map { $0.rawValue / 1_000 }
            )
        }
        try JSONEncoder().encode(Work(length: workload.length, triggers: triggers)).write(to: file)
        // The same rules of time zones for all.
        let variables = ["PYTHONDONTWRITEBYTECODE": "1", "PYTHONTZPATH": TimeZoneDatabase.systemDirectory]
        let (output, status) = try workbench.run(python, [program.path, mode, file.path], environment: variables)
        guard status == 0 else { throw BenchmarkError("\(program.lastPathComponent) ended with status \(status)") }
        return output
    }
}
