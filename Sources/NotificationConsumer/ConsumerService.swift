import CoreMetrics
import Foundation
import Kafka
public import Logging
public import NotificationModel
public import ServiceLifecycle
public import ServiceSupport
import Synchronization

/// The consumer service: reads requests, keeps the notification centers of their recipients, fires due timers, and
/// publishes the outcome of each request on `deliveries`.
///
/// In `exactly-once`, one transaction contains the events, the changelog and the offsets of a checkpoint. In
/// `at-least-once`, a crash repeats the work since the last checkpoint, with the same event ids. Pending notifications
/// are in the topic `state`: they survive the process and follow the partition to its next owner.
public struct ConsumerService: Service {
    private let configuration: ConsumerServiceConfiguration
    private let health: Health
    private let metrics: any MetricsFactory
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let statuses: [LaneStatus]
    private let storeWriters = StoreWriters()
    private let parkedStores = ParkedStores()
    private let ceiling: KafkaRecordCeiling
    /// Created at the start for all lanes: readiness must not flicker.
    private let laneHealth: [HealthComponent]
    /// nil for the channel `events`, which uses the `delivered` event itself.
    private let channel: (any DeliveryChannel & Sendable)?

    /// The service with the channel `events`.
    ///
    /// - Parameters:
    ///   - configuration: checked.
    ///   - health: where each lane reports its readiness.
    ///   - registry: receives gauges and counters.
    ///   - logger: labelled for the service.
    ///   - clock: the owner's wall clock; no timer fires earlier by this clock.
    /// - Throws: `KafkaError` that names a property that librdkafka rejects.
    public init(
        configuration: ConsumerServiceConfiguration,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        clock: (@Sendable () -> Timestamp)? = nil
    ) throws {
        try self.init(
            configuration: configuration,
            channel: nil,
            health: health,
            registry: registry,
            logger: logger,
            clock: clock
        )
    }

    /// - Parameter channel: the channel that `configuration.channel` names; nil for `events`.
    /// - Throws: `ChannelMismatch` for a different channel.
    package init(
        configuration: ConsumerServiceConfiguration,
        channel: (any DeliveryChannel & Sendable)?,
        health: Health,
        registry: PrometheusRegistry,
        logger: Logger,
        clock: (@Sendable () -> Timestamp)? = nil
    ) throws {
        guard (channel?.name ?? EventsChannel.name) == configuration.channel.rawValue else {
            throw ChannelMismatch(wanted: configuration.channel.rawValue, given: channel?.name ?? EventsChannel.name)
        }
        self.channel = channel
        try configuration.groupConsumer(lane: 0).check()
        let producer = configuration.laneProducer(configuration.guarantee ?? .exactlyOnce, lane: 0)
        try producer.check(leastRecordBytes: RecordBound.least)
        ceiling = KafkaRecordCeiling(
            producer.maximumRecordBytes,
            least: RecordBound.least,
            logger: logger
        )
        self.configuration = configuration
        self.health = health
        self.metrics = registry
        self.clock = clock ?? SystemClock.now
        self.logger = logger
        statuses = (0..<configuration.lanes).map { _ in LaneStatus() }
        laneHealth = statuses.indices.map { health.component("lane-\($0)") }
        Self.describe(registry, statuses, topics: configuration.topics)
        Self.describe(registry, storeWriters, parkedStores)
    }

    /// Whether every lane owns its partitions and processes them.
    public var isReady: Bool { laneHealth.allSatisfy { $0.status == .ready } }

    /// Runs the lanes until the graceful shutdown or cancellation, and drains them within the configured time.
    ///
    /// - Throws: an error that prevents the start, with instructions.
    public func run() async throws {
        let stop = StopSignal()
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                let component = health.component("cluster")
                let asked = try await KafkaThread.run(name: "cluster") {
                    try Cluster.ask(configuration, stop, component, logger)
                }
                guard let cluster = asked else { return }
                let stores = makeStores(cluster)
                do {
                    try await runLanes(cluster, stores, stop, laneHealth)
                } catch {
                    try? await KafkaThread.run(name: "stores") { stores.closeAll() }
                    throw error
                }
                try await KafkaThread.run(name: "stores") { stores.closeAll() }
            } onGracefulShutdown: {
                stop.request()
            }
        } onCancel: {
            stop.request()
        }
    }

    private func makeStores(_ cluster: Cluster) -> any EntryStores {
        guard let directory = configuration.storeDirectory else { return MemoryEntryStores(parked: parkedStores) }
        var limits = SQLiteEntryStore.Limits()
        limits.retention = configuration.deletionsKept
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
                        channel: channel,
                        clock: clock,
                        newLineage: { UUID().uuidString.lowercased() },
                        status: status,
                        health: component,
                        metrics: metrics,
                        logger: logger,
                        fenced: fenced
                    )
                    let lane = Lane(context: context, link: link)
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

    private static func describe(_ registry: PrometheusRegistry, _ statuses: [LaneStatus], topics: TopicNames) {
        registry.describe("requests", "Requests and removals read, by outcome.")
        registry.describe("notification.events", "Events published, by name.")
        registry.describe("dead.letters", "Records rejected as dead letters, by reason.")
        registry.describe("center.entries.forgotten.early", "Entries forgotten early because of the limit.")
        registry.describe("schedule.deviation", "Lateness of timers at hand-over.")
        registry.describe("checkpoint.duration", "Time from the cut of a checkpoint to its commit.")
        registry.describe("restore.duration", "Time from the assignment of partitions until they are processed.")
        registry.describe("transactions.aborted", "Aborted transactions.")
        registry.describe("state.records.without.key", "Records of state without a key, skipped at a restore.")
        registry.describe(
            "delivery.latency",
            "Time from the timestamp of a request without trigger to the hand-over of its notification; first of each lane turn."
        )
        registry.describe(
            "checkpoint.success.timestamp.seconds",
            "When a checkpoint was last committed, in seconds since 1970, by lane; 0 before the first. Idle lanes make none."
        )
        registry.describe("lane.restarts", "Restarts of a lane at its marker after a failure.")
        registry.describe(
            "consumer.rebalances",
            "Rebalances in which partitions of this process were assigned, revoked or lost, by event."
        )
        registry.describe("sends.timed.out", "Sends that the channel did not answer in time; they are retried.")
        registry.describe("channel.outcomes.late", "Late or duplicate answers of channels.")
        registry.collect { page in
            for (code, count) in KafkaClientErrors.counts {
                page.counter(
                    "kafka.client.errors",
                    help: "Errors reported by the Kafka client library, by code; it recovers from most of them.",
                    value: Double(count),
                    labels: [("code", code)]
                )
            }
            let lanes = statuses.map(\.snapshot)
            page.gauge(
                "schedule.pending",
                help: "Notifications that are scheduled or held, and not sent yet.",
                value: Double(lanes.reduce(0) { $0 + $1.pending })
            )
            page.gauge(
                "center.entries",
                help: "Entries kept, pending and remembered.",
                value: Double(lanes.reduce(0) { $0 + $1.entries })
            )
            page.gauge(
                "outstanding.records",
                help: "Events that the broker has not acknowledged yet.",
                value: Double(lanes.reduce(0) { $0 + $1.outstanding })
            )
            page.gauge(
                "outstanding.sends",
                help: "Sends that the channel has not answered yet.",
                value: Double(lanes.reduce(0) { $0 + $1.sends })
            )
            page.gauge(
                "oldest.due.age.seconds",
                help: "Lateness of the oldest due timer that is not sent yet.",
                value: Double(lanes.map(\.oldestDueAge).max() ?? 0) / 1000
            )
            page.gauge(
                "assigned.partitions",
                help: "Partitions that this process owns.",
                value: Double(lanes.reduce(0) { $0 + $1.assigned })
            )
            page.gauge(
                "center.entries.resident",
                help: "Entries in memory.",
                value: Double(lanes.reduce(0) { $0 + $1.resident })
            )
            page.gauge(
                "store.unwritten.changes",
                help: "Committed changes that the disk stores have not written yet.",
                value: Double(lanes.reduce(0) { $0 + $1.unwritten })
            )
            page.gauge(
                "store.troubled.partitions",
                help: "Partitions whose store files cannot be opened or written; their entries are kept in memory.",
                value: Double(lanes.reduce(0) { $0 + $1.troubledStores })
            )
            page.gauge(
                "restore.remaining.records",
                help: "Changelog records still to be read before partitions are processed.",
                value: Double(lanes.reduce(0) { $0 + ($1.restoring.map { $0.of - $0.read } ?? 0) })
            )
            for (place, lag) in lanes.flatMap({ $0.lag }) {
                page.gauge(
                    "consumer.lag.records",
                    help: "Records between the read position and the end of the partition.",
                    value: Double(lag),
                    labels: [("topic", topics[place.input]), ("partition", "\(place.partition)")]
                )
            }
        }
    }

    private static func describe(_ registry: PrometheusRegistry, _ writers: StoreWriters, _ parked: ParkedStores) {
        registry.collect { page in
            page.gauge(
                "store.disk.bytes",
                help: "Disk space used by the store files and their logs.",
                value: Double(writers.diskBytes)
            )
            page.gauge(
                "store.parked.bytes",
                help: "Approximate memory used by entries of revoked partitions that may be assigned again.",
                value: Double(parked.bytes)
            )
        }
    }
}
