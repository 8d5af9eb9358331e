import ArgumentParser
import Foundation

/// A virtual environment with the packages of `Resources/requirements.txt`, kept for later runs.
struct PythonEnvironment {
    private static let variables = ["PYTHONDONTWRITEBYTECODE": "1"]

    private let interpreter: URL
    private let workbench: Workbench

    /// Creates it if it is missing or has other packages.
    ///
    /// - Throws: ``MissingProgram`` without Python, or when its packages cannot be installed.
    init(in directory: URL, on workbench: Workbench) throws {
        self.workbench = workbench
        interpreter = directory.appendingPathComponent("bin/python")
        let installed = directory.appendingPathComponent("requirements.txt")
        let wanted = try Programs.resource("requirements.txt")
        guard !FileManager.default.contentsEqual(atPath: installed.path, andPath: wanted.path) else { return }
        workbench.report("installing Python's packages into \(directory.path)")
        let python = URL(fileURLWithPath: "/usr/bin/env")
        guard try workbench.run(python, ["python3", "-m", "venv", "--clear", directory.path]).status == 0 else {
            throw MissingProgram("Python 3 with venv", remedy: "apt-get install python3-venv")
        }
        let arguments = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "-r"]
        guard try workbench.run(interpreter, arguments + [wanted.path]).status == 0 else {
            throw MissingProgram("the packages in \(wanted.path)", remedy: "let pip reach a package index")
        }
        try FileManager.default.copyItem(at: wanted, to: installed)
    }

    /// A program of `Resources` that converts requests to delivery events.
    func subject(_ name: String, program: String, runsOnce: Bool = false) throws -> Subject {
        let path = try Programs.resource(program).path
        return Subject(
            name: name,
            executable: interpreter,
            arguments: { [path] + $0.arguments },
            environment: { _ in Self.variables },
            runsOnce: runsOnce
        )
    }

    /// Runs a program of `Resources` to its end.
    ///
    /// - Returns: Its standard output.
    /// - Throws: ``BenchmarkError`` when it fails; the reason is on standard error.
    func run(_ program: String, _ arguments: [String]) throws -> Data {
        let path = try Programs.resource(program).path
        let (output, status) = try workbench.run(interpreter, [path] + arguments, environment: Self.variables)
        guard status == 0 else { throw BenchmarkError("\(program) ended with status \(status)") }
        return output
    }
}

/// Which programs a benchmark runs, and the location of the Python packages.
struct SubjectOptions<Name: ExpressibleByArgument & Hashable & Sendable>: ParsableArguments {
    @Option(parsing: .upToNextOption, help: "Programs to run; by default all installed ones.")
    var subjects: [Name] = []

    @Option(help: ArgumentHelp("Directory for Python packages.", valueName: "directory"), completion: .directory)
    var python = ".build/python-bench"

    func pythonEnvironment(on workbench: Workbench) throws -> PythonEnvironment {
        try PythonEnvironment(in: URL(fileURLWithPath: python), on: workbench)
    }

    /// Calls the body if the program can run. A program requested by name must be installed; others are skipped.
    func with(_ subject: Name, on workbench: Workbench, _ body: () throws -> Void) throws {
        guard subjects.isEmpty || subjects.contains(subject) else { return }
        do {
            try body()
        } catch let missing as MissingProgram where subjects.isEmpty {
            workbench.report("without \(subject): \(missing)")
        }
    }
}
