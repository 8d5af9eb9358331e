import ArgumentParser
import Foundation
import Kafka

/// `carillon bench timers`.
struct TimersBenchCommand: AsyncParsableCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case carillon, jemalloc, redis, apscheduler
    }

    static let configuration = CommandConfiguration(
        commandName: "timers",
        abstract: "Pending notifications through the running service, beside Redis and APScheduler.",
        discussion: """
            Requests of about 400 bytes, due in weeks, on keys of their own. They are on the broker before the consumer \
            service, which stands still, goes on: it has the cores to itself and to the broker. Inserts count from the first \
            `scheduled` event to the last; memory is what the process has beyond idle once all is in the changelog and on disk. \
            It has as many lanes as by default.

            Redis (Debian's redis-server, nothing on disk) gets the same bodies from redis-py, a sorted set and a string each, \
            in pipelines of 1,000; APScheduler keeps fewer jobs in its memory store, so that its figures an entry are those of \
            a smaller set.
            """
    )

    @Option(help: "Pending notifications.")
    var entries = 1_000_000
    @Option(help: "Pending notifications of APScheduler, at most; they take it a while.")
    var apschedulerEntries = 50_000
    @Option(help: "Partitions of the topics; the embedded broker keeps 5 MiB of each.")
    var partitions: Int32 = 64
    @Option(parsing: .upToNextOption, help: "What runs; jemalloc is carillon with that allocator.")
    var subjects: [SubjectName] = SubjectName.allCases
    @Option(help: ArgumentHelp("Where Python's packages are kept.", valueName: "directory"))
    var python = ".build/python-bench"
    @OptionGroup var output: BenchmarkOutput

    func validate() throws {
        guard (1...50_000_000).contains(entries) else { throw ValidationError("--entries is 1 to 50,000,000") }
        guard (1...1_000_000).contains(apschedulerEntries) else {
            throw ValidationError("--apscheduler-entries is 1 to 1,000,000")
        }
        guard (1...1_000).contains(partitions) else { throw ValidationError("--partitions is 1 to 1,000") }
    }

    func run() async throws {
        let report = try await KafkaThread.run(name: "bench") { try measure() }
        try output.print(report) { report.table }
    }

    private func measure() throws -> TimersReport {
        var results: [TimersReport.Subject] = []
        if subjects.contains(.carillon) { results.append(try carillon(with: nil)) }
        if subjects.contains(.jemalloc) {
            do {
                results.append(try carillon(with: Subject.jemalloc()))
            } catch {
                output.progress("\(error)")
            }
        }
        do {
            results += try comparators()
        } catch {
            output.progress("without the other subjects: \(error)")
        }
        return TimersReport(entries: entries, partitions: partitions, subjects: results)
    }

    private func carillon(with allocator: String?) throws -> TimersReport.Subject {
        try TimersBenchmark(
            entries: entries,
            workload: .init(partitions: partitions),
            allocator: allocator,
            logger: output.logger,
            report: output.progress
        ).run()
    }

    private func comparators() throws -> [TimersReport.Subject] {
        guard subjects.contains(.redis) || subjects.contains(.apscheduler) else { return [] }
        let programs = TimerComparators(
            python: try PythonEnvironment(in: URL(fileURLWithPath: python), report: output.progress),
            report: output.progress
        )
        var results: [TimersReport.Subject] = []
        if subjects.contains(.redis) { results.append(try programs.redis(entries: entries)) }
        if subjects.contains(.apscheduler) {
            results.append(try programs.apscheduler(entries: min(entries, apschedulerEntries)))
        }
        return results
    }
}
