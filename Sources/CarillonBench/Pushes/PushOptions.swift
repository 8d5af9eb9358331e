import ArgumentParser

/// The options of the benchmarks of the channels fcm and webpush.
struct PushOptions: ParsableArguments {
    @Option(help: "Messages of h2load.")
    var pushes = 100_000
    @Option(help: "Seconds of each measurement of the channel.")
    var seconds = 5
    @Option(help: "Number of measurements; the median counts.")
    var rounds = 3

    func validate() throws {
        try requireRange("--pushes", pushes, 1_000...10_000_000)
        try requireRange("--seconds", seconds, 1...600)
        try requireRange("--rounds", rounds, 1...100)
    }

    /// Runs the channel and the other clients in turn, as often as `rounds` says.
    ///
    /// - Parameters:
    ///   - h2load: its name, and the streams of each of its connections.
    ///   - client: another one, by its name.
    func measure<Name>(
        _ channel: PushChannelBenchmark,
        _ target: some PushTarget,
        _ programs: SubjectOptions<Name>,
        h2load: (name: Name, streams: Int),
        client: (name: Name, run: () throws -> PushClientResult),
        on workbench: Workbench
    ) throws -> PushRounds where Name: RawRepresentable<String> {
        var measured = PushRounds()
        for round in 1...rounds {
            workbench.report("round \(round) of \(rounds): \(seconds) s of the channel, \(pushes) messages of h2load")
            try measured.run(
                channel,
                target,
                programs,
                h2load: (h2load.name, pushes, h2load.streams),
                client: client,
                on: workbench
            )
        }
        return measured
    }

    func workloadName(connections: Int) -> String { "\(pushes) messages, \(connections) connections" }

    /// - Parameter connections: of each client.
    func workload(connections: Int) -> Workload {
        Workload(
            name: workloadName(connections: connections) + Programs.build,
            figures: [
                Figure("pushes", given: pushes), Figure("connections", given: connections),
                Figure("rounds", given: rounds), Figure("seconds", given: seconds),
            ]
        )
    }
}
