/// Why a benchmark failed, or why its result is invalid.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// A program or library for a comparison is not installed.
struct MissingProgram: Error, CustomStringConvertible {
    var description: String

    /// - Parameters:
    ///   - what: The missing program.
    ///   - remedy: The command that installs it.
    init(_ what: String, remedy: String) { description = "\(what) is missing: \(remedy), or run deploy/bench" }

    init(_ description: String) { self.description = description }
}
