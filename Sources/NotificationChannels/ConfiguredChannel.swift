package import Logging
package import NotificationConsumer
package import ServiceSupport

extension ConsumerServiceConfiguration {
    /// The channel that the settings name; nil for `events`, which is the consumer service's own.
    ///
    /// - Throws: `WebhookSettingsError` for invalid signing keys.
    package func makeChannel(
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws -> (any DeliveryChannel & Sendable)? {
        switch channel {
        case .events: return nil
        case .test:
            return TestChannel(
                .init(
                    latency: testChannel.latency,
                    rejections: testChannel.rejections,
                    timeouts: testChannel.timeouts
                ),
                clock: ContinuousClock()
            )
        case .webhook:
            return try WebhookChannel(
                webhook,
                source: shared.source,
                health: health,
                registry: registry,
                logger: logger
            )
        }
    }
}
