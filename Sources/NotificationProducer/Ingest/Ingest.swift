import Kafka
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport

/// Keeps an ``IngestSession`` going on a thread of its own until shutdown, and makes a new one when one fails.
struct Ingest: Sendable {
    let configuration: IngestConfiguration
    let ceiling: KafkaRecordCeiling
    let rules: RuleStore
    let metrics: ProducerMetrics
    let health: HealthComponent
    let logger: Logger
    let now: @Sendable () -> Timestamp

    /// Runs until graceful shutdown or cancellation and drains either way; a broker that is away is waited for.
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
                // A session that ran for a while was fine; one that fails at once is not tried again in a hurry.
                failures = ContinuousClock.now - started > .seconds(60) ? 1 : failures + 1
                let delay = min(configuration.restartDelay * (1 << min(failures - 1, 5)), .seconds(30))
                metrics.countIngestRestart()
                health.notReady("ingest failed and starts anew: \(error)")
                logger.error(
                    "ingest failed; it starts anew from the committed offsets",
                    metadata: [LogMetadata.error: "\(error)", "delay": "\(delay)"]
                )
                health.beat()
                stop.wait(delay)
            }
        }
    }
}
