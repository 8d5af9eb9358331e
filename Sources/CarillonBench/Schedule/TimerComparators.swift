import Foundation

/// Other programs that keep timers, with the bodies of the same requests.
struct TimerComparators {
    private struct Outcome: Decodable {
        var seconds: Double
        var entries: Int
        var resident_bytes: Int?
    }

    private static let server = URL(fileURLWithPath: "/usr/bin/redis-server")

    var python: PythonEnvironment
    var workbench: Workbench

    /// The programs replace `{n}` with the number of the entry.
    private var body: String { ScheduleWorkload.body("{n}", interval: 7 * 86_400_000) }

    /// Starts a server on a free port that writes nothing to disk.
    func redis(entries: Int) throws -> TimersResult {
        guard FileManager.default.isExecutableFile(atPath: Self.server.path) else {
            throw MissingProgram(Self.server.path, remedy: "apt-get install redis-server")
        }
        workbench.report("redis: \(entries) pending")
        let port = try FreePort.find()
        let process = try SubjectProcess(
            Self.server,
            ["--bind", "127.0.0.1", "--port", "\(port)", "--save", "", "--appendonly", "no"],
            on: workbench
        )
        defer { process.stop() }
        Thread.sleep(forTimeInterval: 1)
        let idle = try process.sample().residentBytes
        let outcome = try run("redis_timers.py", ["\(port)", "\(entries)", body], entries)
        let resident = try process.sample().residentBytes - idle
        return result("redis", outcome, residentBytes: resident)
    }

    func apscheduler(entries: Int) throws -> TimersResult {
        workbench.report("apscheduler: \(entries) pending")
        let outcome = try run("apscheduler_timers.py", ["\(entries)", body], entries)
        return result("apscheduler", outcome, residentBytes: outcome.resident_bytes ?? 0)
    }

    private func run(_ program: String, _ arguments: [String], _ entries: Int) throws -> Outcome {
        let outcome = try JSONDecoder().decode(Outcome.self, from: try python.run(program, arguments))
        guard outcome.entries == entries, outcome.seconds > 0 else {
            throw BenchmarkError("\(program): \(outcome.entries) of \(entries) entries found")
        }
        return outcome
    }

    private func result(_ name: String, _ outcome: Outcome, residentBytes: Int) -> TimersResult {
        TimersResult(
            name: name,
            entries: outcome.entries,
            insertsPerSecond: Double(outcome.entries) / outcome.seconds,
            residentBytesPerPending: Double(residentBytes) / Double(outcome.entries)
        )
    }
}
