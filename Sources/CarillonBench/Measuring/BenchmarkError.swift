/// Why a benchmark failed, or why its result does not count.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}

/// A program or library that a benchmark runs beside Carillon cannot be had.
struct MissingProgram: Error, CustomStringConvertible {
    var description: String

    /// - Parameters:
    ///   - what: What is not there.
    ///   - remedy: The command that provides it.
    init(_ what: String, remedy: String) { description = "\(what) is not there: \(remedy), or run deploy/bench" }

    init(_ description: String) { self.description = description }
}
