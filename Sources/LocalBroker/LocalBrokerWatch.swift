public import Kafka
public import Logging
import Synchronization

/// Watches an embedded broker for records that it has thrown away (see `LocalBroker`), and says so loudly: a run that
/// lost records proves nothing.
///
/// A partition has lost something when its first offset is above 0: the embedded broker has no retention and no compaction.
public final class LocalBrokerWatch: Sendable {
    private let topics: [String]
    private let configuration: KafkaConsumerConfiguration
    private let logger: Logger
    private let state = Mutex((lost: [KafkaTopicPartition: Int64](), isStopped: false))

    /// - Parameter topics: what is watched.
    public init(broker: LocalBroker, topics: [String], logger: Logger) {
        self.topics = topics
        self.logger = logger
        configuration = KafkaConsumerConfiguration(client: broker.clientConfiguration(clientID: "carillon-watch"))
    }

    /// How many records of each partition are gone; empty while all is well.
    public var lost: [KafkaTopicPartition: Int64] { state.withLock { $0.lost } }

    /// Looks at each interval until the task is cancelled.
    public func run(every interval: Duration = .seconds(1)) async throws {
        try await withTaskCancellationHandler {
            try await KafkaThread.run(name: "broker-watch") { [self] in
                let consumer = try KafkaConsumer(configuration: configuration, logger: logger)
                defer { consumer.close(within: .seconds(1)) }
                while !state.withLock({ $0.isStopped }) {
                    look(with: consumer)
                    let next = ContinuousClock.now.advanced(by: interval)
                    while ContinuousClock.now < next, !state.withLock({ $0.isStopped }) {
                        _ = try consumer.poll(within: .milliseconds(100))
                    }
                }
            }
        } onCancel: {
            state.withLock { $0.isStopped = true }
        }
    }

    private func look(with consumer: KafkaConsumer) {
        for topic in topics {
            guard let count = try? consumer.partitionCount(of: topic, within: .seconds(2)) else { continue }
            for partition in 0..<count {
                let place = KafkaTopicPartition(topic: topic, partition: partition)
                // A broker that is down says nothing; the next look will.
                guard let low = try? consumer.watermarks(of: place, within: .seconds(2)).low, low > 0 else { continue }
                let isNews = state.withLock { state in
                    defer { state.lost[place] = low }
                    return state.lost[place] == nil
                }
                guard isNews else { continue }
                logger.critical(
                    "THE EMBEDDED BROKER HAS THROWN RECORDS AWAY: it keeps 5 MiB a partition; use more partitions or a real broker",
                    metadata: ["topic": "\(topic)", "partition": "\(partition)", "records": "\(low)"]
                )
            }
        }
    }
}
