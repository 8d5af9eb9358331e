import ArgumentParser
import Kafka

/// `carillon bench restore`.
struct RestoreBenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract:
            "How long pending notifications take to come back: from the changelog alone, and with the files on disk.",
        discussion: """
            The service is filled and ended; its files are deleted, and it starts again. Time counts as its metric \
            `carillon_restore_duration_seconds` does: from the assignment of partitions until they are worked on, without the \
            join of the group. Then it is ended and started with its files.
            """
    )

    @Option(help: "Pending notifications.")
    var entries = 1_000_000
    @Option(help: "Partitions of the topics; the embedded broker keeps 5 MiB of each.")
    var partitions: Int32 = 64
    @OptionGroup var output: BenchmarkOutput

    func validate() throws {
        guard (1...50_000_000).contains(entries) else { throw ValidationError("--entries is 1 to 50,000,000") }
        guard (1...1_000).contains(partitions) else { throw ValidationError("--partitions is 1 to 1,000") }
    }

    func run() async throws {
        let report = try await KafkaThread.run(name: "bench") {
            try RestoreBenchmark(
                entries: entries,
                workload: .init(partitions: partitions),
                logger: output.logger,
                report: output.progress
            ).run()
        }
        try output.print(report) { report.table }
    }
}
