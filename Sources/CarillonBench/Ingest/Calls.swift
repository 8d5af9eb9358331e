import ArgumentParser
import Foundation
import Hummingbird
import Logging

/// `PUT`s of a notification that the broker has acknowledged, compared with a Hummingbird route that only reads its
/// body: each in its own process, called by wrk.
struct CallsBenchmark {
    var wrk: Wrk
    var rounds: Int
    var workbench: Workbench

    private static let partitions: Int32 = 8

    /// - Returns: The medians of the calls per second.
    func run() throws -> (service: Double, bare: Double) {
        var service: [Double] = []
        var bare: [Double] = []
        for round in 1...rounds {
            workbench.report("PUT, round \(round) of \(rounds): \(wrk.seconds) s each, \(wrk.connections) connections")
            service.append(try callService())
            bare.append(try callBareRoute())
        }
        guard let service = Distribution(service).median, let bare = Distribution(bare).median else {
            throw BenchmarkError("no rounds")
        }
        return (service, bare)
    }

    private func callService() throws -> Double {
        try BenchmarkBroker.with(partitions: Self.partitions, logger: workbench.logger) { broker in
            let port = try FreePort.find()
            let work = broker.work(properties: PipelineBenchmark.properties)
            let process = try Subject.producer(port: port).start(work, on: workbench)
            defer { process.stop() }
            return try wrk.run(port: port, alive: process)
        }
    }

    private func callBareRoute() throws -> Double {
        let port = try FreePort.find()
        let process = try SubjectProcess(Programs.own, ["bare-route", "--port", "\(port)"], on: workbench)
        defer { process.stop() }
        return try wrk.run(port: port, alive: process)
    }
}

/// The load generator wrk, from Debian's package.
struct Wrk {
    let seconds: Int
    let connections: Int
    private let workbench: Workbench
    private let script: URL
    /// Of the script.
    private let arguments: [String]

    private static let executable = URL(fileURLWithPath: "/usr/bin/wrk")

    /// - Parameter script: a file of `Resources` that prints `RESULT requests failed microseconds`.
    init(
        script: String = "puts.lua",
        arguments: [String] = [],
        seconds: Int,
        connections: Int,
        workbench: Workbench
    ) throws {
        self.arguments = arguments
        (self.seconds, self.connections, self.workbench) = (seconds, connections, workbench)
        guard FileManager.default.isExecutableFile(atPath: Self.executable.path) else {
            throw MissingProgram(Self.executable.path, remedy: "apt-get install wrk")
        }
        self.script = try Programs.resource(script)
    }

    /// - Returns: successful calls a second.
    func run(port: Int, alive process: SubjectProcess) throws -> Double {
        try warmUp(port: port, alive: process)
        guard let calls = try call(port, seconds: seconds, connections: connections) else {
            _ = try process.sample()
            throw BenchmarkError("wrk could not call port \(port)")
        }
        guard calls.failed == 0 else { throw BenchmarkError("\(calls.failed) of \(calls.requests) calls failed") }
        return Double(calls.requests) / (Double(calls.microseconds) / 1e6)
    }

    /// Waits until a second of calls succeeds: the service listens and its broker answers.
    func warmUp(port: Int, alive process: SubjectProcess) throws {
        let limit = Duration.seconds(300)
        let deadline = ContinuousClock.now + limit
        repeat {
            _ = try process.sample()
            if let calls = try call(port, seconds: 1, connections: 2), calls.requests > 0, calls.failed == 0 { return }
            // While nothing listens, wrk ends at once.
            Thread.sleep(forTimeInterval: 0.1)
        } while ContinuousClock.now < deadline
        throw BenchmarkError("no answers on port \(port) within \(limit)")
    }

    /// - Returns: Nil while nothing listens.
    private func call(
        _ port: Int,
        seconds: Int,
        connections: Int
    ) throws -> (requests: Int, failed: Int, microseconds: Int)? {
        let (output, _) = try workbench.run(
            Self.executable,
            [
                "-t", "1", "-c", "\(connections)", "-d", "\(seconds)", "-s", script.path, "http://127.0.0.1:\(port)",
                "--",
            ] + arguments
        )
        let text = String(decoding: output, as: UTF8.self)
        let words = text.split(separator: "\n").first { $0.hasPrefix("RESULT ") }?.split(separator: " ").dropFirst()
        guard let numbers = words?.compactMap({ Int($0) }), numbers.count == 3, numbers[2] > 0 else { return nil }
        return (numbers[0], numbers[1], numbers[2])
    }
}

/// `carillon-bench bare-route`: the reference for `ingest`, only the framework.
struct BareRouteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-route",
        abstract: "A Hummingbird route that reads its body and answers 202.",
        shouldDisplay: false
    )

    @Option var port: Int

    func run() async throws {
        let router = Router()
        router.put("/v1/recipients/:recipient/notifications/:identifier") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 18)
            return Response(
                status: .accepted,
                headers: [.contentType: "application/json"],
                body: .init(byteBuffer: ByteBuffer(string: "{\"bytes\":\(body.readableBytes)}"))
            )
        }
        var logger = Logger(label: "bare-route")
        logger.logLevel = .error
        try await Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            logger: logger
        ).runService()
    }
}
