import ArgumentParser
import Foundation

/// `carillon-bench fcm`.
struct FCMCommand: BenchmarkCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case h2load
        case firebaseAdmin = "firebase-admin"
    }

    /// What a project may send without asking Google for more, in a second.
    static let quota = 10_000
    /// As the channel has without a setting, with the streams that FCM allows.
    private static let (connections, streams) = (8, 100)

    static let configuration = CommandConfiguration(
        commandName: "fcm",
        abstract: "The channel fcm, compared with h2load and firebase-admin; and at the default quota.",
        discussion: """
            The other side is nginx with TLS, which takes every message and counts: as many as were sent. The channel alone \
            gets sends as from a lane, without the limit of a quota, in turn with h2load (Debian's nghttp2-client, the same \
            message again and again) and firebase-admin's send_each (in .build/python, as deploy/test installs it; it speaks \
            HTTP/1.1). At last the channel sends as many as the default quota allows.
            """
    )

    @Option(help: "Messages of h2load.")
    var pushes = 100_000
    @Option(help: "Messages of firebase-admin, which is slow.")
    var firebasePushes = 5_000
    @Option(help: "Seconds of each measurement of the channel.")
    var seconds = 5
    @Option(help: "Number of measurements; the median counts.")
    var rounds = 3
    @OptionGroup var programs: SubjectOptions<SubjectName>
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--pushes", pushes, 1_000...10_000_000)
        try requireRange("--firebase-pushes", firebasePushes, 100...10_000_000)
        try requireRange("--seconds", seconds, 1...600)
        try requireRange("--rounds", rounds, 1...100)
    }

    func measure(on workbench: Workbench) throws -> Report {
        let server = try FCMServer(on: workbench)
        defer { server.stop() }
        var measured = PushRounds()
        for round in 1...rounds {
            workbench.report("round \(round) of \(rounds): \(seconds) s of the channel, \(pushes) messages of h2load")
            measured.add(try channel.run(server))
            try programs.with(.h2load, on: workbench) {
                let result = try H2Load(on: workbench).run(
                    server.request(),
                    to: server,
                    pushes: pushes,
                    connections: Self.connections,
                    streams: Self.streams
                )
                measured.add(result, of: SubjectName.h2load.rawValue)
            }
            try programs.with(.firebaseAdmin, on: workbench) {
                measured.add(try firebaseAdmin(server, on: workbench), of: SubjectName.firebaseAdmin.rawValue)
            }
        }
        var workload = Workload(
            name: "\(pushes) messages, \(Self.connections) connections" + Programs.build,
            figures: [
                Figure("pushes", given: pushes), Figure("connections", given: Self.connections),
                Figure("rounds", given: rounds), Figure("seconds", given: seconds),
            ]
        )
        try measured.report(in: &workload, SubjectName.firebaseAdmin.rawValue, .throughputVersusFirebaseAdmin)
        workbench.report("\(seconds) s at \(Self.quota) messages a second")
        server.rate = Self.quota
        let result = try channel.run(server)
        workload.parts.append(FigureRow("quota", title: "at \(Self.quota)/s", result.figures))
        return Report(benchmark: "fcm", workloads: [workload])
    }

    private var channel: PushChannelBenchmark {
        PushChannelBenchmark(
            connections: Self.connections,
            // All streams are used while results are on their way.
            atOnce: 2 * Self.connections * Self.streams,
            // The quota allows the messages of a second at once.
            warmUp: 3,
            seconds: Double(seconds)
        )
    }

    private func firebaseAdmin(_ server: FCMServer, on workbench: Workbench) throws -> PushClientResult {
        let client = try PythonClient(
            "firebase_admin",
            program: "firebase_messages.py",
            in: [programs.python, ".build/python"],
            on: workbench
        )
        let body = workbench.place("message")
        try Data(server.request().body).write(to: body)
        let arguments = [
            server.url, server.certificate.certificate, server.account.path, body.path, "\(firebasePushes)",
        ]
        return try client.run(arguments, pushes: firebasePushes, to: server)
    }
}
