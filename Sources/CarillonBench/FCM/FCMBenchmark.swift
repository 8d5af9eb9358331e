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

    @OptionGroup var options: PushOptions
    @Option(help: "Messages of firebase-admin, which is slow.")
    var firebasePushes = 5_000
    @OptionGroup var programs: SubjectOptions<SubjectName>
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--firebase-pushes", firebasePushes, 100...10_000_000)
    }

    var workloadName: String { options.workloadName(connections: Self.connections) }

    func measure(on workbench: Workbench) throws -> Report {
        let server = try FCMServer(on: workbench)
        defer { server.stop() }
        let measured = try options.measure(
            channel,
            server,
            programs,
            h2load: (.h2load, Self.streams),
            client: (.firebaseAdmin, { try firebaseAdmin(server, on: workbench) }),
            on: workbench
        )
        var workload = options.workload(connections: Self.connections)
        try measured.report(in: &workload, SubjectName.firebaseAdmin.rawValue, .throughputVersusFirebaseAdmin)
        workbench.report("\(options.seconds) s at \(Self.quota) messages a second")
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
            seconds: Double(options.seconds)
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
            server.url, server.authority, server.account.path, body.path, "\(firebasePushes)",
        ]
        return try client.run(arguments, pushes: firebasePushes, to: server)
    }
}
