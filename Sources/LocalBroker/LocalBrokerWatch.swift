public import Kafka
public import Logging
import Synchronization

/// Watches an embedded broker for dropped records (see `LocalBroker`), and logs them as critical: a run that lost
/// records proves nothing.
///
/// A partition has lost records when its first offset is above 0: the embedded broker has no retention and no
/// compaction.
public final class LocalBrokerWatch: Sendable {
    private let topics: [String]
    private let configuration: KafkaConsumerConfiguration
    private let logger: Logger
    private let losses = Mutex<[KafkaTopicPartition: Int64]>([:])

    /// - Parameter topics: the watched topics; each turn looks for missing ones again.
    public init(broker: LocalBroker, topics: [String], logger: Logger) {
        self.topics = topics
        self.logger = logger
        configuration = KafkaConsumerConfiguration(client: broker.clientConfiguration(clientID: "carillon-watch"))
    }

    /// The number of dropped records of each partition; empty if none.
    public var lost: [KafkaTopicPartition: Int64] { losses.withLock { $0 } }

    /// Checks at each interval until the task is cancelled, on a separate thread.
    ///
    /// - Throws: `KafkaError` when the client cannot be created. An unreachable broker is not an error.
    public func run(every interval: Duration = .seconds(1)) async throws {
        let stop = Stop()
        try await withTaskCancellationHandler {
            try await KafkaThread.run(name: "broker-watch") { [self] in
                let consumer = try KafkaConsumer(configuration: configuration, logger: logger)
                defer { consumer.close(within: .seconds(1)) }
                while !stop.isWanted.load(ordering: .relaxed) {
                    look(with: consumer, stop)
                    let next = ContinuousClock.now.advanced(by: interval)
                    // Polling keeps the consumer's own events from piling up.
                    while ContinuousClock.now < next, !stop.isWanted.load(ordering: .relaxed) {
                        _ = try consumer.poll(within: min(interval, .milliseconds(100)))
                    }
                }
            }
        } onCancel: {
            stop.isWanted.store(true, ordering: .relaxed)
        }
    }

    private final class Stop: Sendable {
        let isWanted = Atomic(false)
    }

    private func look(with consumer: KafkaConsumer, _ stop: Stop) {
        // Ask for all topics: a request for one topic would create it.
        guard let counts = try? consumer.partitionCounts(within: .seconds(2)) else { return }
        for topic in topics {
            guard let count = counts[topic] else { continue }
            for partition in 0..<count where !stop.isWanted.load(ordering: .relaxed) {
                let place = KafkaTopicPartition(topic: topic, partition: partition)
                // A broker that is down does not answer; the next check will.
                guard let low = try? consumer.watermarks(of: place, within: .seconds(2)).low, low > 0 else { continue }
                let isNews = losses.withLock { $0.updateValue(low, forKey: place) == nil }
                guard isNews else { continue }
                logger.critical(
                    """
                    THE EMBEDDED BROKER DROPPED RECORDS: it keeps 5 MiB per partition; use more partitions or a real \
                    broker
                    """,
                    metadata: ["topic": "\(topic)", "partition": "\(partition)", "records": "\(low)"]
                )
            }
        }
    }
}
