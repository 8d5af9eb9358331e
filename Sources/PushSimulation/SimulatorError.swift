/// Why a simulator cannot start, or refuses what it was told.
public struct SimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String

    package init(_ description: String) { self.description = description }

    package static func openSSL(_ work: String) -> SimulatorError {
        SimulatorError("OpenSSL cannot \(work): check that version 3 is installed")
    }
}
