import ArgumentParser

/// What the channel and other clients have done, in turn; the medians count.
struct PushRounds {
    private var channel: [PushChannelBenchmark.Result] = []
    private var others: [String: [PushClientResult]] = [:]

    mutating func add(_ result: PushChannelBenchmark.Result) { channel.append(result) }

    /// - Parameter name: of the client.
    mutating func add(_ result: PushClientResult, of name: String) { others[name, default: []].append(result) }

    /// Runs each once: the channel, and of the programs those that can run, over as many connections.
    ///
    /// - Parameters:
    ///   - h2load: its name, its pushes, and the streams of each of its connections.
    ///   - client: another one, by its name.
    mutating func run<Name>(
        _ benchmark: PushChannelBenchmark,
        _ target: some PushTarget,
        _ programs: SubjectOptions<Name>,
        h2load: (name: Name, pushes: Int, streams: Int),
        client: (name: Name, run: () throws -> PushClientResult),
        on workbench: Workbench
    ) throws where Name: RawRepresentable<String> {
        add(try benchmark.run(target))
        try programs.with(h2load.name, on: workbench) {
            let result = try H2Load(on: workbench).run(
                target.request(),
                to: target,
                pushes: h2load.pushes,
                connections: benchmark.connections,
                streams: h2load.streams
            )
            add(result, of: h2load.name.rawValue)
        }
        try programs.with(client.name, on: workbench) {
            add(try client.run(), of: client.name.rawValue)
        }
    }

    /// Adds the CPU time of the channel, a row for each client, and the ratios: of pushes for each CPU second to `h2load`, and of
    /// rates to another client.
    ///
    /// - Parameter client: its name.
    /// - Throws: ``BenchmarkError`` without a round.
    func report(in workload: inout Workload, _ client: String, _ ratio: Ratio) throws {
        let rate = try Self.median(channel.map(\.perSecond))
        let cpu = try Self.median(channel.map(\.cpuMicroseconds))
        workload.figures.append(Figure("cpu_microseconds_per_push", "CPU us of the channel a push", cpu))
        workload.subjects.append(FigureRow("channel", title: "the channel alone", Self.figures(rate, cpu)))
        for name in ["h2load", client] {
            guard let results = others[name] else { continue }
            let other = try Self.median(results.map(\.perSecond))
            let used = try Self.median(results.map(\.cpuMicroseconds))
            workload.subjects.append(FigureRow(name, Self.figures(other, used)))
            if name == client {
                workload.ratios.set(ratio, rate, over: other)
            } else {
                workload.ratios.set(.throughputVersusH2Load, used, over: cpu)
            }
        }
    }

    static func figures(_ perSecond: Double, _ cpuMicroseconds: Double) -> [Figure] {
        [
            Figure("pushes_per_second", "pushes/s", perSecond, as: .whole),
            Figure("cpu_microseconds_per_push", "CPU us/push", cpuMicroseconds),
        ]
    }

    private static func median(_ values: [Double]) throws -> Double {
        guard let median = Distribution(values).median else { throw BenchmarkError("no rounds") }
        return median
    }
}
