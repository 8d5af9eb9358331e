import CoreMetrics
package import Logging
package import NotificationDelivery
package import NotificationModel
package import ServiceSupport
package import ServiceTracing

/// The environment of a lane.
package struct LaneContext {
    package var configuration: ConsumerServiceConfiguration
    package var guarantee: DeliveryGuarantee
    package var stores: any EntryStores
    /// The channels that send notifications, each with another name; none where the `delivered` event is the only hand-over.
    package var channels: [any DeliveryChannel]
    /// Enriches contents; nil where nothing is enriched.
    package var enrichment: (any EnrichmentWorker)?
    /// The owner's wall clock; no timer fires earlier by this clock.
    package var clock: () -> Timestamp
    /// The time zones of calendar triggers.
    package var zones: TimeZones
    /// Creates a unique changelog id.
    package var newLineage: () -> String
    /// Creates a number that no other instance of a center in this process has: a channel outlives lanes, and answers
    /// late.
    package var newAssignmentID: () -> UInt64
    package var status: LaneStatus
    package var health: HealthComponent
    package var metrics: LaneMetrics
    package var logger: Logger
    /// Why the previous lane ended, if another process may use this instance's id: until the new lane has committed
    /// something, it is not ready.
    package var fenced: String?
    /// Where queries come from; nil without them.
    package var queries: QueryRouter?
    /// The categories of all applications.
    package var categories: CategoryTable
    /// Gets spans; nil where nothing is traced.
    package var tracer: Tracer?

    package init(
        configuration: ConsumerServiceConfiguration,
        guarantee: DeliveryGuarantee,
        stores: any EntryStores,
        channels: [any DeliveryChannel] = [],
        enrichment: (any EnrichmentWorker)? = nil,
        clock: @escaping () -> Timestamp,
        zones: TimeZones,
        newLineage: @escaping () -> String,
        newAssignmentID: @escaping () -> UInt64 = { .random(in: 1 ... .max) },
        status: LaneStatus,
        health: HealthComponent,
        metrics: LaneMetrics,
        logger: Logger,
        fenced: String? = nil,
        queries: QueryRouter? = nil,
        categories: CategoryTable = CategoryTable(),
        tracer: Tracer? = nil
    ) {
        self.configuration = configuration
        self.guarantee = guarantee
        self.stores = stores
        self.channels = channels
        self.enrichment = enrichment
        self.clock = clock
        self.zones = zones
        self.newLineage = newLineage
        self.newAssignmentID = newAssignmentID
        self.status = status
        self.health = health
        self.metrics = metrics
        self.logger = logger
        self.fenced = fenced
        self.queries = queries
        self.categories = categories
        self.tracer = tracer
    }
}
