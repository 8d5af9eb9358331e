import Foundation
import Logging
import Synchronization

/// The directory and the processes of one benchmark; all of them end with it.
final class Workbench: Sendable {
    private struct State {
        var processes: [Process] = []
        var isClear = false
        var isInterrupted = false
    }

    /// Contains all files of the benchmark.
    let directory: URL
    /// For Kafka clients: only errors are worth a line among the figures.
    let logger: Logger
    private let state = Mutex(State())

    /// - Parameter parent: The parent directory; nil for the temporary directory.
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

    /// Reports progress on standard error; standard output is for the result.
    func report(_ text: String) { FileHandle.standardError.write(Data("carillon-bench: \(text)\n".utf8)) }

    /// A new path in the directory.
    func place(_ name: String) -> URL { directory.appendingPathComponent("\(name)-\(UUID().uuidString)") }

    /// The total size of the files in a directory.
    static func bytes(ofFilesIn directory: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: directory).reduce(0) { sum, name in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
            return sum + (attributes[.size] as? Int ?? 0)
        }
    }

    // MARK: - Processes

    /// - Throws: ``MissingProgram`` when the program does not exist.
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
    /// - Returns: Its standard output; standard error goes to the caller's.
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

    /// `Process.waitUntilExit` works only on the thread that started it.
    static func wait(for process: Process) {
        while process.isRunning { usleep(5_000) }
    }

    // MARK: - Clean-up

    /// Ends the benchmark from outside: its waits fail.
    func interrupt() {
        state.withLock { $0.isInterrupted = true }
        clear()
    }

    /// Whether failures are only a consequence of ``interrupt()``.
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
        // Other threads may still create a file meanwhile.
        for _ in 0..<10 where FileManager.default.fileExists(atPath: directory.path) {
            try? FileManager.default.removeItem(at: directory)
        }
    }
}
