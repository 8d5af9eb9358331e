package import Kafka
package import Logging

/// Asks the broker until it answers, and says once for each reason why it has to wait.
package struct BrokerWait {
    private let health: HealthComponent
    private let stop: StopSignal
    private let logger: Logger
    private let pause: () -> Void

    /// - Parameter pause: Waits between two attempts; half a second when not given.
    package init(health: HealthComponent, stop: StopSignal, logger: Logger, pause: (() -> Void)? = nil) {
        (self.health, self.stop, self.logger) = (health, stop, logger)
        self.pause = pause ?? { stop.wait(.milliseconds(500)) }
    }

    /// - Parameters:
    ///   - ask: One attempt, which takes at most a few seconds.
    ///   - isWorthIt: Whether waiting can help against the error.
    /// - Returns: Nil when the stop was requested.
    /// - Throws: Errors that are not of Kafka, and those that waiting does not help against.
    package func until<Result>(
        _ ask: () throws -> Result,
        isWorthIt: (KafkaError) -> Bool = { !$0.isFatal }
    ) throws -> Result? {
        // Who only waits for the broker is supervised no longer than that.
        try health.supervised { try repeatedly(ask, isWorthIt) }
    }

    private func repeatedly<Result>(
        _ ask: () throws -> Result,
        _ isWorthIt: (KafkaError) -> Bool
    ) throws -> Result? {
        var said = ""
        while !stop.isRequested {
            health.beat()
            do {
                return try ask()
            } catch let error as KafkaError where isWorthIt(error) {
                let reason = "\(error)"
                health.notReady("waiting for the broker: \(reason)")
                if reason != said {
                    logger.warning("waiting for the broker", metadata: [LogMetadata.error: "\(reason)"])
                    said = reason
                }
                pause()
            }
        }
        return nil
    }
}
