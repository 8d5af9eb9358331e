import ArgumentParser
import Kafka

/// `carillon bench ingest`.
struct IngestBenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest",
        abstract: "What comes in: PUTs beside a bare Hummingbird route, business events beside the pipeline.",
        discussion: """
            PUTs are asked by wrk (Debian's package) and answered when the broker has acknowledged. Business events become \
            requests of about 400 bytes by a rule; their rate is compared with that of the consumer service on as many requests.
            """
    )

    @Option(help: "Business events.")
    var records = 200_000
    @Option(help: "Partitions of the topics.")
    var partitions: Int32 = 8
    @Option(help: "How often each is measured; the median counts.")
    var rounds = 3
    @Option(help: "Seconds of each round of PUTs.")
    var seconds = 5
    @Option(help: "Connections that wrk keeps busy.")
    var connections = 128
    @OptionGroup var output: BenchmarkOutput

    func validate() throws {
        guard (1...10_000_000).contains(records) else { throw ValidationError("--records is 1 to 10,000,000") }
        guard (1...1_000).contains(partitions) else { throw ValidationError("--partitions is 1 to 1,000") }
        guard (1...100).contains(rounds) else { throw ValidationError("--rounds is 1 to 100") }
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds is 1 to 600") }
        guard (1...4_000).contains(connections) else { throw ValidationError("--connections is 1 to 4,000") }
    }

    func run() async throws {
        let report = try await KafkaThread.run(name: "bench") { try measure() }
        try output.print(report) { report.table }
    }

    private func measure() throws -> IngestReport {
        let calls = try CallsBenchmark(
            seconds: seconds,
            connections: connections,
            rounds: rounds,
            logger: output.logger,
            report: output.progress
        ).run()
        let events = try IngestBenchmark(
            records: records,
            partitions: partitions,
            rounds: rounds,
            logger: output.logger,
            report: output.progress
        ).run()
        return IngestReport(calls: calls, events: events)
    }
}
