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

/// Runs services together until one fails or a signal stops them all.
public enum ServiceRunner {
    /// Starts the services in order and stops them in reverse on SIGTERM and SIGINT.
    ///
    /// A failed service also stops the others gracefully, so that they lose nothing.
    ///
    /// - Parameters:
    ///   - services: What to run.
    ///   - shutdownTimeout: How long the graceful shutdown may take before the remaining services are cancelled.
    ///     Services that ignore the cancellation get five seconds more; then the process exits with status 1.
    ///   - logger: Logs start and stop.
    /// - Throws: The error of the service that failed.
    public static func run(_ services: [any Service], shutdownTimeout: Duration, logger: Logger) async throws {
        let bound = ShutdownBound(bound: shutdownTimeout + .seconds(5), logger: logger)
        defer { bound.hasEnded.value.store(true, ordering: .relaxed) }
        var quiet = logger
        // The group logs each step at info and debug; the services log the important ones themselves.
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

/// Exits the process when a shutdown takes too long.
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
            logger.critical("shutdown exceeded its time limit: exiting now")
            exit(ServiceMain.failureStatus)
        }
    }
}
