import ArgumentParser
import Foundation
import Kafka
import UnixSignals

/// The command of one benchmark: its options, and the report that they lead to.
protocol BenchmarkCommand: AsyncParsableCommand, Sendable {
    var common: CommonOptions { get }

    /// Runs the benchmark; blocking, on a thread of its own.
    func measure(on workbench: Workbench) throws -> Report
}

/// Options that every benchmark has.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print one line of JSON instead of tables.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Where the files of the run are, in a directory of their own that is deleted; by default the temporary directory.",
            valueName: "directory"
        ),
        completion: .directory
    )
    var directory: String?
}

extension BenchmarkCommand {
    func run() async throws {
        let workbench = try Workbench(in: common.directory)
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let watcher = Task {
            for await signal in signals {
                // The benchmark's thread may be in the middle of anything: it is not waited for.
                workbench.interrupt()
                _exit(128 + signal.rawValue)
            }
        }
        defer { watcher.cancel() }
        do {
            let report = try await KafkaThread.run(name: "bench") {
                defer { workbench.clear() }
                return try measure(on: workbench)
            }
            print(common.json ? try report.json() : report.text)
        } catch {
            if workbench.isInterrupted { await watcher.value }
            throw error
        }
    }
}

/// Refuses a number that is out of its range, with the name of its option.
func requireRange(_ option: String, _ number: some BinaryInteger, _ range: ClosedRange<Int>) throws {
    guard let number = Int(exactly: number), range.contains(number) else {
        throw ValidationError("\(option) takes \(range.lowerBound) to \(range.upperBound), not \(number)")
    }
}
