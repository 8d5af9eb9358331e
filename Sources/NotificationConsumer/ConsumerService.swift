import CoreMetrics
import Kafka
public import Logging
public import NotificationModel
public import ServiceLifecycle
public import ServiceSupport
import Synchronization

/// The consumer service: reads requests, keeps the notification centres of their recipients, fires what is due, and
/// publishes what became of each on `deliveries`.
///
/// Guarantee: `at-least-once`. A crash repeats what came after the last checkpoint, under the same event ids. The store is
/// in memory: what is pending is lost with the process.
public struct ConsumerService: Service {
    private let configuration: ConsumerServiceConfiguration
    private let health: Health
    private let metrics: any MetricsFactory
    private let clock: @Sendable () -> Timestamp
    private let logger: Logger
    private let statuses: [LaneStatus]

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
        try configuration.groupConsumer.check()
        try configuration.laneProducer.check()
        self.configuration = configuration
        self.health = health
        self.metrics = registry
        self.clock = clock ?? SystemClock.now
        self.logger = logger
        statuses = (0..<configuration.lanes).map { _ in LaneStatus() }
        Self.describe(registry, statuses)
    }

    /// Runs the lanes until the graceful shutdown or cancellation, and drains them within the configured time.
    ///
    /// - Throws: what makes a start impossible, with what to do.
    public func run() async throws {
        let stop = StopSignal()
        let context = Lane.Context(
            configuration: configuration,
            parked: ParkedCenters(),
            stop: stop,
            clock: clock,
            metrics: metrics,
            logger: logger
        )
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, status) in statuses.enumerated() {
                        let component = health.component("lane-\(number)")
                        group.addTask { try await runLane(number, context, status, component) }
                    }
                    // One lane that cannot go on ends the others in order.
                    do {
                        while try await group.next() != nil {}
                    } catch {
                        stop.request()
                        throw error
                    }
                }
            } onGracefulShutdown: {
                stop.request()
            }
        } onCancel: {
            stop.request()
        }
    }

    /// A lane that fails starts again from its marker, after a pause that grows to half a minute.
    private func runLane(
        _ number: Int,
        _ context: Lane.Context,
        _ status: LaneStatus,
        _ component: HealthComponent
    ) async throws {
        try await KafkaThread.run(name: "lane-\(number)") {
            var pause = Duration.seconds(1)
            while !context.stop.isRequested {
                do {
                    guard let lane = try Lane(context: context, status: status, health: component) else { return }
                    try lane.run()
                } catch let refusal as ConsumerRefusal {
                    component.notReady("\(refusal)")
                    context.logger.critical("the consumer service cannot go on", metadata: ["error": "\(refusal)"])
                    context.stop.request()
                    throw refusal
                } catch let error as KafkaError where error.code == .invalidArgument {
                    // A property that librdkafka does not take will not be taken the next time either.
                    context.stop.request()
                    throw error
                } catch {
                    component.notReady("the lane failed and starts again: \(error)")
                    context.logger.error(
                        "a lane failed and starts again from its marker",
                        metadata: ["lane": "\(number)", "error": "\(error)", "pause": "\(pause)"]
                    )
                    context.stop.wait(pause)
                    pause = min(pause * 2, .seconds(30))
                }
            }
        }
    }

    private static func describe(_ registry: PrometheusRegistry, _ statuses: [LaneStatus]) {
        registry.describe("requests", "Requests and removals read, by outcome.")
        registry.describe("notification.events", "Events published, by name.")
        registry.describe("dead.letters", "Records that could not be used, by reason.")
        registry.describe("center.entries.forgotten.early", "Entries forgotten before their retention, at the bound.")
        registry.describe("schedule.deviation", "How late timers were at hand-over.")
        registry.describe("checkpoint.duration", "From the cut of a checkpoint to its commit.")
        registry.collect { page in
            let lanes = statuses.map(\.snapshot)
            page.gauge(
                "schedule.pending",
                help: "Notifications scheduled or held back, not sent.",
                value: Double(lanes.reduce(0) { $0 + $1.pending })
            )
            page.gauge(
                "center.entries",
                help: "Entries kept in memory, pending and remembered.",
                value: Double(lanes.reduce(0) { $0 + $1.entries })
            )
            page.gauge(
                "outstanding.records",
                help: "Events that the broker has not acknowledged yet.",
                value: Double(lanes.reduce(0) { $0 + $1.outstanding })
            )
            page.gauge(
                "oldest.due.age.seconds",
                help: "How late the oldest timer is that is due and not sent.",
                value: Double(lanes.map(\.oldestDueAge).max() ?? 0) / 1000
            )
            page.gauge(
                "assigned.partitions",
                help: "Partitions that this process owns.",
                value: Double(lanes.reduce(0) { $0 + $1.assignment.count })
            )
            for (place, lag) in lanes.flatMap({ $0.lag }) {
                page.gauge(
                    "consumer.lag.records",
                    help: "Records behind the end of the partition.",
                    value: Double(lag),
                    labels: [("topic", place.topic), ("partition", "\(place.partition)")]
                )
            }
        }
    }
}
