package import Kafka
package import Logging
import NotificationModel
import ServiceLifecycle
import Synchronization

/// Reads the topic `categories` into a table, on a thread of its own: from the beginning, and on for as long as it runs.
///
/// It is ready once it has read each partition to the end that it had at the start. It waits for a broker that is away. A
/// missing topic has no categories: it is ready then, and looks for the topic again. Records that it cannot read are logged,
/// counted and passed over.
package final class CategoryReader: Service {
    private let table: CategoryTable
    private let topic: String
    private let configuration: KafkaConsumerConfiguration
    private let health: HealthComponent
    private let logger: Logger
    private let unreadable = Atomic<Int>(0)
    private let loaded = Atomic<Bool>(false)

    /// How long it waits before it looks for a missing topic again.
    private static let absence = Duration.seconds(2)
    /// How often it looks whether the topic got more partitions.
    private static let survey = Duration.seconds(60)

    /// - Parameters:
    ///   - table: what it fills.
    ///   - topic: its full name.
    ///   - client: how to reach the cluster.
    ///   - health: gets the component `categories`.
    ///   - registry: shows the number of categories and of unreadable records.
    ///   - logger: of the service.
    package init(
        table: CategoryTable,
        topic: String,
        client: KafkaClientConfiguration,
        health: Health,
        registry: PrometheusRegistry?,
        logger: Logger
    ) {
        (self.table, self.topic, self.logger) = (table, topic, logger)
        var configuration = KafkaConsumerConfiguration(client: client)
        configuration.tellsEnd = true
        configuration.client.properties["isolation.level"] = nil
        self.configuration = configuration
        self.health = health.component("categories")
        registry?.collect { [weak self] page in
            page.gauge("categories", help: "Categories known, of all applications.", value: Double(table.count))
            page.counter(
                "category.records.unreadable",
                help: "Records of categories that could not be read and were passed over.",
                value: Double(self?.unreadable.load(ordering: .relaxed) ?? 0)
            )
        }
    }

    /// Whether the table has everything that the topic had at the start.
    package var isLoaded: Bool { loaded.load(ordering: .acquiring) }

    /// Waits on the calling thread, which must not belong to the cooperative pool, until ``isLoaded`` or the stop.
    package func waitUntilLoaded(_ stop: StopSignal) {
        while !isLoaded, !stop.isRequested { stop.wait(.milliseconds(20)) }
    }

    /// Reads until the graceful shutdown or cancellation.
    package func run() async throws {
        let stop = StopSignal()
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await KafkaThread.run(name: "categories") { try self.run(until: stop) }
            } onGracefulShutdown: {
                stop.request()
            }
        } onCancel: {
            stop.request()
        }
    }

    private func run(until stop: StopSignal) throws {
        var supervisor = Supervisor(
            .init(name: "categories", restartsFrom: "the beginning of \(topic)"),
            stop: stop,
            health: health,
            logger: logger
        )
        try supervisor.run(
            { _, hasWorked in
                let consumer = try KafkaConsumer(configuration: configuration, logger: logger)
                defer { consumer.close(within: .seconds(2)) }
                while !stop.isRequested {
                    guard let partitions = try find(with: consumer, stop) else { return }
                    try read(partitions, with: consumer, stop, hasWorked)
                }
            },
            fencing: { _ in nil },
            onRestart: {}
        )
    }

    /// Waits until the topic exists.
    ///
    /// - Returns: the number of its partitions; nil when the stop is requested.
    private func find(with consumer: KafkaConsumer, _ stop: StopSignal) throws -> Int32? {
        let wait = BrokerWait(health: health, stop: stop, logger: logger)
        var isTold = false
        while !stop.isRequested {
            // A question for one topic may create it.
            guard let counts = try wait.until({ try consumer.partitionCounts(within: .seconds(2)) }) else { return nil }
            if let count = counts[topic], count > 0 { return count }
            let why = "the topic \(topic) does not exist: there are no categories until it does"
            if !isTold { logger.warning("\(why)") }
            isTold = true
            markLoaded(remark: why)
            stop.wait(Self.absence)
        }
        return nil
    }

    private func markLoaded(remark: String? = nil) {
        health.remark(remark)
        health.ready()
        loaded.store(true, ordering: .releasing)
    }

    /// Reads all partitions from their beginning until the stop, or until there are more of them.
    private func read(
        _ partitions: Int32,
        with consumer: KafkaConsumer,
        _ stop: StopSignal,
        _ hasWorked: () -> Void
    ) throws {
        let places = Set((0..<partitions).map { KafkaTopicPartition(topic: topic, partition: $0) })
        let wait = BrokerWait(health: health, stop: stop, logger: logger)
        guard let bounds = try wait.until({ try consumer.watermarks(of: places, within: .seconds(5)) }) else { return }
        try consumer.assign(bounds.mapValues(\.low))
        // The end that each partition had, of those that are not read yet.
        var ends = bounds.filter { $0.value.low < $0.value.high }.mapValues(\.high)
        var surveyed = ContinuousClock.now
        var isDone = false
        while !stop.isRequested {
            health.beat()
            if ends.isEmpty, !isDone {
                isDone = true
                markLoaded()
                hasWorked()
                logger.info("categories read", metadata: [LogMetadata.count: "\(table.count)"])
            }
            if let message = try consumer.poll(within: .milliseconds(isDone ? 250 : 100)) {
                take(message)
                let place = KafkaTopicPartition(topic: topic, partition: message.partition)
                if let end = ends[place], message.offset + 1 >= end { ends[place] = nil }
            } else {
                // Before the end there may be offsets without visible records.
                for (place, end) in ends where consumer.endPosition(of: place) ?? 0 >= end { ends[place] = nil }
            }
            if surveyed.duration(to: .now) > Self.survey {
                surveyed = .now
                let counts = try? consumer.partitionCounts(within: .seconds(2))
                // The key of an application is in another partition then.
                if let count = counts?[topic], count > partitions { return }
            }
        }
    }

    private func take(_ message: borrowing KafkaMessage) {
        do throws(ModelError) {
            guard let key = message.key() else { throw ModelError(.invalid, field: "key", "is missing") }
            let application = try CategoryKey.application(of: key)
            var set: CategorySet?
            if let value = message.value() { set = try CategorySet(json: value) }
            let place = CategoryTable.Place(
                partition: message.partition,
                offset: message.offset,
                timestamp: message.timestamp ?? 0
            )
            guard table.noteRead(set, of: application, at: place) else {
                throw ModelError(
                    .tooLarge,
                    "categories of \(CategoryTable.applications) applications are known already"
                )
            }
        } catch {
            unreadable.add(1, ordering: .relaxed)
            logger.warning(
                "a record of categories was passed over",
                metadata: [
                    LogMetadata.topic: "\(topic)", LogMetadata.partition: "\(message.partition)",
                    LogMetadata.offset: "\(message.offset)", LogMetadata.error: "\(error)",
                ]
            )
        }
    }
}
