import ArgumentParser

/// `carillon-bench ingest`.
struct IngestCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest",
        abstract: "Input: PUTs compared with a bare Hummingbird route, business events with the pipeline.",
        discussion: """
            wrk (Debian's package) sends PUTs, which are answered when the broker has acknowledged. Business events \
            become requests of about 400 bytes by a rule; their rate is compared with that of the consumer service on \
            as many requests.
            """
    )

    @Option(help: "Business events.")
    var records = 200_000
    @Option(help: "Partitions of the topics.")
    var partitions: Int32 = 8
    @Option(help: "Number of measurements of each; the median counts.")
    var rounds = 3
    @Option(help: "Seconds of each round of PUTs.")
    var seconds = 5
    @Option(help: "Connections that wrk keeps busy.")
    var connections = 128
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--records", records, 1...10_000_000)
        try requireRange("--partitions", partitions, 1...1_000)
        try requireRange("--rounds", rounds, 1...100)
        try requireRange("--seconds", seconds, 1...600)
        try requireRange("--connections", connections, 1...4_000)
    }

    var workloadName: String { "\(records) events over \(partitions) partitions, \(connections) connections" }

    func measure(on workbench: Workbench) throws -> Report {
        let calls = CallsBenchmark(
            wrk: try Wrk(seconds: seconds, connections: connections, workbench: workbench),
            rounds: rounds,
            workbench: workbench
        )
        let (service, bare) = try calls.run()
        let events = EventsBenchmark(records: records, partitions: partitions, rounds: rounds, workbench: workbench)
        let (producer, pipeline) = try events.run()
        var workload = Workload(
            name: workloadName + Programs.build,
            figures: [
                Figure("records", given: records), Figure("partitions", given: partitions),
                Figure("rounds", given: rounds), Figure("seconds", given: seconds),
                Figure("connections", given: connections),
                Figure("puts_per_second", "PUTs/s, acknowledged by the broker", service, as: .whole),
                Figure("bare_route_per_second", "PUTs/s, bare Hummingbird route", bare, as: .whole),
            ],
            subjects: [
                FigureRow("business_events", title: "business events to requests", producer.figures),
                FigureRow("pipeline", title: "requests to delivery events", pipeline.figures),
            ]
        )
        workload.ratios.set(.putsVersusBareRoute, service, over: bare)
        workload.ratios.set(.eventsVersusPipeline, producer.messagesPerSecond, over: pipeline.messagesPerSecond)
        return Report(benchmark: "ingest", workloads: [workload])
    }
}
