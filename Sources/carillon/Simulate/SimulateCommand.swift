import ArgumentParser
import CarillonSimulation
import ServiceSupport

/// `carillon simulate`: years of the consumer service in seconds, with all kinds of faults.
struct SimulateCommand: AsyncParsableCommand {
    /// The guarantee of the lanes.
    enum Mode: String, ExpressibleByArgument, CaseIterable {
        case exactlyOnce = "exactly-once"
        case atLeastOnce = "at-least-once"
    }

    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Check both services against simulated Kafka, clocks, disks and devices.",
        discussion: """
            Each seed is one run of the production ingest and lanes on a simulated cluster: business events, requests, \
            removals, crashes, lost replies, stalled processes, rebalances, compaction, clock jumps. Published records are \
            checked as they arrive, and once everything is quiet. The same seed gives the same run on every machine.

            The status is 1 when a rule is broken; the output shows the command that repeats this run, or with --keep-going \
            all seeds that break a rule. With --bug one \
            fault is planted in every run, to verify that it is found: the status is then 1 if it is.

            Examples:

              carillon simulate --seeds 1000
              carillon simulate --seeds 20000 --first-seed 81000001 --keep-going
              carillon simulate --first-seed 4711 --seeds 1 --mode at-least-once --trace
            """
    )

    @Option(help: ArgumentHelp("Number of seeds to run.", valueName: "count"))
    var seeds = 100

    @Option(help: ArgumentHelp("The first seed.", valueName: "seed"))
    var firstSeed: UInt64 = 1

    @Option(help: "The guarantee of the lanes.")
    var mode = Mode.exactlyOnce

    @Option(help: ArgumentHelp("Plant a fault.", valueName: "name"))
    var bug: PlantedBug?

    @Flag(help: "Show the whole trace of a run, not only its end; with one seed also if no rule is broken.")
    var trace = false

    @Flag(help: "Run all seeds although a rule is broken, and list those that break one, by rule.")
    var keepGoing = false

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (1...10_000_000).contains(seeds), firstSeed <= UInt64.max - UInt64(seeds) else {
            throw ValidationError("--seeds must be from 1 to 10000000")
        }
    }

    func run() async throws {
        Terminal.ignoreBrokenPipes()
        let outcome = try await Interruption.watched(thread: "simulate") { stop in try runSeeds(until: stop) }
        if let signal = outcome.signal { throw ExitCode(ExitStatus.ended(by: signal)) }
        if outcome.result { throw ExitCode(ExitStatus.failed) }
    }

    /// - Returns: whether a rule was broken.
    private func runSeeds(until stop: StopSignal) throws -> Bool {
        var bar = Terminal.isError ? ProgressBar(total: seeds, now: .now) : nil
        var done = SendSummary()
        var totals = (requests: 0, events: 0, time: Int64(0))
        var failures = SimulationFailures()
        for seed in firstSeed..<firstSeed + UInt64(seeds) {
            if stop.isRequested { break }
            let result = try Simulation.run(.init(seed: seed, isExactlyOnce: mode == .exactlyOnce, bug: bug))
            if let violation = result.violation { failures.add(violation, of: seed) }
            if result.violation == nil ? trace && seeds == 1 : trace || !keepGoing {
                bar?.clear()
                Terminal.write(SimulationReport.text(of: result, command: command(for: seed), isWhole: trace))
            }
            if result.violation != nil, !keepGoing { return true }
            done.acknowledged += 1
            totals.requests += result.requests
            totals.events += result.events
            totals.time += result.time
            bar?.show(done, at: .now)
        }
        bar?.clear()
        let days = totals.time / 86_400_000_000
        let outcome = failures.isEmpty ? "every rule held" : "\(SendSummary.grouped(failures.count)) broke a rule"
        Terminal.write(
            "\(SendSummary.grouped(done.acknowledged)) seeds, \(SendSummary.grouped(totals.requests)) requests, "
                + "\(SendSummary.grouped(totals.events)) events, \(SendSummary.grouped(Int(days))) days: \(outcome)\n"
                + failures.text(command: command(for:))
        )
        return !failures.isEmpty
    }

    /// The command that runs the seed again.
    private func command(for seed: UInt64) -> String {
        "carillon simulate --seeds 1 --first-seed \(seed) --mode \(mode.rawValue)"
            + (bug.map { " --bug \($0.rawValue)" } ?? "")
    }
}

extension PlantedBug: ExpressibleByArgument {}

/// The report of one run.
enum SimulationReport {
    private static let lines = 60

    static func text(of result: Simulation.Result, command: String, isWhole: Bool = false) -> String {
        var text = result.trace.lines.suffix(isWhole ? .max : lines).map { "  \($0)\n" }.joined()
        text += "trace \(String(result.trace.hash, radix: 16)), \(result.trace.count) lines\n"
        if let violation = result.violation {
            text += "broken: \(violation.rule.rawValue)\n  \(violation.detail)\nagain:  \(command)\n"
        }
        return text
    }
}
