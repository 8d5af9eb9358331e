public import Logging
public import ServiceLifecycle
import Synchronization
import UnixSignals

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Runs services together until one fails or a signal ends them all.
public enum ServiceRunner {
    /// Starts the services in order and stops them in reverse on SIGTERM and SIGINT.
    ///
    /// A service that fails stops the others gracefully too, so that they lose nothing.
    ///
    /// - Parameters:
    ///   - services: What to run.
    ///   - shutdownTimeout: How long the graceful shutdown may take before what still runs is cancelled. What ignores that as well
    ///     is given five seconds more; then the process ends with status 1.
    ///   - logger: Where starting and stopping is told.
    /// - Throws: What made a service end by itself.
    public static func run(_ services: [any Service], shutdownTimeout: Duration, logger: Logger) async throws {
        let bound = ShutdownBound(bound: shutdownTimeout + .seconds(5), logger: logger)
        defer { bound.hasEnded.value.store(true, ordering: .relaxed) }
        var quiet = logger
        // The group tells each step at info and debug; a service says itself what matters of it.
        quiet.logLevel = max(logger.logLevel, .warning)
        var configuration = ServiceGroupConfiguration(
            services: (services + [bound]).map {
                .init(
                    service: $0,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: quiet
        )
        configuration.maximumGracefulShutdownDuration = shutdownTimeout
        try await ServiceGroup(configuration: configuration).run()
    }
}

/// Ends the process when a shutdown takes too long: an orderly end that never comes is worse than none.
private struct ShutdownBound: Service {
    final class Flag: Sendable {
        let value = Atomic<Bool>(false)
    }

    let bound: Duration
    let logger: Logger
    let hasEnded = Flag()

    func run() async throws {
        try? await gracefulShutdown()
        logger.info("shutting down")
        // Not a child task: it must outlive this service, which stops first.
        Task.detached { [bound, logger, hasEnded] in
            try? await Task.sleep(for: bound)
            if hasEnded.value.load(ordering: .relaxed) { return }
            logger.critical("shutdown took longer than its bound; the process ends now")
            exit(ServiceMain.failureStatus)
        }
    }
}
