package import NotificationConsumer
package import ServiceSupport

extension ConsumerServiceConfiguration {
    /// The channel that the settings name; nil for `events`, which is the consumer service's own.
    package func makeChannel() -> (any DeliveryChannel & Sendable)? {
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
        }
    }
}
