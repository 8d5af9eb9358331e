import CoreMetrics
package import Logging
package import NotificationModel
package import ServiceSupport

/// What a lane is given.
package struct LaneContext {
    package var configuration: ConsumerServiceConfiguration
    package var guarantee: DeliveryGuarantee
    package var stores: any EntryStores
    /// How notifications leave; nil for the `delivered` event itself.
    package var channel: (any DeliveryChannel)?
    /// The owner's wall clock: no timer fires before it says so.
    package var clock: () -> Timestamp
    /// A name that no other changelog has.
    package var newLineage: () -> String
    /// A number that no other life of a centre in this process has: a channel outlives lanes, and answers late.
    package var newEpoch: () -> UInt64
    package var status: LaneStatus
    package var health: HealthComponent
    package var metrics: LaneMetrics
    package var logger: Logger
    /// Why the lane before ended, when another process may have the instance's id: until this one has committed something, it
    /// is not ready.
    package var fenced: String?

    package init(
        configuration: ConsumerServiceConfiguration,
        guarantee: DeliveryGuarantee,
        stores: any EntryStores,
        channel: (any DeliveryChannel)? = nil,
        clock: @escaping () -> Timestamp,
        newLineage: @escaping () -> String,
        newEpoch: @escaping () -> UInt64 = { .random(in: 1 ... .max) },
        status: LaneStatus,
        health: HealthComponent,
        metrics: LaneMetrics,
        logger: Logger,
        fenced: String? = nil
    ) {
        self.configuration = configuration
        self.guarantee = guarantee
        self.stores = stores
        self.channel = channel
        self.clock = clock
        self.newLineage = newLineage
        self.newEpoch = newEpoch
        self.status = status
        self.health = health
        self.metrics = metrics
        self.logger = logger
        self.fenced = fenced
    }
}
