import ArgumentParser
import Foundation
import Kafka

/// `carillon bench pipeline`.
struct PipelineBenchCommand: AsyncParsableCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case carillon, disk, native, python, quixstreams, jemalloc
    }

    static let configuration = CommandConfiguration(
        commandName: "pipeline",
        abstract: "From requests to delivery events, beside a C++ program, a Python loop and Quix Streams.",
        discussion: """
            Immediate requests of about 400 bytes over 50,000 identifiers, read from the embedded broker; every subject must \
            make the same events, byte for byte. First 200,000 over 8 partitions, then 1,000,000 over 40; then both services \
            together, for the latency from business event to delivery event at a quarter of the consumer's rate.
            """
    )

    @Option(help: "Requests of a single workload instead of the two.")
    var records: Int?
    @Option(help: "Its partitions.")
    var partitions: Int32 = 8
    @Option(help: "How often each subject runs; the median counts. Quix Streams runs once.")
    var rounds = 3
    @Option(
        parsing: .upToNextOption,
        help:
            "What runs; disk is carillon with its store on disk; jemalloc repeats carillon and native with that allocator."
    )
    var subjects: [SubjectName] = SubjectName.allCases
    @Flag(inversion: .prefixedNo, help: "Measure the latency too.")
    var latency = true
    @Option(help: ArgumentHelp("Where Python's packages are kept.", valueName: "directory"))
    var python = ".build/python-bench"
    @OptionGroup var output: BenchmarkOutput

    func validate() throws {
        guard (1...10_000_000).contains(records ?? 1) else { throw ValidationError("--records is 1 to 10,000,000") }
        guard (1...1_000).contains(partitions) else { throw ValidationError("--partitions is 1 to 1,000") }
        guard (1...100).contains(rounds) else { throw ValidationError("--rounds is 1 to 100") }
    }

    func run() async throws {
        let report = try await KafkaThread.run(name: "bench") { try measure() }
        try output.print(report) { report.table }
    }

    private func measure() throws -> PipelineReport {
        let stores = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: stores) }
        let subjects = try findSubjects(stores)
        let workloads = try requests.map { requests in
            let benchmark = PipelineBenchmark(
                workload: requests,
                rounds: rounds,
                timeLimit: .seconds(600),
                logger: output.logger,
                report: output.progress
            )
            let results = try benchmark.run(subjects)
            return PipelineReport.Workload(
                records: requests.records,
                partitions: requests.partitions,
                rounds: benchmark.rounds,
                subjects: results,
                ratios: .init(results)
            )
        }
        return PipelineReport(workloads: workloads, latency: try measureLatency(after: workloads))
    }

    private func measureLatency(after workloads: [PipelineReport.Workload]) throws -> LatencyResult? {
        let peak = workloads[0].subjects.first { $0.name == SubjectName.carillon.rawValue }?.messagesPerSecond
        guard latency, let peak else { return nil }
        return try LatencyBenchmark(
            eventsPerSecond: peak / 4,
            duration: .seconds(10),
            partitions: 8,
            logger: output.logger,
            report: output.progress
        ).run()
    }

    private var requests: [RequestWorkload] {
        guard let records else {
            return [.init(records: 200_000, partitions: 8), .init(records: 1_000_000, partitions: 40)]
        }
        return [.init(records: records, partitions: partitions)]
    }

    private func findSubjects(_ stores: URL) throws -> [Subject] {
        var found: [Subject] = []
        if subjects.contains(.carillon) { found.append(try .carillon()) }
        if subjects.contains(.disk) { found.append(try .disk(in: stores)) }
        if subjects.contains(.native) { found.append(try .native()) }
        if subjects.contains(.jemalloc) {
            do {
                let library = try Subject.jemalloc()
                found += found.filter { $0.name != SubjectName.disk.rawValue }.map { $0.preloading(library) }
            } catch {
                output.progress("\(error)")
            }
        }
        guard subjects.contains(.python) || subjects.contains(.quixstreams) else { return found }
        do {
            let environment = try PythonEnvironment(in: URL(fileURLWithPath: python), report: output.progress)
            if subjects.contains(.python) {
                found.append(environment.subject("python", source: PackageResources.confluent_loop_py))
            }
            if subjects.contains(.quixstreams) {
                found.append(
                    environment.subject("quixstreams", source: PackageResources.quix_streams_py, runsOnce: true)
                )
            }
        } catch {
            output.progress("without the Python subjects: \(error)")
        }
        return found
    }
}
