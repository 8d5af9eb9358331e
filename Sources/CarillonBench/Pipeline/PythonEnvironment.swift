import Foundation

/// A virtual environment with the pinned packages of the Python subjects, kept for later runs.
struct PythonEnvironment {
    static let packages = [
        "confluent-kafka==2.12.2", "orjson==3.13.0", "quixstreams==3.28.1", "redis==8.1.0", "apscheduler==3.11.3",
    ]

    private let directory: URL

    private var interpreter: URL { directory.appendingPathComponent("bin/python") }

    /// Makes it when it is not there.
    ///
    /// - Throws: ``BenchmarkError`` when the packages cannot be had: without a network, say.
    init(in directory: URL, report: (String) -> Void) throws {
        self.directory = directory
        let stamp = directory.appendingPathComponent("carillon-packages")
        let wanted = Self.packages.joined(separator: " ")
        guard (try? String(contentsOf: stamp, encoding: .utf8)) != wanted else { return }
        report("Installing \(wanted) into \(directory.path)")
        try Self.run("/usr/bin/env", ["python3", "-m", "venv", "--clear", directory.path])
        try Self.run(
            interpreter.path,
            ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"] + Self.packages
        )
        try wanted.write(to: stamp, atomically: true, encoding: .utf8)
    }

    /// The program's source is part of this one; it is given to the interpreter as its argument.
    func subject(_ name: String, source: [UInt8], runsOnce: Bool = false) -> Subject {
        Subject(
            name: name,
            executable: interpreter,
            arguments: { ["-c", String(decoding: source, as: UTF8.self)] + $0.arguments },
            runsOnce: runsOnce
        )
    }

    /// Runs a program to its end.
    ///
    /// - Returns: what it wrote to standard output.
    /// - Throws: ``BenchmarkError`` when it fails; what it says goes to standard error.
    func run(source: [UInt8], _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = interpreter
        process.arguments = ["-c", String(decoding: source, as: UTF8.self)] + arguments
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        do { try process.run() } catch { throw BenchmarkError("\(interpreter.path) cannot be started: \(error)") }
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("a Python program ended with status \(process.terminationStatus)")
        }
        return text
    }

    private static func run(_ executable: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        do { try process.run() } catch { throw BenchmarkError("\(executable) cannot be started: \(error)") }
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkError("\(arguments.joined(separator: " ")) ended with status \(process.terminationStatus)")
        }
    }
}
