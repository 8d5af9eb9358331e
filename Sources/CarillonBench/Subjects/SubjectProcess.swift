import Foundation

/// A program that is measured, as a process of its own.
final class SubjectProcess {
    private let process = Process()
    private let directory: URL
    /// What it wrote to standard error; shown when it fails.
    private let errors: URL

    /// Starts it in a directory of its own, which is deleted with it.
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
        // Settings of the caller's shell must not reach what is measured.
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

    /// - Throws: ``BenchmarkError`` with the last lines that it wrote when it has ended.
    func sample() throws -> ProcessSample {
        guard process.isRunning else {
            let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
            let last = text.split(separator: "\n").suffix(5).joined(separator: "\n")
            throw BenchmarkError("\(name) ended with status \(process.terminationStatus): \(last)")
        }
        return try ProcessSample(of: process.processIdentifier)
    }

    /// Stops it from running, so that it does not take part in what comes first.
    func pause() { kill(process.processIdentifier, SIGSTOP) }

    func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Asks it to end, and waits for it.
    ///
    /// - Throws: ``BenchmarkError`` when it does not, or not with status 0.
    func end(within time: Duration) throws {
        _ = try sample()
        process.terminate()
        let deadline = ContinuousClock.now.advanced(by: time)
        while process.isRunning {
            guard ContinuousClock.now < deadline else { throw BenchmarkError("\(name) did not end within \(time)") }
            Thread.sleep(forTimeInterval: 0.02)
        }
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("\(name) ended with status \(process.terminationStatus)")
        }
    }

    func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        Workbench.wait(for: process)
    }
}

/// What the kernel says of a process: Linux's `/proc`.
struct ProcessSample: Sendable {
    /// User and system time of all its threads, since it started.
    var cpuSeconds: Double
    /// The most memory that was resident at any time.
    var peakResidentBytes: Int
    /// What is resident now; 0 for a thread.
    var residentBytes: Int

    /// - Parameter folder: where the processes are; a process's own `task` for one of its threads.
    /// - Throws: ``BenchmarkError`` when the process is gone.
    init(of pid: Int32, in folder: String = "/proc") throws {
        guard let stat = try? String(contentsOfFile: "\(folder)/\(pid)/stat", encoding: .utf8),
            let status = try? String(contentsOfFile: "\(folder)/\(pid)/status", encoding: .utf8),
            // The name in parentheses may hold anything: fields are counted from its end.
            let end = stat.lastIndex(of: ")")
        else { throw BenchmarkError("process \(pid) is gone") }
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
