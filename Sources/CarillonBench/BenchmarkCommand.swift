import ArgumentParser
import Foundation
import Kafka
import UnixSignals

/// The command of one benchmark: its options, and its report.
protocol BenchmarkCommand: AsyncParsableCommand, Sendable {
    var common: CommonOptions { get }

    /// Runs the benchmark; blocking, on a separate thread.
    func measure(on workbench: Workbench) throws -> Report
}

/// Options of every benchmark.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print one line of JSON instead of tables.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The parent of the run's own directory, which is deleted at the end; by default the temporary directory.",
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
                // The benchmark's thread may be anywhere: do not wait for it.
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

/// Refuses a number out of its range, with the name of its option.
func requireRange(_ option: String, _ number: some BinaryInteger, _ range: ClosedRange<Int>) throws {
    guard let number = Int(exactly: number), range.contains(number) else {
        throw ValidationError("\(option) must be from \(range.lowerBound) to \(range.upperBound), not \(number)")
    }
}
