import CoreMetrics
import Foundation
import Kafka
public import Logging
package import NotificationDelivery
public import NotificationModel
package import ServiceHTTP
public import ServiceLifecycle
public import ServiceSupport
package import ServiceTracing
import Synchronization

/// The consumer service: reads requests, keeps the notification centers of their recipients, fires due timers, and
/// publishes the outcome of each request on `deliveries`.
///
/// In `exactly-once`, one transaction contains the events, the changelog and the offsets of a checkpoint. In
/// `at-least-once`, a crash repeats the work since the last checkpoint, with the same event ids. Pending notifications
/// are in the topic `state`: they survive the process and follow the partition to its next owner.
public struct ConsumerService: Service {
    private var configuration: ConsumerServiceConfiguration
    private let health: Health
    private let metrics: any MetricsFactory
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let statuses: [LaneStatus]
    private let storeWriters = StoreWriters()
    private let parkedStores = ParkedStores()
    private let ceiling: KafkaRecordCeiling
    private let zones: TimeZones
    /// Gets spans; nil where nothing is traced.
    private let tracer: Tracer?
    /// The HTTP API for queries; nil without it.
    private let queries: QueryService?
    /// Created at the start for all lanes: readiness must not flicker.
    private let laneHealth: [HealthComponent]
    /// The categories of all applications, for the lanes.
    package let categories = CategoryTable()
    private let categoryReader: CategoryReader
    /// The channels that send; `events` needs none, because it uses the `delivered` event itself.
    private let channels: [any DeliveryChannel & Sendable]
    /// Enriches contents; nil where nothing is enriched.
    private let enrichment: (any EnrichmentWorker & Sendable)?
    /// No other instance may be in the group.
    private let isSole: Bool

    /// The service with only the channel `events`.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - health: where each lane reports its readiness.
    ///   - registry: receives gauges and counters.
    ///   - logger: labelled for the service.
    ///   - clock: the owner's wall clock; no timer fires earlier by this clock.
    /// - Throws: `KafkaError` that names a property that librdkafka rejects, `TimeZoneError` without a time zone database,
    ///   `ListenerSettingsError` that names the problem of the API's address, tokens or certificate.
    public init(
        configuration: ConsumerServiceConfiguration,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        clock: (@Sendable () -> Timestamp)? = nil
    ) throws {
        try self.init(
            configuration: configuration,
            channels: [],
            health: health,
            registry: registry,
            logger: logger,
            clock: clock
        )
    }

    /// - Parameters:
    ///   - configuration: checked.
    ///   - channels: those of `configuration.channels`, without `events`.
    ///   - enrichment: enriches contents; nil where nothing is enriched.
    ///   - routes: what the HTTP port of the service answers besides queries.
    ///   - files: that the routes have open at one time at most.
    ///   - isSole: no other instance can serve what the enrichment has stored: with one in the group the service ends.
    ///   - health: where each lane reports its readiness.
    ///   - registry: receives gauges and counters.
    ///   - tracer: gets spans; nil where nothing is traced.
    ///   - logger: labelled for the service.
    ///   - clock: the owner's wall clock; no timer fires earlier by this clock.
    /// - Throws: as above, `ChannelMismatch` for others, and `EntryStoreError` when `store.directory` cannot be used.
    package init(
        configuration: ConsumerServiceConfiguration,
        channels: [any DeliveryChannel & Sendable],
        enrichment: (any EnrichmentWorker & Sendable)? = nil,
        routes: [Route] = [],
        files: Int = 0,
        isSole: Bool = false,
        health: Health,
        registry: PrometheusRegistry,
        tracer: Tracer? = nil,
        logger: Logger,
        clock: (@Sendable () -> Timestamp)? = nil
    ) throws {
        let (wanted, given) = (configuration.channels.subtracting([.events, .devices]), Set(channels.map(\.name)))
        guard wanted == given else { throw ChannelMismatch(wanted: wanted, given: given) }
        (self.channels, self.enrichment, self.isSole, self.tracer) = (channels, enrichment, isSole, tracer)
        try Self.checkStore(configuration)
        try configuration.groupConsumer(lane: 0).check()
        // Where the cluster decides, properties that no transaction could be made with are good for at-least-once.
        let producer = configuration.laneProducer(configuration.guarantee ?? .atLeastOnce, lane: 0)
        try producer.check(leastRecordBytes: RecordBound.least)
        ceiling = KafkaRecordCeiling(
            producer.maximumRecordBytes,
            least: RecordBound.least,
            logger: logger
        )
        zones = try TimeZones(TimeZoneDatabase.loaded(logger: logger), standard: configuration.timeZone)
        let clock = clock ?? SystemClock.now
        queries =
            try configuration.answersQueries || !routes.isEmpty
            ? QueryService(
                configuration,
                and: routes,
                files: files,
                health: health,
                metrics: registry,
                clock: clock,
                tracer: tracer,
                logger: logger
            ) : nil
        self.configuration = configuration
        self.health = health
        self.metrics = registry
        self.clock = clock
        self.logger = logger
        statuses = (0..<configuration.lanes).map { _ in LaneStatus() }
        laneHealth = statuses.indices.map { health.component("lane-\($0)") }
        categoryReader = CategoryReader(
            table: categories,
            topic: configuration.topics.categories,
            client: configuration.shared.client(configuration.groupID),
            health: health,
            registry: registry,
            logger: logger
        )
        Self.describeLanes(statuses, topics: configuration.topics, in: registry)
        Self.describeStores(storeWriters, parkedStores, in: registry)
        if queries != nil { QueryService.describe(registry) }
    }

    /// A disk that is full or fails may recover, and until then entries are kept in memory; a wrong setting does not.
    private static func checkStore(_ configuration: ConsumerServiceConfiguration) throws {
        do {
            if let directory = configuration.store.directory { try StoreFile.prepare(directory) }
        } catch let error as EntryStoreError where !error.isOfConfiguration {}
    }

    /// The port of the API for queries, once it listens; nil without one.
    ///
    /// - Throws: `ListenError` when it failed to listen, `CancellationError` when the caller was cancelled or the
    ///   service ended before.
    public var queryPort: Int? {
        get async throws { try await queries?.port }
    }

    /// Reads the tokens, keys and certificates of the API again, as SIGHUP does; nil where there are none.
    package var reload: (@Sendable () async -> Void)? { queries?.reload }

    /// Whether every lane owns its partitions and processes them; none does before the categories are known.
    public var isReady: Bool { laneHealth.allSatisfy { $0.status == .ready } }

    /// Runs the lanes until the graceful shutdown or cancellation, and drains them within the configured time.
    ///
    /// - Throws: an error that prevents the start, with instructions.
    public func run() async throws {
        guard let queries else { return try await runCenters() }
        defer { queries.end() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await queries.run() }
            group.addTask { try await runCenters() }
            if isSole {
                group.addTask { try await cancelWhenGracefulShutdown { try await watchInstances() } }
            }
            // The first failure stops the other.
            while try await group.next() != nil {}
        }
    }

    /// Watches that no other instance is in the group, until it is cancelled.
    private func watchInstances() async throws {
        // After a crash the group waits for the session of the former member.
        var sole = SoleInstance(patience: configuration.sessionTimeout * 2 + .seconds(30))
        while !Task.isCancelled {
            let lanes = statuses.map(\.snapshot)
            try sole.check(
                assigned: lanes.reduce(0) { $0 + $1.assigned },
                of: lanes.reduce(0) { max($0, $1.partitions) },
                at: .now
            )
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func runCenters() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await categoryReader.run() }
            // The reader ends with the lanes.
            defer { group.cancelAll() }
            try await runAllLanes()
        }
    }

    private func runAllLanes() async throws {
        let stop = StopSignal()
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                let component = health.component("cluster")
                let asked = try await KafkaThread.run(name: "cluster") {
                    let cluster = try Cluster.ask(configuration, stop, component, logger)
                    // A delivery that knows no categories would be a plain one.
                    categoryReader.waitUntilLoaded(stop)
                    return cluster
                }
                guard let cluster = asked else { return }
                var adapted = self
                adapted.configuration.shared.adapt(toCluster: cluster.id)
                let stores = makeStores(cluster)
                do {
                    try await adapted.runLanes(cluster, stores, stop, laneHealth)
                } catch {
                    await closeChannels()
                    try? await KafkaThread.run(name: "stores") { stores.closeAll() }
                    throw error
                }
                await closeChannels()
                try await KafkaThread.run(name: "stores") { stores.closeAll() }
            } onGracefulShutdown: {
                stop.request()
            }
        } onCancel: {
            stop.request()
        }
    }

    private func closeChannels() async {
        for channel in channels { await channel.close() }
        await enrichment?.close()
    }

    private func makeStores(_ cluster: Cluster) -> any EntryStores {
        guard let directory = configuration.store.directory else { return MemoryEntryStores(parked: parkedStores) }
        var limits = SQLiteEntryStore.Limits()
        limits.retention = configuration.store.deletionsKept
        limits.writers = storeWriters
        return DiskEntryStores(
            StoreDisk(
                directory: directory,
                topic: configuration.topics.requests,
                cluster: cluster.id,
                limits: limits,
                clock: clock,
                logger: logger
            ),
            parked: parkedStores
        )
    }

    private func runLanes(
        _ cluster: Cluster,
        _ stores: any EntryStores,
        _ stop: StopSignal,
        _ components: [HealthComponent]
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, status) in statuses.enumerated() {
                group.addTask { try await runLane(number, cluster, stores, stop, status, components[number]) }
            }
            // If one lane fails for good, shut down the others in order.
            do {
                while try await group.next() != nil {}
            } catch {
                stop.request()
                throw error
            }
        }
    }

    /// Runs a lane, and a new one after each failure: closes the failed lane and starts the next at the marker, after a
    /// pause that grows to half a minute.
    private func runLane(
        _ number: Int,
        _ cluster: Cluster,
        _ stores: any EntryStores,
        _ stop: StopSignal,
        _ status: LaneStatus,
        _ component: HealthComponent
    ) async throws {
        try await KafkaThread.run(name: "lane-\(number)") {
            let metrics = LaneMetrics(factory: metrics, lane: number)
            var supervisor = Supervisor(
                .init(name: "lane-\(number)", restartsFrom: "its marker"),
                stop: stop,
                health: component,
                logger: logger
            )
            try supervisor.run(
                { fenced, hasWorked in
                    guard
                        let link = try KafkaLink(
                            configuration: configuration,
                            guarantee: cluster.guarantee,
                            lane: number,
                            ceiling: ceiling,
                            stop: stop,
                            health: component,
                            logger: logger
                        )
                    else { return }
                    let context = LaneContext(
                        configuration: configuration,
                        guarantee: cluster.guarantee,
                        stores: stores,
                        channels: channels,
                        enrichment: enrichment,
                        clock: clock,
                        zones: zones,
                        newLineage: { UUID().uuidString.lowercased() },
                        status: status,
                        health: component,
                        metrics: metrics,
                        logger: logger,
                        fenced: fenced,
                        queries: configuration.answersQueries ? queries?.router : nil,
                        categories: categories,
                        tracer: tracer
                    )
                    let lane = KafkaLane(context: context, link: link)
                    var memory = FreedMemory()
                    try lane.run(until: stop, hasWorked: hasWorked) { memory.note(work: lane.work, at: .now) }
                },
                isFinal: LaneEnd.isFinal,
                fencing: { fencing($0, lane: number) },
                onRestart: metrics.countRestart
            )
        }
    }

    /// Returns nil when the error does not indicate another process.
    private func fencing(_ error: any Error, lane: Int) -> InstanceFencedError? {
        guard KafkaError.isFencing(error) else { return nil }
        let name = configuration.laneProducer(.exactlyOnce, lane: lane).transactionalID ?? ""
        return InstanceFencedError(instanceID: configuration.instanceID, name: name, cause: error)
    }
}
