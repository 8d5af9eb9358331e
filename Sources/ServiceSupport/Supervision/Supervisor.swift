package import Logging

/// Keeps a worker going on the calling thread: one that fails is followed by another, after a pause that grows; `Succession`
/// decides. It is the one loop of lanes and of the ingest; a worker never repairs itself, since what it holds in memory may be
/// more than what is committed.
package struct Supervisor {
    /// What is logged and shown of a worker.
    package struct Worker {
        /// Such as `lane-0`.
        var name: String
        /// Where the next one starts, such as `its marker`.
        var restartsFrom: String

        package init(name: String, restartsFrom: String) { (self.name, self.restartsFrom) = (name, restartsFrom) }
    }

    private let worker: Worker
    private let stop: StopSignal
    private let health: HealthComponent
    private let logger: Logger
    private var succession: Succession

    package init(
        _ worker: Worker,
        stop: StopSignal,
        health: HealthComponent,
        logger: Logger,
        firstPause: Duration = .seconds(1)
    ) {
        (self.worker, self.stop, self.health, self.logger) = (worker, stop, health, logger)
        succession = Succession(firstPause: firstPause)
    }

    /// Runs workers one after the other until the stop is requested or one throws what is final.
    ///
    /// - Parameters:
    ///   - work: Runs one worker until the stop is requested. It gets the reason why the one before was fenced, if it was, and
    ///     calls `hasWorked` once it did what it is for.
    ///   - isFinal: Whether no other worker may follow: the error is one of the configuration, or going on would lose something.
    ///   - fencing: What an error says of another process with the same identity; nil when nothing.
    ///   - onRestart: Called for each failure that is followed by another worker.
    /// - Throws: What is final; the stop is requested then, so that what runs beside ends in order.
    package mutating func run(
        _ work: (_ fenced: String?, _ hasWorked: () -> Void) throws -> Void,
        isFinal: (any Error) -> Bool = { _ in false },
        fencing: (any Error) -> InstanceFencedError?,
        onRestart: () -> Void
    ) throws {
        try health.supervised { try repeatedly(work, isFinal, fencing, onRestart) }
    }

    private mutating func repeatedly(
        _ work: (_ fenced: String?, _ hasWorked: () -> Void) throws -> Void,
        _ isFinal: (any Error) -> Bool,
        _ fencing: (any Error) -> InstanceFencedError?,
        _ onRestart: () -> Void
    ) throws {
        while !stop.isRequested {
            health.beat()
            let began = ContinuousClock.now
            do {
                try work(succession.fenced?.description) { succession.noteWork() }
            } catch {
                let next = succession.next(
                    after: error,
                    ran: .now - began,
                    isFinal: isFinal(error),
                    fencing: fencing(error)
                )
                guard case .restart(let delay, let reason) = next else {
                    health.notReady("\(error)")
                    logger.critical("\(worker.name) cannot go on", metadata: [LogMetadata.error: "\(error)"])
                    stop.request()
                    throw error
                }
                onRestart()
                health.notReady("\(worker.name) failed and starts again: \(reason)")
                logger.error(
                    "\(worker.name) failed and starts again from \(worker.restartsFrom)",
                    metadata: [LogMetadata.error: "\(reason)", "pause": "\(delay)"]
                )
                health.beat()
                stop.wait(delay)
            }
        }
    }
}
