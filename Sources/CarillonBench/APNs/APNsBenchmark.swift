import APNsSimulator
import ArgumentParser
import Foundation
import ServiceSupport

/// `carillon-bench apns`.
struct APNsCommand: BenchmarkCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case h2load, aioapns
    }

    static let configuration = CommandConfiguration(
        commandName: "apns",
        abstract: "The channel apns, compared with h2load and aioapns; GOAWAYs; and a burst at one instant.",
        discussion: """
            The other side is the simulator of APNs in its own process, over TLS, which accepts every token and counts: \
            as many as were sent. The channel alone gets sends as from a lane, one in five of them time-sensitive, first \
            over one and ten connections with a round trip, then without one, in turn with h2load (Debian's \
            nghttp2-client, the same push again and again) and aioapns (in .build/python, as deploy/test installs it).

            The consumer service sends from requests on the embedded broker to events. Then pushes go on while \
            connections end with GOAWAY: devices must show each, and get none twice. At last many notifications are due at \
            one instant; the times are those of the `delivered` events, by priority.
            """
    )

    @Option(help: "Pushes of h2load, and of the consumer service.")
    var pushes = 100_000
    @Option(help: "Pushes of aioapns, which is slow.")
    var aioapnsPushes = 10_000
    @Option(help: "Milliseconds of the round trip.")
    var roundTrip = 40
    @Option(help: "Streams of a connection.")
    var streams = 500
    @Option(help: "Seconds of each measurement of the channel.")
    var seconds = 5
    @Option(help: "Number of measurements without a round trip; the median counts.")
    var rounds = 3
    @Option(help: "GOAWAYs; 0 leaves that part out.")
    var goaways = 50
    @Option(help: "Pushes meanwhile.")
    var goawayPushes = 50_000
    @Option(help: "Notifications due at one instant; 0 leaves that part out.")
    var burst = 1_000_000
    @Option(help: "Seconds at half the rate of the burst; 0 for none.")
    var steadySeconds = 10
    @Option(help: "Partitions of the topics; the embedded broker keeps 5 MiB of each.")
    var partitions: Int32 = 64
    @OptionGroup var programs: SubjectOptions<SubjectName>
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--pushes", pushes, 1_000...10_000_000)
        try requireRange("--aioapns-pushes", aioapnsPushes, 100...10_000_000)
        try requireRange("--round-trip", roundTrip, 1...1_000)
        try requireRange("--streams", streams, 2...1_000)
        try requireRange("--seconds", seconds, 1...600)
        try requireRange("--rounds", rounds, 1...100)
        try requireRange("--goaways", goaways, 0...1_000)
        try requireRange("--goaway-pushes", goawayPushes, 1_000...100_000)
        try requireRange("--burst", burst, 0...10_000_000)
        try requireRange("--steady-seconds", steadySeconds, 0...600)
        try requireRange("--partitions", partitions, 1...1_000)
    }

    var workloadName: String {
        "\(pushes) pushes, \(streams) streams, \(roundTrip) ms round trip, \(burst) at one instant over \(partitions) partitions"
    }

    func measure(on workbench: Workbench) throws -> Report {
        var workload = Workload(
            name: workloadName + Programs.build,
            figures: [
                Figure("pushes", given: pushes), Figure("streams", given: streams),
                Figure("round_trip_ms", given: roundTrip), Figure("rounds", given: rounds),
                Figure("seconds", given: seconds), Figure("partitions", given: partitions),
            ]
        )
        try measureRoundTrip(&workload, on: workbench)
        try measureLoopback(&workload, on: workbench)
        if goaways > 0 {
            let result = try GoAwayBenchmark(pushes: goawayPushes, goAways: goaways, workbench: workbench).run()
            workload.parts.append(result.row)
        }
        if burst > 0 {
            let benchmark = PushBurstBenchmark(
                notifications: burst,
                steadySeconds: steadySeconds,
                partitions: partitions,
                workbench: workbench
            )
            workload.parts += try benchmark.run().parts
        }
        return Report(benchmark: "apns", workloads: [workload])
    }

    // MARK: - The channel with a round trip

    private func channel(connections: Int, warmUp: Int) -> PushChannelBenchmark {
        PushChannelBenchmark(
            connections: connections,
            // All streams are used while results are on their way.
            atOnce: 2 * connections * streams,
            warmUp: Double(warmUp),
            seconds: Double(seconds)
        )
    }

    private func measureRoundTrip(_ workload: inout Workload, on workbench: Workbench) throws {
        let server = try PushServer(roundTrip: roundTrip, streams: streams, on: workbench)
        defer { server.stop() }
        workbench.report("the channel over one connection, and over ten, with a round trip of \(roundTrip) ms")
        let one = try channel(connections: 1, warmUp: 3).run(server)
        // Connections begin a few in a second.
        let ten = try channel(connections: 10, warmUp: 10).run(server)
        let limit = Double(streams) / Double(roundTrip) * 1_000
        for (name, title, result) in [
            ("one_connection", "one connection, with the round trip", one),
            ("ten_connections", "ten connections, with the round trip", ten),
        ] {
            workload.subjects.append(FigureRow(name, title: title, result.figures))
        }
        workload.ratios.set(.oneConnectionVersusLimit, one.perSecond, over: limit)
        workload.ratios.set(.tenConnectionsVersusOne, ten.perSecond, over: one.perSecond)
    }

    // MARK: - On loopback

    private func measureLoopback(_ workload: inout Workload, on workbench: Workbench) throws {
        let server = try PushServer(streams: streams, on: workbench)
        defer { server.stop() }
        var (measured, services) = (PushRounds(), [ProgramRate]())
        let service = PushServiceBenchmark(requests: pushes, partitions: partitions, workbench: workbench)
        for round in 1...rounds {
            workbench.report("round \(round) of \(rounds): \(seconds) s of the channel, \(pushes) pushes of others")
            try measured.run(
                // As many connections as it has without a setting.
                channel(connections: 4, warmUp: 3),
                server,
                programs,
                h2load: (.h2load, pushes, streams),
                client: (.aioapns, { try aioapns(server, on: workbench) }),
                on: workbench
            )
            services.append(try service.run(server))
        }
        try measured.report(in: &workload, SubjectName.aioapns.rawValue, .throughputVersusAioAPNs)
        guard let service = ProgramRate(medianOf: services) else { throw BenchmarkError("no rounds") }
        workload.subjects.append(
            FigureRow(
                "service",
                title: "the consumer service",
                PushRounds.figures(service.messagesPerSecond, service.cpuSecondsPerMillion)
                    + [Figure("peak_resident_bytes", "peak MiB", service.peakResidentBytes, as: .mebibytes)]
            )
        )
    }

    private func aioapns(_ server: PushServer, on workbench: Workbench) throws -> PushClientResult {
        let client = try PythonClient(
            "aioapns",
            program: "aioapns_pushes.py",
            in: [programs.python, ".build/python"],
            on: workbench
        )
        let payload = workbench.place("payload")
        try Data(server.request().body).write(to: payload)
        let arguments = [
            "\(server.places.production)", server.places.authority, server.places.key, APNsSimulator.ownKeyID,
            APNsSimulator.ownTeam, PushServer.bundle, payload.path, "\(aioapnsPushes)", "4",
        ]
        return try client.run(arguments, pushes: aioapnsPushes, to: server)
    }
}
