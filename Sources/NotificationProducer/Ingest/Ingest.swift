import Kafka
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport
import ServiceTracing

/// Runs an ``IngestSession`` on its own thread until shutdown, and starts a new one when one fails.
struct Ingest: Sendable {
    let configuration: IngestConfiguration
    let ceiling: KafkaRecordCeiling
    let rules: RuleStore
    let metrics: ProducerMetrics
    let health: HealthComponent
    let tracer: Tracer?
    let logger: Logger
    let now: @Sendable () -> Timestamp

    /// Runs until graceful shutdown or cancellation, and drains in both cases; waits for an unreachable broker.
    func run() async {
        let stop = StopSignal()
        await withTaskCancellationOrGracefulShutdownHandler {
            try? await KafkaThread.run(name: "carillon-ingest") { runSessions(stop) }
        } onCancelOrGracefulShutdown: {
            stop.request()
        }
        health.notReady("stopped")
    }

    private func runSessions(_ stop: StopSignal) {
        let choice = GuaranteeChoice(asked: configuration.guarantee)
        var supervisor = Supervisor(
            .init(name: "ingest", restartsFrom: "the committed offsets"),
            stop: stop,
            health: health,
            logger: logger,
            firstPause: configuration.restartDelay
        )
        try? supervisor.run(
            { fenced, hasWorked in
                let inputs = rules.engine.inputs
                guard let link = try KafkaIngestLink(configuration, inputs, choice, ceiling, health, stop, logger)
                else {
                    return
                }
                let context = IngestContext(
                    configuration: configuration,
                    guarantee: link.guarantee,
                    rules: { [rules] in rules.engine },
                    metrics: metrics,
                    health: health,
                    stop: stop,
                    logger: logger,
                    now: now,
                    fenced: fenced,
                    tracer: tracer
                )
                try KafkaIngestSession(context: context, link: link).run(until: stop, hasWorked: hasWorked)
            },
            fencing: { $0 as? InstanceFencedError },
            onRestart: metrics.countIngestRestart
        )
    }
}
