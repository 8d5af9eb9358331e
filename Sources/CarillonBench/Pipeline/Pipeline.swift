import ArgumentParser

/// `carillon-bench pipeline`.
struct PipelineCommand: BenchmarkCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case carillon, disk, native, python, quixstreams, jemalloc
    }

    static let configuration = CommandConfiguration(
        commandName: "pipeline",
        abstract: "From requests to delivery events, compared with a C++ program, a Python loop and Quix Streams.",
        discussion: """
            Immediate requests of about 400 bytes over 50,000 identifiers, read from the embedded broker; every \
            program must produce the same events, byte for byte. First 200,000 over 8 partitions, then 1,000,000 over \
            40; then both services together, for the latency from business event to delivery event at a quarter of the \
            consumer's rate.

            Programs: carillon is the consumer service, disk the same with its store on disk, native the C++ program; \
            jemalloc repeats carillon and native with that allocator, unless the build has linked it. Python packages \
            are installed in a virtual environment at their first use.

            With --devices only the consumer service runs, in turn without and with as many registered devices of each \
            recipient and a category with actions, which every event must list. Publishing them is not measured. Then \
            each notification is answered: the responses are measured from signals to their events.

            With --tracing the consumer service runs in turn without and with a collector of spans, an nginx that \
            answers and reads nothing; so many of the requests have a trace that is sampled, the others one that is \
            not. What the collector does not take in time is dropped, which costs less than sending it.

            Examples:
              carillon-bench pipeline --subjects carillon native --no-latency
              carillon-bench pipeline --devices 3
              carillon-bench pipeline --tracing 0.01 --rounds 9
            """
    )

    @Option(help: "Number of requests of a single workload instead of the two.")
    var records: Int?
    @Option(help: "Its partitions.")
    var partitions: Int32 = 8
    @Option(help: "Number of runs of each program; the median counts. Quix Streams runs once.")
    var rounds = 3
    @OptionGroup var programs: SubjectOptions<SubjectName>
    @Flag(inversion: .prefixedNo, help: "Measure the latency too.")
    var latency = true
    @Flag(inversion: .prefixedNo, help: "Name a thread in each request: its notifications are counted.")
    var thread = true
    @Option(
        help: "Devices of each recipient: measures the consumer service without and with them, instead of programs."
    )
    var devices = 0
    @Option(
        help: ArgumentHelp(
            "Measures the consumer service without and with spans; this share of the traces is sampled.",
            valueName: "share"
        )
    )
    var tracing: Double?
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--records", records ?? 1, 1...10_000_000)
        try requireRange("--partitions", partitions, 1...1_000)
        try requireRange("--rounds", rounds, 1...100)
        try requireRange("--devices", devices, 0...16)
        guard let tracing else { return }
        guard 0 < tracing, tracing <= 1 else {
            throw ValidationError("--tracing must be above 0 and at most 1, not \(tracing)")
        }
        guard devices == 0 else { throw ValidationError("--tracing and --devices are different measurements") }
    }

    func measure(on workbench: Workbench) throws -> Report {
        if devices > 0 {
            let benchmark = DevicesBenchmark(workload: deviceWorkload, rounds: rounds, workbench: workbench)
            let workload = DevicesBenchmark.workload(of: try benchmark.run(), deviceWorkload, rounds: rounds)
            return Report(benchmark: "pipeline", workloads: [workload])
        }
        if let tracing { return Report(benchmark: "pipeline", workloads: [try measureTracing(tracing, workbench)]) }
        let found = try findSubjects(on: workbench)
        var workloads: [Workload] = []
        for requests in requests {
            let benchmark = PipelineBenchmark(requests: requests, rounds: rounds, workbench: workbench)
            let rates = try benchmark.run(found)
            var workload = PipelineBenchmark.workload(of: rates, requests, rounds: rounds)
            // At the rate of the first workload.
            if latency, workloads.isEmpty, let rate = rates.first(where: { $0.name == "carillon" })?.rate {
                let benchmark = LatencyBenchmark(
                    eventsPerSecond: rate.messagesPerSecond / 4,
                    duration: .seconds(10),
                    partitions: 8,
                    workbench: workbench
                )
                workload.parts.append(try benchmark.run())
            }
            workloads.append(workload)
        }
        return Report(benchmark: "pipeline", workloads: workloads)
    }

    var requests: [RequestWorkload] {
        let sizes: [(records: Int, partitions: Int32)] =
            if let records { [(records, partitions)] } else { [(200_000, 8), (1_000_000, 40)] }
        return sizes.map { size in
            var requests = RequestWorkload(records: size.records, partitions: size.partitions)
            requests.namesThread = thread
            return requests
        }
    }

    /// For ``devices``.
    var deviceWorkload: DeviceWorkload {
        DeviceWorkload(requests: .init(records: records ?? 200_000, partitions: partitions), devices: devices)
    }

    /// - Throws: ``BenchmarkError`` when no spans were sent, or the events differ in more than their spans.
    private func measureTracing(_ share: Double, _ workbench: Workbench) throws -> Workload {
        var requests = RequestWorkload(records: records ?? 200_000, partitions: partitions)
        requests.sampled = share
        let collector = try Nginx(.plain, on: workbench)
        let asked = try collector.requests()
        let rates = try PipelineBenchmark(
            requests: requests,
            rounds: rounds,
            workbench: workbench,
            differing: ["ce_time", "traceparent"]
        ).run([.carillon(), .traced(collector: collector.url)])
        // One of them asked for the number.
        let exports = try collector.requests() - asked - 1
        guard exports >= rounds else { throw BenchmarkError("\(exports) exports of spans in \(rounds) rounds") }
        var workload = PipelineBenchmark.workload(of: rates, requests, rounds: rounds)
        workload.name += ", \(share) of traces sampled"
        workload.figures.append(Figure("exports", given: exports))
        return workload
    }

    private func findSubjects(on workbench: Workbench) throws -> [Subject] {
        var found: [Subject] = []
        try programs.with(.carillon, on: workbench) { found.append(try .carillon()) }
        try programs.with(.disk, on: workbench) { found.append(try .disk(on: workbench)) }
        try programs.with(.native, on: workbench) { found.append(try .native()) }
        try programs.with(.jemalloc, on: workbench) {
            let library = try Programs.jemalloc()
            found += found.filter { $0.name != "disk" }.map { $0.preloading(library) }
        }
        try programs.with(.python, on: workbench) {
            let python = try programs.pythonEnvironment(on: workbench)
            found.append(try python.subject("python", program: "confluent_loop.py"))
        }
        try programs.with(.quixstreams, on: workbench) {
            let python = try programs.pythonEnvironment(on: workbench)
            found.append(try python.subject("quixstreams", program: "quix_streams.py", runsOnce: true))
        }
        return found
    }
}
