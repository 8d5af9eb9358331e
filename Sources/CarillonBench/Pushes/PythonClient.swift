import Foundation

/// A client in Python that others use: a program of `Resources` sends with it, and prints {"accepted", "seconds", "cpu_seconds"}.
struct PythonClient {
    private struct Answer: Decodable {
        var accepted: Int
        var seconds: Double
        var cpu_seconds: Double
    }

    private let package: String
    private let program: String
    private let python: URL
    private let workbench: Workbench

    /// The first Python that has the package.
    ///
    /// - Parameters:
    ///   - package: as it is imported.
    ///   - program: of `Resources`.
    ///   - directories: virtual environments.
    /// - Throws: ``MissingProgram`` when there is none.
    init(_ package: String, program: String, in directories: [String], on workbench: Workbench) throws {
        // Says nothing when the package is missing.
        let check = "import sys, importlib.util as util; sys.exit(util.find_spec('\(package)') is None)"
        let found = directories.map { "\($0)/bin/python" }.first { path in
            guard FileManager.default.isExecutableFile(atPath: path) else { return false }
            return (try? workbench.run(URL(fileURLWithPath: path), ["-c", check]).status) == 0
        }
        guard let found else { throw MissingProgram("Python's \(package): deploy/test installs it into .build/python") }
        (self.package, self.program, python, self.workbench) = (
            package, program, URL(fileURLWithPath: found), workbench
        )
    }

    /// - Parameters:
    ///   - arguments: of the program.
    ///   - pushes: that it measures; it may have sent others before.
    /// - Throws: ``BenchmarkError`` when a push is not accepted.
    func run(_ arguments: [String], pushes: Int, to target: some PushTarget) throws -> PushClientResult {
        let before = try target.accepted()
        let (output, status) = try workbench.run(python, [try Programs.resource(program).path] + arguments)
        guard status == 0 else { throw BenchmarkError("\(package) ended with status \(status)") }
        let answer = try JSONDecoder().decode(Answer.self, from: output)
        let arrived = try target.accepted() - before
        guard answer.accepted == arrived, arrived >= pushes else {
            throw BenchmarkError(
                "\(target.name) accepted \(arrived) of \(pushes) pushes of \(package), which counts \(answer.accepted)"
            )
        }
        return PushClientResult(
            perSecond: Double(pushes) / answer.seconds,
            cpuMicroseconds: answer.cpu_seconds / Double(pushes) * 1e6
        )
    }
}
