package import Logging
package import NotificationDelivery
package import ServiceSupport

/// A channel with files that may change while it is used.
package protocol ReloadingChannel: Sendable {
    /// Reads them again. It logs what is wrong, and then keeps what it has.
    func reload() async
}

extension HangupService {
    /// On SIGHUP the channels that can do so read their files again, after the other actions.
    package init(
        logger: Logger,
        channels: [any DeliveryChannel],
        actions: [(@Sendable () async -> Void)?] = []
    ) {
        let reloading = channels.compactMap { $0 as? any ReloadingChannel }
        self.init(logger: logger, actions: actions + reloading.map { channel in { await channel.reload() } })
    }
}
