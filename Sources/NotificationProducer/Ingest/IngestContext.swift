package import Logging
package import NotificationModel
package import ServiceSupport
package import ServiceTracing

/// What a session of the ingest is given.
package struct IngestContext {
    package var configuration: IngestConfiguration
    package var guarantee: DeliveryGuarantee
    /// The rules in force, asked for each event.
    package var rules: () -> RuleEngine
    package var metrics: ProducerMetrics
    package var health: HealthComponent
    package var stop: StopSignal
    package var logger: Logger
    /// The wall clock.
    package var now: () -> Timestamp
    /// Why the session before was fenced, when another process may have the instance's id: until this one has committed
    /// something, or for a while, it is not ready.
    package var fenced: String?
    /// Gets spans; nil where nothing is traced.
    package var tracer: Tracer?

    package init(
        configuration: IngestConfiguration,
        guarantee: DeliveryGuarantee,
        rules: @escaping () -> RuleEngine,
        metrics: ProducerMetrics,
        health: HealthComponent,
        stop: StopSignal,
        logger: Logger,
        now: @escaping () -> Timestamp,
        fenced: String? = nil,
        tracer: Tracer? = nil
    ) {
        (self.configuration, self.guarantee, self.rules) = (configuration, guarantee, rules)
        (self.metrics, self.health, self.stop) = (metrics, health, stop)
        (self.logger, self.now, self.fenced, self.tracer) = (logger, now, fenced, tracer)
    }
}
