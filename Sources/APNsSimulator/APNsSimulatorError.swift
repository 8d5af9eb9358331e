/// Why the simulator cannot start, or refuses what it was told.
public struct APNsSimulatorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what to do.
    public var description: String

    init(_ description: String) { self.description = description }

    static func openSSL(_ work: String) -> APNsSimulatorError {
        APNsSimulatorError("OpenSSL cannot \(work): check that version 3 is installed")
    }
}
