import ArgumentParser
import NotificationModel

/// `carillon-bench calendar`.
struct CalendarCommand: BenchmarkCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case carillon, foundation, dateutil
    }

    static let configuration = CommandConfiguration(
        commandName: "calendar",
        abstract: "Occurrences of calendar triggers, compared with Foundation's Calendar and Python's dateutil.",
        discussion: """
            Hourly, daily, weekly, monthly and yearly triggers in zones with and without daylight saving time, among \
            them 31 and 29 February. From many instants of 15 years each program computes the next occurrence, from \
            that the next one, and so on. All programs must find the same instants; first all of them are compared, \
            and every measurement must have their sum. No broker is involved.

            Programs: carillon is the schedule of the consumer service, foundation is Calendar.nextDate(after:matching:), \
            dateutil iterates rules that are made before the measurement. Python's package is that of the virtual \
            environment, of .build/python, or Debian's python3-dateutil.
            """
    )

    @Option(help: "Instants from which the occurrences of each trigger are computed.")
    var starts = 100
    @Option(help: "Occurrences from each of them.")
    var length = 10
    @Option(help: "Number of measurements of each; the median counts.")
    var rounds = 3
    @Option(help: "Seconds of each measurement at least.")
    var seconds = 2
    @OptionGroup var programs: SubjectOptions<SubjectName>
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--starts", starts, 1...10_000)
        try requireRange("--length", length, 1...100)
        try requireRange("--rounds", rounds, 1...100)
        try requireRange("--seconds", seconds, 1...600)
    }

    var workloadName: String { "\(CalendarWorkload.entries.count) triggers, \(starts) x \(length) occurrences of each" }

    func measure(on workbench: Workbench) throws -> Report {
        var subjects: [any CalendarSubject] = []
        try programs.with(.carillon, on: workbench) { subjects.append(CalendarFunction.carillon) }
        try programs.with(.foundation, on: workbench) { subjects.append(CalendarFunction.foundation) }
        try programs.with(.dateutil, on: workbench) {
            subjects.append(try CalendarRules(in: [programs.python, ".build/python"], on: workbench))
        }
        let benchmark = CalendarBenchmark(
            workload: try CalendarWorkload(starts: starts, length: length),
            rounds: rounds,
            seconds: Double(seconds),
            workbench: workbench
        )
        let rates = try benchmark.run(subjects)
        let carillon = rates["carillon"]
        var workload = Workload(
            name: workloadName + Programs.build,
            figures: [
                Figure("triggers", given: CalendarWorkload.entries.count), Figure("starts", given: starts),
                Figure("length", given: length), Figure("rounds", given: rounds),
                Figure("compared", "occurrences compared", Double(benchmark.workload.count), as: .whole),
            ] + (carillon.map { [Figure("next_per_second", "occurrences/s", $0, as: .whole)] } ?? []),
            subjects: subjects.compactMap { subject in
                rates[subject.name].map { rate in
                    FigureRow(
                        subject.name,
                        [
                            Figure("next_per_second", "occurrences/s", rate, as: .whole),
                            Figure("microseconds", "us each", 1e6 / rate),
                        ]
                    )
                }
            }
        )
        workload.ratios.set(.nextVersusFoundation, carillon, over: rates["foundation"])
        workload.ratios.set(.nextVersusDateutil, carillon, over: rates["dateutil"])
        return Report(benchmark: "calendar", workloads: [workload])
    }
}

/// Compares what the subjects compute, and measures them in turn.
struct CalendarBenchmark {
    var workload: CalendarWorkload
    var rounds: Int
    var seconds: Double
    var workbench: Workbench

    /// - Returns: the median of the occurrences per second, by subject.
    /// - Throws: ``BenchmarkError`` when a subject finds other instants.
    func run(_ subjects: [any CalendarSubject]) throws -> [String: Double] {
        for subject in subjects {
            workbench.report("\(subject.name): comparing \(workload.count) occurrences")
            try compare(subject)
        }
        var rates: [String: [Double]] = [:]
        for round in 1...rounds {
            workbench.report("round \(round) of \(rounds)")
            for subject in subjects { rates[subject.name, default: []].append(try rate(of: subject)) }
        }
        return rates.compactMapValues { Distribution($0).median }
    }

    private func compare(_ subject: any CalendarSubject) throws {
        let found = try subject.occurrences(of: workload)
        guard found.count == workload.triggers.count else {
            throw BenchmarkError("\(subject.name) answers \(found.count) of \(workload.triggers.count) triggers")
        }
        for (trigger, found) in zip(workload.triggers, found) where found != trigger.occurrences {
            let name = "\(subject.name), \(trigger.entry.name)"
            for (start, (found, wanted)) in zip(trigger.starts, zip(found, trigger.occurrences)) where found != wanted {
                throw BenchmarkError("\(name): after \(start) it finds \(found) instead of \(wanted)")
            }
            throw BenchmarkError("\(name): it answers \(found.count) of \(trigger.starts.count) starts")
        }
    }

    private func rate(of subject: any CalendarSubject) throws -> Double {
        let result = try subject.run(workload, seconds: seconds)
        guard result.passes > 0, result.seconds > 0, result.sum == workload.sum &* Int64(result.passes) else {
            throw BenchmarkError("\(subject.name) computed other occurrences when it was measured")
        }
        return Double(result.passes * workload.count) / result.seconds
    }
}
