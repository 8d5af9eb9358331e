import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A program that a test started. Its output goes to files, so that nothing is ever lost or waited for; it is ended by its own id.
final class ChildProcess: Sendable {
    let name: String
    let pid: Int32
    private let process: Mutex<Process>
    private let input: Mutex<FileHandle?>
    private let folder: TemporaryFolder

    /// Starts it.
    ///
    /// - Parameters:
    ///   - environment: What is added to the environment of the tests, of which nothing that begins with `CARILLON_` is passed on.
    ///   - input: What it reads; a pipe for ``write(_:)`` when `keepsInput`.
    init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        input: Data? = nil,
        keepsInput: Bool = false
    ) throws {
        name = URL(fileURLWithPath: executable).lastPathComponent
        folder = try TemporaryFolder()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CARILLON_") }
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        process.environment = variables.merging(environment) { _, given in given }
        for file in ["out", "err"] {
            guard FileManager.default.createFile(atPath: folder.file(file), contents: nil) else {
                throw Failure(description: "\(folder.file(file)) cannot be made")
            }
        }
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out")))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
        process.standardOutput = output
        process.standardError = errors
        var kept: FileHandle?
        if keepsInput {
            let pipe = Pipe()
            process.standardInput = pipe
            kept = pipe.fileHandleForWriting
        } else if let input {
            try input.write(to: URL(fileURLWithPath: folder.file("in")))
            process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.file("in")))
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
        try? output.close()
        try? errors.close()
        pid = process.processIdentifier
        self.process = Mutex(process)
        self.input = Mutex(kept)
    }

    deinit {
        if isRunning { kill(pid, SIGKILL) }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    // MARK: What it says

    var outputPath: String { folder.file("out") }
    var standardOutput: Data { FileManager.default.contents(atPath: folder.file("out")) ?? Data() }
    var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
    var errorText: String {
        String(decoding: FileManager.default.contents(atPath: folder.file("err")) ?? Data(), as: UTF8.self)
    }

    /// The lines of its output that are whole.
    var outputLines: [Substring] {
        let text = outputText
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map { $0 }
    }

    /// For messages: the end of what it said.
    var lastWords: String {
        let lines = errorText.split(separator: "\n").suffix(25).joined(separator: "\n")
        return "\(name) (\(pid)) said:\n\(lines)"
    }

    // MARK: Its life

    var isRunning: Bool { process.withLock { $0.isRunning } }

    func write(_ line: String) throws {
        try input.withLock { try $0?.write(contentsOf: Data("\(line)\n".utf8)) }
    }

    func signal(_ number: Int32) {
        // An id that nobody has waited for cannot be somebody else's.
        if isRunning { kill(pid, number) }
    }

    /// The exit status; for an end by a signal its number, negative.
    func ended(within limit: Duration = .seconds(90)) async throws -> Int32 {
        try await eventually("\(name) (\(pid)) ends", within: limit, orSay: { self.lastWords }) { !self.isRunning }
        return process.withLock { process in
            process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
        }
    }

    /// Ends it whatever it does: asked first, then not.
    func end() async {
        try? input.withLock { try $0?.close() }
        signal(SIGTERM)
        // It may be stopped.
        signal(SIGCONT)
        if (try? await ended(within: .seconds(40))) == nil {
            signal(SIGKILL)
            _ = try? await ended()
        }
    }

    /// Runs a program to its end.
    ///
    /// - Throws: when its status is not 0.
    static func run(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        input: Data? = nil,
        within limit: Duration = .seconds(150)
    ) async throws -> ChildProcess {
        let child = try ChildProcess(executable, arguments, environment: environment, input: input)
        let status = try await child.ended(within: limit)
        guard status == 0 else { throw Failure(description: "status \(status); \(child.lastWords)") }
        return child
    }
}

/// Waits for a condition, with a deadline that no healthy run comes near.
func eventually(
    _ what: String,
    within limit: Duration = .seconds(90),
    orSay explanation: () async -> String = { "" },
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while true {
        if try await condition() { return }
        guard ContinuousClock.now < deadline else {
            throw ChildProcess.Failure(description: "not within \(limit): \(what)\n\(await explanation())")
        }
        try await Task.sleep(for: .milliseconds(50))
    }
}
