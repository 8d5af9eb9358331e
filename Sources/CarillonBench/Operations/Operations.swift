import ArgumentParser

/// `carillon-bench operations`.
struct OperationsCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "operations",
        abstract: "What running the services costs: while idle, and when instances come and go.",
        discussion: """
            First both services with nothing to do: their CPU time and memory. Then timers become due evenly over \
            consumer services, each with one lane and its store on disk: another instance joins, and later each one is \
            stopped and started again, one after the other. Lateness is that of `deviation`, of the timers that are due \
            from the beginning of a change until it is over and five seconds longer; a timer that is early or missing \
            fails the run.

            Last, `carillon explain` seven times, on topics with so many notifications: it reads one \
            partition of each, of 25,000 with the embedded broker.

            The embedded broker lets a further member of a group wait for the session timeout, for which the services \
            set it to a few seconds there. --bootstrap-servers names a cluster that does not: each part creates topics \
            with a prefix of their own, which stay.
            """
    )

    /// The embedded broker keeps 5 MiB of each partition.
    private static let timersOfPartition = 2_000

    @Option(help: "Seconds without anything to do.")
    var idle = 60
    @Option(help: "Instances of the consumer service, after one more has joined.")
    var instances = 3
    @Option(help: "Number of timers due each second.")
    var rate = 100
    @Option(help: "Seconds with such timers: longer than all changes take.")
    var seconds = 180
    @Option(help: "Partitions of the topics.")
    var partitions: Int32 = 12
    @Option(help: "Notifications in the topics for 'carillon explain'; 0 leaves that out.")
    var explained = 1_000_000
    @Option(help: ArgumentHelp("Brokers of a cluster, instead of the embedded one.", valueName: "host:port"))
    var bootstrapServers: String?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--idle", idle, 1...3_600)
        try requireRange("--instances", instances, 2...16)
        try requireRange("--rate", rate, 1...100_000)
        try requireRange("--seconds", seconds, 10...3_600)
        try requireRange("--partitions", partitions, 2...1_000)
        try requireRange("--explained", explained, 0...20_000_000)
        guard bootstrapServers != nil || rate * seconds <= Self.timersOfPartition * Int(partitions) else {
            throw ValidationError(
                "\(rate * seconds) timers are more than \(Self.timersOfPartition) of each partition, whose changelog the embedded "
                    + "broker would cut: use more --partitions, or less of --rate or --seconds"
            )
        }
    }

    func measure(on workbench: Workbench) throws -> Report {
        let idling = try IdleBenchmark(
            seconds: idle,
            partitions: partitions,
            servers: bootstrapServers,
            workbench: workbench
        ).run()
        let changes = try ChangesBenchmark(
            instances: instances,
            rate: rate,
            seconds: seconds,
            partitions: partitions,
            servers: bootstrapServers,
            workbench: workbench
        ).run()
        var workloads = [
            Workload(
                name: "nothing to do for \(idle) s, \(partitions) partitions\(Programs.build)",
                figures: [Figure("seconds", given: idle), Figure("partitions", given: partitions)],
                subjects: idling
            ),
            Workload(
                name: "\(instances) instances, \(rate) due each second over \(partitions) partitions\(Programs.build)",
                figures: [
                    Figure("instances", given: instances), Figure("per_second", given: rate),
                    Figure("partitions", given: partitions),
                ],
                parts: changes
            ),
        ]
        if explained > 0 {
            let benchmark = ExplainBenchmark(
                records: explained,
                clusterPartitions: partitions,
                servers: bootstrapServers,
                workbench: workbench
            )
            workloads.append(
                Workload(
                    name: "\(explained) notifications over \(benchmark.partitions) partitions\(Programs.build)",
                    figures: [Figure("explained", given: explained)],
                    parts: [try benchmark.run()]
                )
            )
        }
        return Report(benchmark: "operations", workloads: workloads)
    }
}
