import ArgumentParser
import NotificationChannels

/// `carillon-bench webhook`.
struct WebhookCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook",
        abstract: "The channel webhook, compared with wrk; and notifications that wait for their endpoint.",
        discussion: """
            The channel posts signed notifications of about 400 bytes to a local nginx (Debian's package), first alone \
            with sends as from a lane, then in the consumer service with the embedded broker; both with the default \
            settings. wrk (Debian's package) posts requests of the same length over as many connections. nginx has one \
            worker, answers 204, and counts: every notification must arrive once.

            Then notifications wait in the consumer service while nginx refuses them with 503, and while it is away. \
            When it works again all of them must arrive, by the ids in its log; and the outage must not cost more \
            requests than the circuit breaker allows.
            """
    )

    @Option(help: "Notifications of each measurement.")
    var sends = 50_000
    @Option(help: "Partitions of the topics.")
    var partitions: Int32 = 16
    @Option(help: "Number of measurements of each; the median counts.")
    var rounds = 3
    @Option(help: "Seconds of each round of wrk.")
    var seconds = 5
    @Flag(inversion: .prefixedNo, help: "Measure the outage too.")
    var drain = true
    @Option(help: "Notifications that wait during the outage.")
    var waiting = 100_000
    @Option(help: "Seconds that the endpoint refuses at least, and seconds that it is away.")
    var outage = 10
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--sends", sends, 1...10_000_000)
        try requireRange("--partitions", partitions, 1...1_000)
        try requireRange("--rounds", rounds, 1...100)
        try requireRange("--seconds", seconds, 1...600)
        try requireRange("--waiting", waiting, 1...10_000_000)
        try requireRange("--outage", outage, 1...600)
    }

    private var connections: Int { WebhookConfiguration().connections }

    var workloadName: String { "\(sends) notifications over \(partitions) partitions, \(connections) connections" }

    func measure(on workbench: Workbench) throws -> Report {
        let nginx = try Nginx(.plain, on: workbench)
        defer { nginx.stop() }
        let wrk = try Wrk.posts(seconds: seconds, connections: connections, workbench: workbench)
        let service = WebhookServiceBenchmark(
            requests: RequestWorkload(distinct: sends, partitions: partitions),
            workbench: workbench
        )
        var channels: [ChannelBenchmark.Result] = []
        var services: [ProgramRate] = []
        var posts: [Double] = []
        for round in 1...rounds {
            workbench.report("round \(round) of \(rounds): \(sends) notifications, \(seconds) s of wrk")
            channels.append(try ChannelBenchmark(sends: sends, workbench: workbench).run(nginx))
            posts.append(try wrk.run(port: nginx.port, alive: nginx.process))
            services.append(try service.run(nginx))
        }
        guard let channel = Distribution(channels.map(\.perSecond)).median,
            let cpu = Distribution(channels.map(\.cpuSecondsPerMillion)).median,
            let service = ProgramRate(medianOf: services), let posts = Distribution(posts).median
        else { throw BenchmarkError("no rounds") }
        var workload = Workload(
            name: workloadName + Programs.build,
            figures: [
                Figure("sends", given: sends), Figure("partitions", given: partitions),
                Figure("connections", given: connections), Figure("rounds", given: rounds),
                Figure("seconds", given: seconds),
                Figure("wrk_per_second", "POSTs/s of wrk", posts, as: .whole),
            ],
            subjects: [
                FigureRow(
                    "channel",
                    title: "the channel alone",
                    [
                        Figure("messages_per_second", "messages/s", channel, as: .whole),
                        Figure("cpu_seconds_per_million", "CPU s/million", cpu),
                    ]
                ),
                FigureRow("service", title: "the consumer service", service.figures),
            ]
        )
        workload.ratios.set(.channelVersusWrk, channel, over: posts)
        workload.ratios.set(.webhookServiceVersusWrk, service.messagesPerSecond, over: posts)
        if drain { workload.parts.append(try drainBenchmark(on: workbench).run().row) }
        return Report(benchmark: "webhook", workloads: [workload])
    }

    private func drainBenchmark(on workbench: Workbench) -> DrainBenchmark {
        DrainBenchmark(
            requests: RequestWorkload(distinct: waiting, partitions: partitions),
            outage: outage,
            workbench: workbench
        )
    }
}
