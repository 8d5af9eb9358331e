import Foundation
import TestSupport
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
    let pid: pid_t
    /// Nil while it runs. Polled and stored in one step, because the system may reuse the process id afterwards.
    private let status = Mutex<Int32?>(nil)
    private let input: Mutex<FileHandle?>
    private let folder: TemporaryFolder

    /// Starts it.
    ///
    /// - Parameters:
    ///   - environment: Added to the tests' environment, of which variables that begin with `CARILLON_` are not passed on.
    ///   - input: Its standard input.
    ///   - keepsInput: Its standard input comes from ``write(_:)`` instead.
    init(
        _ executable: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        input: Data = Data(),
        keepsInput: Bool = false
    ) throws {
        name = URL(fileURLWithPath: executable).lastPathComponent
        folder = try TemporaryFolder()
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("CARILLON_") }
        variables["PYTHONDONTWRITEBYTECODE"] = "1"
        variables.merge(environment) { _, given in given }

        let reading: FileHandle
        var writing: FileHandle?
        if keepsInput {
            let pipe = Pipe()
            reading = pipe.fileHandleForReading
            writing = pipe.fileHandleForWriting
            // Only that program may hold its ends, or it never sees the end of its input.
            _ = fcntl(pipe.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(pipe.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        } else {
            try input.write(to: URL(fileURLWithPath: folder.file("in")))
            reading = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.file("in")))
        }
        defer { try? reading.close() }
        pid = try Spawn.start(
            executable,
            arguments,
            environment: variables,
            input: reading.fileDescriptor,
            output: folder.file("out"),
            errors: folder.file("err")
        )
        self.input = Mutex(writing)
    }

    deinit {
        signal(SIGKILL)
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    // MARK: Output

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

    /// For messages: the end of its output.
    var lastWords: String {
        let lines = errorText.split(separator: "\n").suffix(25).joined(separator: "\n")
        return "\(name) (\(pid)) said:\n\(lines)"
    }

    // MARK: Its life

    var isRunning: Bool { exitStatus == nil }

    private var exitStatus: Int32? {
        status.withLock { status in
            if status == nil { status = Spawn.status(of: pid) }
            return status
        }
    }

    func write(_ line: String) throws {
        try input.withLock { try $0?.write(contentsOf: Data("\(line)\n".utf8)) }
    }

    func closeInput() {
        input.withLock { try? $0?.close() }
    }

    func signal(_ number: Int32) {
        status.withLock { status in
            if status == nil { status = Spawn.status(of: pid) }
            if status == nil { kill(pid, number) }
        }
    }

    /// The exit status; for an end by a signal its number, negative.
    func ended(within limit: Duration = .seconds(300)) async throws -> Int32 {
        var ended: Int32?
        try await eventually("\(name) (\(pid)) ends", within: limit, orSay: { self.lastWords }) {
            ended = exitStatus
            return ended != nil
        }
        guard let ended else { throw Failure(description: "\(name) runs on") }
        return ended
    }

    /// Ends it: first with SIGTERM, then with SIGKILL.
    func end() async {
        closeInput()
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
        input: Data = Data(),
        within limit: Duration = .seconds(600)
    ) async throws -> ChildProcess {
        let child = try ChildProcess(executable, arguments, environment: environment, input: input)
        let status = try await child.ended(within: limit)
        guard status == 0 else { throw Failure(description: "status \(status); \(child.lastWords)") }
        return child
    }
}
