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

    /// Runs several actions in order, those that are there; without any it logs that there is nothing to reload.
    public init(logger: Logger, actions: [(@Sendable () async -> Void)?]) {
        let actions = actions.compactMap(\.self)
        guard !actions.isEmpty else {
            self.init(logger: logger)
            return
        }
        self.init(logger: logger) { for action in actions { await action() } }
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
