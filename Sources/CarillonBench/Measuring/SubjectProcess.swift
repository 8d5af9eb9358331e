import Foundation

/// A program that is measured, as a process of its own. It is killed when it is no longer wanted.
final class SubjectProcess {
    private let process = Process()
    private let directory: URL
    /// What it wrote to standard error; shown when it fails.
    private let errors: URL

    /// Starts it in a directory of its own, which goes with it.
    init(_ executable: URL, _ arguments: [String], environment: [String: String]) throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        errors = directory.appendingPathComponent("stderr")
        _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
        process.executableURL = executable
        process.arguments = arguments
        // Settings of the caller's shell must not reach what is measured.
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CARILLON_") }
        variables["TMPDIR"] = directory.path
        variables.merge(environment) { _, new in new }
        process.environment = variables
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: directory)
    }

    /// - Throws: ``BenchmarkError`` with what it said last when it has ended.
    func sample() throws -> ProcessSample {
        guard process.isRunning else {
            let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
            let last = text.split(separator: "\n").suffix(5).joined(separator: "\n")
            let name = process.executableURL?.lastPathComponent ?? ""
            throw BenchmarkError("\(name) ended with status \(process.terminationStatus): \(last)")
        }
        return try ProcessSample(of: process.processIdentifier)
    }

    /// Makes it stand still, so that it does not take part in what comes first.
    func pause() { kill(process.processIdentifier, SIGSTOP) }

    func resume() { kill(process.processIdentifier, SIGCONT) }

    /// Asks it to end, and waits for it.
    ///
    /// - Throws: ``BenchmarkError`` when it does not, or not well.
    func end(within time: Duration) throws {
        _ = try sample()
        process.terminate()
        let deadline = ContinuousClock.now.advanced(by: time)
        while process.isRunning {
            guard ContinuousClock.now < deadline else { throw BenchmarkError("it did not end within \(time)") }
            Thread.sleep(forTimeInterval: 0.02)
        }
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("it ended with status \(process.terminationStatus)")
        }
    }

    func stop() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
