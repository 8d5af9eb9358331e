import CoreMetrics
import Foundation
import Kafka
public import Logging
public import NotificationModel
public import ServiceLifecycle
public import ServiceSupport
import Synchronization

/// The consumer service: reads requests, keeps the notification centres of their recipients, fires what is due, and
/// publishes what became of each on `deliveries`.
///
/// In `exactly-once` events, the changelog and offsets of a checkpoint are one transaction; in `at-least-once` a crash repeats
/// what came after the last checkpoint, under the same event ids. What is pending is in the topic `state`: it survives the
/// process, and comes back wherever the partition goes.
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
    /// All of them from the start: readiness must not flicker.
    private let laneHealth: [HealthComponent]
    /// nil for the `delivered` event itself.
    private let channel: (any DeliveryChannel & Sendable)?

    /// The service with the channel `events`.
    ///
    /// - Parameters:
    ///   - registry: where gauges are shown; its counters too.
    ///   - clock: the owner's wall clock; no timer fires before it says so.
    /// - Throws: `KafkaError` that names a property librdkafka does not take.
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

    /// - Parameter channel: what `configuration.channel` names; nil for `events`.
    /// - Throws: `ChannelMismatch` for another one.
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

    /// Whether every lane has its partitions and works on them.
    public var isReady: Bool { laneHealth.allSatisfy { $0.status == .ready } }

    /// Runs the lanes until the graceful shutdown or cancellation, and drains them within the configured time.
    ///
    /// - Throws: what makes a start impossible, with what to do.
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
            // One lane that cannot go on ends the others in order.
            do {
                while try await group.next() != nil {}
            } catch {
                stop.request()
                throw error
            }
        }
    }

    /// Runs lanes one after the other: one that fails is closed, and the next begins at the marker, after a pause that grows to
    /// half a minute.
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
                    try Self.run(Lane(context: context, link: link), until: stop, whenWorking: hasWorked)
                },
                isFinal: LaneEnd.isFinal,
                fencing: { fencing($0, lane: number) },
                onRestart: metrics.countRestart
            )
        }
    }

    /// nil when the error says nothing of another process.
    private func fencing(_ error: any Error, lane: Int) -> InstanceFencedError? {
        guard KafkaError.isFencing(error) else { return nil }
        let name = configuration.laneProducer(.exactlyOnce, lane: lane).transactionalID ?? ""
        return InstanceFencedError(instanceID: configuration.instanceID, name: name, cause: error)
    }

    /// Works until asked to stop, then drains within the configured time.
    private static func run(
        _ lane: Lane<KafkaLink>,
        until stop: StopSignal,
        whenWorking: () -> Void
    ) throws {
        do {
            var memory = FreedMemory()
            try lane.start()
            while !stop.isRequested {
                try lane.turn()
                memory.note(work: lane.work, at: .now)
                if lane.commits == 1 { whenWorking() }
            }
            lane.drain()
            lane.close()
        } catch {
            lane.close(after: error)
            throw error
        }
    }

    private static func describe(_ registry: PrometheusRegistry, _ statuses: [LaneStatus], topics: TopicNames) {
        registry.describe("requests", "Requests and removals read, by outcome.")
        registry.describe("notification.events", "Events published, by name.")
        registry.describe("dead.letters", "Records that could not be used, by reason.")
        registry.describe("center.entries.forgotten.early", "Entries forgotten before their retention, at the bound.")
        registry.describe("schedule.deviation", "How late timers were at hand-over.")
        registry.describe("checkpoint.duration", "From the cut of a checkpoint to its commit.")
        registry.describe("restore.duration", "From the assignment of partitions until they are worked on.")
        registry.describe("transactions.aborted", "Transactions given up.")
        registry.describe("state.records.without.key", "Records of state without a key, passed over at a restore.")
        registry.describe(
            "delivery.latency",
            "From the timestamp of a request without trigger to the hand-over of its notification; the first of each turn of a lane."
        )
        registry.describe(
            "checkpoint.success.timestamp.seconds",
            "When a checkpoint was last committed, in seconds since 1970, by lane; 0 before. A lane without work makes none."
        )
        registry.describe("lane.restarts", "How often a lane failed and began anew at its marker.")
        registry.describe(
            "consumer.rebalances",
            "How often the group gave partitions to this process or took them, by what happened."
        )
        registry.describe("sends.timed.out", "Sends that the channel did not answer in time; they are tried again.")
        registry.describe("channel.outcomes.late", "Answers of channels that came after a restart, or twice.")
        registry.collect { page in
            for (code, count) in KafkaClientErrors.counts {
                page.counter(
                    "kafka.client.errors",
                    help: "Trouble that the Kafka client library told of, most of which mends itself, by its code.",
                    value: Double(count),
                    labels: [("code", code)]
                )
            }
            let lanes = statuses.map(\.snapshot)
            page.gauge(
                "schedule.pending",
                help: "Notifications scheduled or held back, not sent.",
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
                help: "How late the oldest timer is that is due and not sent.",
                value: Double(lanes.map(\.oldestDueAge).max() ?? 0) / 1000
            )
            page.gauge(
                "assigned.partitions",
                help: "Partitions that this process owns.",
                value: Double(lanes.reduce(0) { $0 + $1.assigned })
            )
            page.gauge(
                "center.entries.resident",
                help: "Entries of the centres that are in memory.",
                value: Double(lanes.reduce(0) { $0 + $1.resident })
            )
            page.gauge(
                "store.unwritten.changes",
                help: "Committed changes that the disk stores have not written yet.",
                value: Double(lanes.reduce(0) { $0 + $1.unwritten })
            )
            page.gauge(
                "store.troubled.partitions",
                help: "Partitions whose files on disk cannot be opened or written: entries are kept in memory instead.",
                value: Double(lanes.reduce(0) { $0 + $1.troubledStores })
            )
            page.gauge(
                "restore.remaining.records",
                help: "Records of the changelog that are yet to be read before partitions are worked on.",
                value: Double(lanes.reduce(0) { $0 + ($1.restoring.map { $0.of - $0.read } ?? 0) })
            )
            for (place, lag) in lanes.flatMap({ $0.lag }) {
                page.gauge(
                    "consumer.lag.records",
                    help: "Records behind the end of the partition.",
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
                help: "What the files of the stores take of the disk, with their logs.",
                value: Double(writers.diskBytes)
            )
            page.gauge(
                "store.parked.bytes",
                help: "About what entries take in memory whose partitions left and may come back.",
                value: Double(parked.bytes)
            )
        }
    }
}
