import Foundation

/// What else keeps timers, with the bodies of the same requests.
struct TimerComparators {
    private struct Outcome: Decodable {
        var seconds: Double
        var entries: Int
        var resident_bytes: Int?
    }

    private static let server = "/usr/bin/redis-server"

    var python: PythonEnvironment
    var report: (String) -> Void

    /// The programs put the number of the entry where `{n}` is.
    private var body: String { ScheduleWorkload.body("{n}", interval: 7 * 86_400_000) }

    /// A server of its own on a free port, that writes nothing to disk.
    func redis(entries: Int) throws -> TimersReport.Subject {
        guard FileManager.default.isExecutableFile(atPath: Self.server) else {
            throw BenchmarkError(
                "\(Self.server) is not there: apt-get install redis-server, or start with deploy/bench"
            )
        }
        report("redis: \(entries) pending")
        let port = try FreePort.find()
        let process = try SubjectProcess(
            URL(fileURLWithPath: Self.server),
            ["--bind", "127.0.0.1", "--port", "\(port)", "--save", "", "--appendonly", "no"],
            environment: [:]
        )
        defer { process.stop() }
        Thread.sleep(forTimeInterval: 1)
        let idle = try process.sample().residentBytes
        let outcome = try run(PackageResources.redis_timers_py, ["\(port)", "\(entries)", body], entries)
        let resident = try process.sample().residentBytes - idle
        return subject("redis", outcome, residentBytes: resident)
    }

    func apscheduler(entries: Int) throws -> TimersReport.Subject {
        report("apscheduler: \(entries) pending")
        let outcome = try run(PackageResources.apscheduler_timers_py, ["\(entries)", body], entries)
        return subject("apscheduler", outcome, residentBytes: outcome.resident_bytes ?? 0)
    }

    private func run(_ source: [UInt8], _ arguments: [String], _ entries: Int) throws -> Outcome {
        let outcome = try JSONDecoder().decode(Outcome.self, from: try python.run(source: source, arguments))
        guard outcome.entries == entries, outcome.seconds > 0 else {
            throw BenchmarkError("\(outcome.entries) of \(entries) entries are there")
        }
        return outcome
    }

    private func subject(_ name: String, _ outcome: Outcome, residentBytes: Int) -> TimersReport.Subject {
        TimersReport.Subject(
            name: name,
            entries: outcome.entries,
            insertsPerSecond: Double(outcome.entries) / outcome.seconds,
            residentBytesPerPending: Double(residentBytes) / Double(outcome.entries)
        )
    }
}
