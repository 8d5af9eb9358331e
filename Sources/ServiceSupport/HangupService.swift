public import Logging
public import ServiceLifecycle
import UnixSignals

/// Runs an action for each SIGHUP, one after another; for example reloading a file.
///
/// While the service runs, SIGHUP does not terminate the process.
public struct HangupService: Service {
    private let logger: Logger
    private let body: @Sendable () async -> Void

    /// Sets the action.
    ///
    /// - Parameters:
    ///   - logger: Logs each signal.
    ///   - body: The action; several signals during one run cause one more run.
    public init(logger: Logger, body: @escaping @Sendable () async -> Void) {
        self.logger = logger
        self.body = body
    }

    /// For a service without anything to reload: it logs this.
    public init(logger: Logger) {
        self.init(logger: logger) {
            logger.notice("SIGHUP reloads nothing in this service; restart it to apply settings")
        }
    }

    /// Runs until graceful shutdown or cancellation.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in await UnixSignalsSequence(trapping: .sighup) {
                logger.info("SIGHUP")
                await body()
            }
        }
    }
}
