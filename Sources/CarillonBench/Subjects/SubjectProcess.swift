import Foundation

/// A measured program in its own process.
final class SubjectProcess {
    private let process = Process()
    private let directory: URL
    /// Its standard error; shown when it fails.
    private let errors: URL

    /// Starts it in its own directory, which is deleted with it.
    init(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        on workbench: Workbench
    ) throws {
        directory = workbench.place(executable.lastPathComponent)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        errors = directory.appendingPathComponent("stderr")
        try Data().write(to: errors)
        process.executableURL = executable
        process.arguments = arguments
        // Settings of the caller's shell must not affect the measurement.
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CARILLON_") }
        variables["TMPDIR"] = directory.path
        process.environment = variables.merging(environment) { $1 }
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errors)
        try workbench.start(process)
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: directory)
    }

    private var name: String { process.executableURL?.lastPathComponent ?? "a program" }

    /// - Throws: ``BenchmarkError`` with its last lines when it has ended.
    func sample() throws -> ProcessSample {
        guard process.isRunning else { throw failure }
        return try ProcessSample(of: process.processIdentifier)
    }

    /// That it has ended, with its last lines.
    private var failure: BenchmarkError {
        let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
        let last = text.split(separator: "\n").suffix(5).joined(separator: "\n")
        return BenchmarkError("\(name) ended with status \(process.terminationStatus): \(last)")
    }

    /// librdkafka's properties of a member of a group that is paused while so many records are published.
    ///
    /// Its session is half a minute and what 50,000 records a second take, not longer: when the embedded broker refuses a
    /// member's assignment, that member and its group wait for the whole of it (`LocalBroker`).
    static func properties(pausedFor records: Int) -> [String: String] {
        ["session.timeout.ms": "\(30_000 + records / 50)", "socket.timeout.ms": "300000"]
    }

    /// Suspends it, so that it does not take part yet.
    func pause() { kill(process.processIdentifier, SIGSTOP) }

    func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Stops it and waits for its end.
    ///
    /// - Throws: ``BenchmarkError`` when it does not end, or not with status 0.
    func end(within time: Duration) throws {
        _ = try sample()
        process.terminate()
        let deadline = ContinuousClock.now.advanced(by: time)
        while process.isRunning {
            guard ContinuousClock.now < deadline else { throw BenchmarkError("\(name) did not end within \(time)") }
            Thread.sleep(forTimeInterval: 0.02)
        }
        guard process.terminationStatus == 0 else { throw failure }
    }

    func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        Workbench.wait(for: process)
    }
}

/// The kernel's figures of a process: Linux's `/proc`.
struct ProcessSample: Sendable {
    /// User and system time of all its threads since its start.
    var cpuSeconds: Double
    /// Peak resident memory.
    var peakResidentBytes: Int
    /// Current resident memory; 0 for a thread.
    var residentBytes: Int

    /// - Parameter folder: the folder of the processes; a process's own `task` for one of its threads.
    /// - Throws: ``BenchmarkError`` when the process is gone.
    init(of pid: Int32, in folder: String = "/proc") throws {
        guard let stat = try? String(contentsOfFile: "\(folder)/\(pid)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "\(folder)/\(pid)/status", encoding: .utf8),
            // The name in parentheses may contain anything: count the fields from its end.
            let end = stat.lastIndex(of: ")")
        else { throw BenchmarkError("process \(pid) has ended") }
        let fields = stat[end...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
            throw BenchmarkError("\(folder)/\(pid)/stat cannot be read")
        }
        cpuSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        func bytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
            let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
            return (kibibytes ?? 0) * 1024
        }
        (peakResidentBytes, residentBytes) = (bytes("VmHWM:"), bytes("VmRSS:"))
    }

    /// Of this process.
    static func own() throws -> ProcessSample { try ProcessSample(of: getpid()) }
}
