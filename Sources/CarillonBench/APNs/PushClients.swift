import APNsSimulator
import Foundation
import NotificationChannels

/// What another client has done, by its own report.
struct PushClientResult {
    var perSecond: Double
    /// User and system time.
    var cpuMicroseconds: Double
}

/// h2load, of Debian's package nghttp2-client: it sends the same request again and again, so it is the limit of any client.
struct H2Load {
    private static let executable = URL(fileURLWithPath: "/usr/bin/h2load")
    private let workbench: Workbench

    /// - Throws: ``MissingProgram`` if it is not installed.
    init(on workbench: Workbench) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.executable.path) else {
            throw MissingProgram(Self.executable.path, remedy: "apt-get install nghttp2-client")
        }
        self.workbench = workbench
    }

    /// Sends a push of the channel so often, with its fields and its payload.
    ///
    /// - Throws: ``BenchmarkError`` when one of them is not accepted.
    func run(_ server: PushServer, pushes: Int, connections: Int, streams: Int) throws -> PushClientResult {
        let push = try PushWorkload.push(0)
        let body = workbench.place("payload")
        try Data(push.payload).write(to: body)
        let fields =
            [("authorization", server.places.authorization)] + push.headers.fields.map { ($0.name, $0.value) }
        let before = try (server.accepted(), Self.childrenCPU())
        let (output, status) = try workbench.run(
            Self.executable,
            [
                "-n", "\(pushes)", "-c", "\(connections)", "-m", "\(streams)", "-t", "1", "-d", body.path,
            ] + fields.flatMap { ["-H", "\($0.0): \($0.1)"] } + [
                "https://127.0.0.1:\(server.places.production)\(APNsPush.path(to: PushWorkload.token(0)))"
            ]
        )
        let cpu = Self.childrenCPU() - before.1
        let text = String(decoding: output, as: UTF8.self)
        guard status == 0, let rate = Self.rate(in: text) else {
            throw BenchmarkError("h2load ended with status \(status): \(text.suffix(400))")
        }
        let arrived = try server.accepted() - before.0
        guard arrived == pushes else { throw BenchmarkError("APNs accepted \(arrived) of \(pushes) pushes of h2load") }
        return PushClientResult(perSecond: rate, cpuMicroseconds: cpu / Double(pushes) * 1e6)
    }

    /// `finished in 1.23s, 81300.81 req/s, …`
    static func rate(in text: String) -> Double? {
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let place = words.firstIndex(where: { $0.hasPrefix("req/s") }), place > 0 else { return nil }
        return Double(words[place - 1])
    }

    /// User and system time of the processes that have ended.
    private static func childrenCPU() -> Double {
        var usage = rusage()
        guard getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage) == 0 else { return 0 }
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }
}

/// aioapns, the most used client of APNs in Python.
struct AioAPNs {
    private struct Answer: Decodable {
        var accepted: Int
        var seconds: Double
        var cpu_seconds: Double
    }

    /// Says nothing when the package is missing.
    private static let check = "import sys, importlib.util as util; sys.exit(util.find_spec('aioapns') is None)"

    private let python: URL
    private let workbench: Workbench

    /// The first Python that has the package.
    ///
    /// - Parameter directories: virtual environments.
    /// - Throws: ``MissingProgram`` when there is none.
    init(in directories: [String], on workbench: Workbench) throws {
        let found = directories.map { "\($0)/bin/python" }.first { path in
            guard FileManager.default.isExecutableFile(atPath: path) else { return false }
            return (try? workbench.run(URL(fileURLWithPath: path), ["-c", Self.check]).status) == 0
        }
        guard let found else { throw MissingProgram("Python's aioapns: deploy/test installs it into .build/python") }
        (python, self.workbench) = (URL(fileURLWithPath: found), workbench)
    }

    /// - Throws: ``BenchmarkError`` when a push is not accepted.
    func run(_ server: PushServer, pushes: Int, connections: Int) throws -> PushClientResult {
        let payload = workbench.place("payload")
        try Data(try PushWorkload.push(0).payload).write(to: payload)
        let before = try server.accepted()
        let (output, status) = try workbench.run(
            python,
            [
                try Programs.resource("aioapns_pushes.py").path, "\(server.places.production)", server.places.authority,
                server.places.key, APNsSimulator.ownKeyID, APNsSimulator.ownTeam, PushServer.bundle, payload.path,
                "\(pushes)", "\(connections)",
            ]
        )
        guard status == 0 else { throw BenchmarkError("aioapns ended with status \(status)") }
        let answer = try JSONDecoder().decode(Answer.self, from: output)
        let arrived = try server.accepted() - before
        guard answer.accepted == arrived, arrived >= pushes else {
            throw BenchmarkError(
                "APNs accepted \(arrived) of \(pushes) pushes of aioapns, which counts \(answer.accepted)"
            )
        }
        return PushClientResult(
            perSecond: Double(pushes) / answer.seconds,
            cpuMicroseconds: answer.cpu_seconds / Double(pushes) * 1e6
        )
    }
}
