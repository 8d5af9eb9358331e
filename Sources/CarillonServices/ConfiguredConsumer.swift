package import Logging
import NotificationChannels
package import NotificationConsumer
package import NotificationDelivery
package import NotificationEnrichment
package import NotificationModel
package import ServiceSupport

/// The consumer service with its channels and its enrichment, as the settings describe them.
package struct ConfiguredConsumer: Sendable {
    package let service: ConsumerService
    package let channels: [any DeliveryChannel & Sendable]
    /// Read files again, besides those of channels, as SIGHUP does; nil for what has none.
    package let reloads: [(@Sendable () async -> Void)?]

    /// - Parameters:
    ///   - settings: checked.
    ///   - here: the process.
    /// - Throws: what the parts of the service throw for settings and files that they cannot use.
    package init(_ settings: ConsumerSettings, in here: ServiceEnvironment) throws {
        channels = try settings.makeChannels(health: here.health, registry: here.registry, logger: here.logger)
        let enrichment = try settings.makeEnrichment(registry: here.registry, logger: here.logger)
        let media = settings.enrichment.media
        service = try ConsumerService(
            configuration: settings.service,
            channels: channels,
            enrichment: enrichment?.worker,
            routes: enrichment?.routes ?? [],
            files: enrichment == nil ? 0 : media.transfers,
            isSole: enrichment != nil && !media.isShared,
            health: here.health,
            registry: here.registry,
            tracer: here.tracer,
            logger: here.logger
        )
        reloads = [service.reload, enrichment?.reload]
    }
}

extension ConsumerSettings {
    /// Enrichment; nil when it is not enabled. Errors as of `ConfiguredEnrichment`.
    package func makeEnrichment(registry: PrometheusRegistry, logger: Logger) throws -> ConfiguredEnrichment? {
        guard enrichment.isEnabled else { return nil }
        return try ConfiguredEnrichment(
            enrichment,
            egress,
            listening: service.queries,
            registry: registry,
            logger: logger
        )
    }

    /// The channels that the settings name, in the order of their names; without `events`, which is the consumer service's own.
    ///
    /// - Throws: `WebhookSettingsError` for invalid signing keys, or an endpoint that `egress` refuses; `PushSettingsError` for
    ///   a file of applications, or servers that it refuses.
    package func makeChannels(
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws -> [any DeliveryChannel & Sendable] {
        try service.channels.sorted { $0.rawValue < $1.rawValue }.compactMap {
            try makeChannel($0, health: health, registry: registry, logger: logger)
        }
    }

    /// One of them; nil for a name that stands for none of its own.
    ///
    /// - Throws: As ``makeChannels(health:registry:logger:)``.
    package func makeChannel(
        _ name: ChannelName,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws -> (any DeliveryChannel & Sendable)? {
        switch name {
        // Its devices are reached by the channels of their platforms.
        case .events, .devices: return nil
        case .test: return TestChannel(testChannel, clock: ContinuousClock())
        case .webhook:
            return try WebhookChannel(
                webhook,
                longestRequest: .milliseconds(service.retry.longestRequest),
                egress: egress,
                source: shared.source,
                health: health,
                registry: registry,
                logger: logger
            )
        case .apns:
            return try APNsChannel(apns, egress: egress, health: health, registry: registry, logger: logger)
        case .fcm:
            return try FCMChannel(fcm, egress: egress, health: health, registry: registry, logger: logger)
        case .webpush:
            return try WebPushChannel(webPush, egress: egress, health: health, registry: registry, logger: logger)
        }
    }
}
