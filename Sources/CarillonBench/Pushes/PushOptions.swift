import ArgumentParser

/// What the benchmarks of the channels fcm and webpush are told.
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

    /// - Parameter connections: of each client.
    func workload(connections: Int) -> Workload {
        Workload(
            name: "\(pushes) messages, \(connections) connections" + Programs.build,
            figures: [
                Figure("pushes", given: pushes), Figure("connections", given: connections),
                Figure("rounds", given: rounds), Figure("seconds", given: seconds),
            ]
        )
    }
}
