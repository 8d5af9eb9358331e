import ArgumentParser
import Foundation

/// A virtual environment with the packages of `Resources/requirements.txt`, kept for later runs.
struct PythonEnvironment {
    private static let variables = ["PYTHONDONTWRITEBYTECODE": "1"]

    private let interpreter: URL
    private let workbench: Workbench

    /// Makes it where it is not there, or has other packages.
    ///
    /// - Throws: ``MissingProgram`` when there is no Python, or its packages cannot be installed.
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
            throw MissingProgram("what \(wanted.path) lists", remedy: "let pip reach a package index")
        }
        try FileManager.default.copyItem(at: wanted, to: installed)
    }

    /// A program of `Resources` that turns requests into delivery events.
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
    /// - Returns: What it wrote to standard output.
    /// - Throws: ``BenchmarkError`` when it fails; why is on standard error.
    func run(_ program: String, _ arguments: [String]) throws -> Data {
        let path = try Programs.resource(program).path
        let (output, status) = try workbench.run(interpreter, [path] + arguments, environment: Self.variables)
        guard status == 0 else { throw BenchmarkError("\(program) ended with status \(status)") }
        return output
    }
}

/// Which programs a benchmark runs, and where those in Python find their packages.
struct SubjectOptions<Name: ExpressibleByArgument & Hashable & Sendable>: ParsableArguments {
    @Option(parsing: .upToNextOption, help: "What runs; by default all that is installed.")
    var subjects: [Name] = []

    @Option(help: ArgumentHelp("Where Python's packages are kept.", valueName: "directory"), completion: .directory)
    var python = ".build/python-bench"

    func pythonEnvironment(on workbench: Workbench) throws -> PythonEnvironment {
        try PythonEnvironment(in: URL(fileURLWithPath: python), on: workbench)
    }

    /// Calls the body where the subject runs. What was asked for by name must be installed; otherwise it is left out.
    func with(_ subject: Name, on workbench: Workbench, _ body: () throws -> Void) throws {
        guard subjects.isEmpty || subjects.contains(subject) else { return }
        do {
            try body()
        } catch let missing as MissingProgram where subjects.isEmpty {
            workbench.report("without \(subject): \(missing)")
        }
    }
}
