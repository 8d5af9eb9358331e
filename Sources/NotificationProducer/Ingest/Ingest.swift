import Kafka
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport

/// Runs an ``IngestSession`` on its own thread until shutdown, and starts a new one when one fails.
struct Ingest: Sendable {
    let configuration: IngestConfiguration
    let ceiling: KafkaRecordCeiling
    let rules: RuleStore
    let metrics: ProducerMetrics
    let health: HealthComponent
    let logger: Logger
    let now: @Sendable () -> Timestamp

    /// Runs until graceful shutdown or cancellation, and drains in both cases; waits for an unreachable broker.
    func run() async {
        let stop = StopSignal()
        await withTaskCancellationOrGracefulShutdownHandler {
            // The closure does not throw.
            try? await KafkaThread.run(name: "carillon-ingest") { runSessions(stop) }
        } onCancelOrGracefulShutdown: {
            stop.request()
        }
        health.notReady("stopped")
    }

    private func runSessions(_ stop: StopSignal) {
        let choice = GuaranteeChoice(asked: configuration.guarantee)
        var failures = 0
        var fenced: InstanceFencedError?
        defer { health.rest() }
        while !stop.isRequested {
            health.beat()
            let started = ContinuousClock.now
            do {
                let session = try IngestSession(
                    configuration: configuration,
                    rules: rules,
                    metrics: metrics,
                    health: health,
                    ceiling: ceiling,
                    choice: choice,
                    stop: stop,
                    logger: logger,
                    now: now,
                    fenced: fenced?.description
                )
                try session?.run()
            } catch {
                fenced = error as? InstanceFencedError
                // A session that ran for a while was healthy; repeated early failures increase the pause.
                failures = ContinuousClock.now - started > .seconds(60) ? 1 : failures + 1
                let delay = min(configuration.restartDelay * (1 << min(failures - 1, 5)), .seconds(30))
                metrics.countIngestRestart()
                health.notReady("ingest failed and is restarting: \(error)")
                logger.error(
                    "ingest failed; restarting from the committed offsets",
                    metadata: [LogMetadata.error: "\(error)", "delay": "\(delay)"]
                )
                health.beat()
                stop.wait(delay)
            }
        }
    }
}
