import ArgumentParser
import Foundation
import NotificationChannels

/// `carillon-bench webpush`.
struct WebPushCommand: BenchmarkCommand {
    enum SubjectName: String, CaseIterable, ExpressibleByArgument {
        case h2load, pywebpush
    }

    /// As the channel has to one push service without a setting.
    private static let connections = 64

    static let configuration = CommandConfiguration(
        commandName: "webpush",
        abstract: "The channel webpush, compared with h2load and pywebpush.",
        discussion: """
            The other side is nginx with TLS, which takes every message and counts: as many as were sent. The channel alone \
            gets sends as from a lane, and encrypts each for one of 100 browsers, in turn with h2load (Debian's \
            nghttp2-client, the same bytes again and again: it encrypts nothing) and pywebpush (in .build/python, as \
            deploy/test installs it), all over HTTP/1.1.
            """
    )

    @OptionGroup var options: PushOptions
    @Option(help: "Messages of pywebpush, which is slow.")
    var pywebpushPushes = 3_000
    @OptionGroup var programs: SubjectOptions<SubjectName>
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--pywebpush-pushes", pywebpushPushes, 100...10_000_000)
    }

    var workloadName: String { options.workloadName(connections: Self.connections) }

    func measure(on workbench: Workbench) throws -> Report {
        let server = try WebPushServer(on: workbench)
        defer { server.stop() }
        let channel = PushChannelBenchmark(
            connections: Self.connections,
            // All connections are used while results are on their way.
            atOnce: 4 * Self.connections,
            warmUp: 3,
            seconds: Double(options.seconds)
        )
        let measured = try options.measure(
            channel,
            server,
            programs,
            h2load: (.h2load, 1),
            client: (.pywebpush, { try pywebpush(server, on: workbench) }),
            on: workbench
        )
        var workload = options.workload(connections: Self.connections)
        try measured.report(in: &workload, SubjectName.pywebpush.rawValue, .throughputVersusPyWebPush)
        return Report(benchmark: "webpush", workloads: [workload])
    }

    private func pywebpush(_ server: WebPushServer, on workbench: Workbench) throws -> PushClientResult {
        let client = try PythonClient(
            "pywebpush",
            program: "pywebpush_messages.py",
            in: [programs.python, ".build/python"],
            on: workbench
        )
        let (list, payload) = (workbench.place("subscriptions"), workbench.place("message"))
        try "[\(server.subscriptions.joined(separator: ","))]".write(to: list, atomically: true, encoding: .utf8)
        try Data(server.message().body).write(to: payload)
        let arguments = [
            server.authority, server.key.path, WebPushServer.subject, list.path, payload.path,
            "\(pywebpushPushes)",
            // More threads only wait for each other.
            "8",
        ]
        return try client.run(arguments, pushes: pywebpushPushes, to: server)
    }
}
