import Logging
import ServiceLifecycle
import ServiceSupport

/// A simulator that has started, until it is to stop.
struct SimulatorService: Service {
    let stop: @Sendable () async -> Void

    func run() async throws {
        try? await gracefulShutdown()
        await stop()
    }

    /// Runs a simulator until a signal comes.
    ///
    /// - Parameter command: that has started it.
    static func run(for command: String, stop: @escaping @Sendable () async -> Void) async throws {
        let service = SimulatorService(stop: stop)
        try await ServiceRunner.run([service], shutdownTimeout: .seconds(5), logger: Logger(label: command))
    }
}
