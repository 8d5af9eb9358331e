package import Logging
package import NotificationDelivery
package import NotificationModel
package import ServiceSupport

extension ConsumerServiceConfiguration {
    /// The channels that the settings name, in the order of their names; without `events`, which is the consumer service's own.
    ///
    /// - Throws: `WebhookSettingsError` for invalid signing keys, or an endpoint that `egress` refuses; `PushSettingsError` for
    ///   a file of applications, or servers that it refuses.
    package func makeChannels(
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger
    ) throws -> [any DeliveryChannel & Sendable] {
        try channels.sorted { $0.rawValue < $1.rawValue }.compactMap {
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
                longestRequest: retry.longestRequest,
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
