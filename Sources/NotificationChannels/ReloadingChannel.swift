package import Logging
import NotificationConsumer
package import NotificationDelivery
package import ServiceSupport

/// A channel with files that may change while it is used.
package protocol ReloadingChannel: Sendable {
    /// Reads them again. It logs what is wrong, and then keeps what it has.
    func reload() async
}

extension HangupService {
    /// On SIGHUP the channels that can do so read their files again, after the other action.
    package init(
        logger: Logger,
        channels: [any DeliveryChannel],
        alsoRunning body: (@Sendable () async -> Void)? = nil
    ) {
        let reloading = channels.compactMap { $0 as? any ReloadingChannel }
        guard body != nil || !reloading.isEmpty else {
            self.init(logger: logger)
            return
        }
        self.init(logger: logger) {
            await body?()
            for channel in reloading { await channel.reload() }
        }
    }
}
