import ArgumentParser
import Kafka

/// `carillon bench deviation`.
struct DeviationBenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deviation",
        abstract: "How late timers are at the hand-over, with many others pending.",
        discussion: """
            Beside those that are due in weeks, a number of them is due each second, evenly, and in the end many at one \
            instant. Lateness is the timestamp of the event's record, which is the service's clock as it hands the event over, \
            less the instant at which it was due. One that is early fails the run, by that clock or by the event's `ce_time`.
            """
    )

    @Option(help: "Pending far away.")
    var pending = 1_000_000
    @Option(help: "Due each second.")
    var rate = 10_000
    @Option(help: "For so many seconds.")
    var seconds = 30
    @Option(help: "Due at one instant.")
    var burst = 50_000
    @Option(help: "Partitions of the topics; the embedded broker keeps 5 MiB of each.")
    var partitions: Int32 = 64
    @OptionGroup var output: BenchmarkOutput

    func validate() throws {
        guard (1...50_000_000).contains(pending) else { throw ValidationError("--pending is 1 to 50,000,000") }
        guard (1...1_000_000).contains(rate) else { throw ValidationError("--rate is 1 to 1,000,000") }
        guard (1...600).contains(seconds) else { throw ValidationError("--seconds is 1 to 600") }
        guard (1...10_000_000).contains(burst) else { throw ValidationError("--burst is 1 to 10,000,000") }
        guard (1...1_000).contains(partitions) else { throw ValidationError("--partitions is 1 to 1,000") }
    }

    func run() async throws {
        let report = try await KafkaThread.run(name: "bench") {
            try DeviationBenchmark(
                pending: pending,
                rate: rate,
                seconds: seconds,
                burst: burst,
                workload: .init(partitions: partitions),
                logger: output.logger,
                report: output.progress
            ).run()
        }
        try output.print(report) { report.table }
    }
}
