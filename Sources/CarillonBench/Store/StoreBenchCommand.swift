import ArgumentParser
import Foundation
import Kafka

/// `carillon bench store`.
struct StoreBenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "What pending notifications cost on disk and in memory.",
        discussion: """
            Pending entries of about 450 bytes go into the store of one partition as the consumer service writes them; then \
            it is closed, opened again, and all that is due is read in order. No broker takes part.

            Example: carillon bench store --entries 1000000
            """
    )

    @Option(help: "Pending entries.")
    var entries = 1_000_000
    @Option(help: "Where the files go, and are deleted from; by default a temporary directory.")
    var directory: String?
    @OptionGroup var output: BenchmarkOutput

    func validate() throws {
        guard (1...100_000_000).contains(entries) else { throw ValidationError("--entries is 1 to 100,000,000") }
    }

    func run() async throws {
        let report = try await KafkaThread.run(name: "bench") {
            let parent = directory ?? FileManager.default.temporaryDirectory.path
            // Of its own, so that what is deleted is what it made.
            let place = "\(parent)/carillon-bench-store-\(UUID().uuidString)"
            defer { try? FileManager.default.removeItem(atPath: place) }
            return try StoreBenchmark(entries: entries, directory: place, report: output.progress).run()
        }
        try output.print(report) { report.table }
    }
}
