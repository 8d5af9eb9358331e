import Foundation
import Logging
import Synchronization

/// The directory and the processes of one benchmark. None of them outlives it, however it ends.
final class Workbench: Sendable {
    private struct State {
        var processes: [Process] = []
        var isClear = false
        var isInterrupted = false
    }

    /// Everything that a benchmark writes is in here.
    let directory: URL
    /// For Kafka clients: among the figures only errors are worth a line.
    let logger: Logger
    private let state = Mutex(State())

    /// - Parameter parent: Where its directory is made; nil for the temporary directory.
    init(in parent: String?) throws {
        let parent = parent.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
        directory = parent.appendingPathComponent("carillon-bench-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        } catch {
            throw BenchmarkError("\(parent.path) cannot be written: give --directory another place")
        }
        var logger = Logger(label: "carillon-bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        self.logger = logger
    }

    deinit { clear() }

    /// Says on standard error what the benchmark does; standard output is for the result.
    func report(_ text: String) { FileHandle.standardError.write(Data("carillon-bench: \(text)\n".utf8)) }

    /// A path in the directory that nothing has.
    func place(_ name: String) -> URL { directory.appendingPathComponent("\(name)-\(UUID().uuidString)") }

    /// The sizes of all files in a directory.
    static func bytes(ofFilesIn directory: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: directory).reduce(0) { sum, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            return sum + (attributes[.size] as? Int ?? 0)
        }
    }

    // MARK: - Processes

    /// - Throws: ``MissingProgram`` when there is no such program.
    func start(_ process: Process) throws {
        try state.withLock { state in
            guard !state.isClear else { throw BenchmarkError("the benchmark was ended") }
            do {
                try process.run()
            } catch {
                throw MissingProgram(process.executableURL?.path ?? "a program", remedy: "install it")
            }
            state.processes.append(process)
        }
    }

    /// Runs a program to its end.
    ///
    /// - Returns: What it wrote to standard output; standard error is the caller's.
    func run(
        _ executable: URL,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) throws -> (output: Data, status: Int32) {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try start(process)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        Self.wait(for: process)
        return (data, process.terminationStatus)
    }

    /// `Process.waitUntilExit` waits only on the thread that started it.
    static func wait(for process: Process) {
        while process.isRunning { usleep(5_000) }
    }

    // MARK: - The end

    /// Ends the benchmark from outside: what it waits for fails.
    func interrupt() {
        state.withLock { $0.isInterrupted = true }
        clear()
    }

    /// Whether failures only follow from ``interrupt()``.
    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// Kills the processes and deletes the directory.
    func clear() {
        let started = state.withLock { state in
            state.isClear = true
            defer { state.processes = [] }
            return state.processes
        }
        for process in started where process.isRunning { kill(process.processIdentifier, SIGKILL) }
        for process in started { Self.wait(for: process) }
        // What still runs in this process may make a file meanwhile.
        for _ in 0..<10 where FileManager.default.fileExists(atPath: directory.path) {
            try? FileManager.default.removeItem(at: directory)
        }
    }
}
