public import Logging
public import ServiceLifecycle
import UnixSignals

/// Does something each time the process gets SIGHUP, one after another; such as reading a file again.
///
/// While it runs SIGHUP does not end the process.
public struct HangupService: Service {
    private let logger: Logger
    private let body: @Sendable () async -> Void

    /// Names what is done.
    ///
    /// - Parameters:
    ///   - logger: Tells that a signal came.
    ///   - body: Signals that come while it runs are one afterwards.
    public init(logger: Logger, body: @escaping @Sendable () async -> Void) {
        self.logger = logger
        self.body = body
    }

    /// For a service that has nothing to read again: it says so.
    public init(logger: Logger) {
        self.init(logger: logger) {
            logger.notice("nothing is read again on SIGHUP: settings count from the next start")
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
