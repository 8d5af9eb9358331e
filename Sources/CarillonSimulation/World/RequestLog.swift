import Kafka
import NotificationModel

/// Writes into `requests`, and keeps what the pipeline should make of it.
final class RequestLog {
    private let broker: SimulatedBroker
    private let topics: TopicNames
    private let note: (String) -> Void
    /// By partition, in the order of the log.
    private(set) var published: [[PublishedRecord]]

    init(broker: SimulatedBroker, topics: TopicNames, note: @escaping (String) -> Void) {
        (self.broker, self.topics, self.note) = (broker, topics, note)
        published = Array(repeating: [], count: Int(broker.partitionCount(of: topics.requests)))
    }

    var partitions: Int32 { Int32(published.count) }

    func home(of key: NotificationKey) -> Int32 {
        key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: partitions) }
    }

    /// - Parameters:
    ///   - id: nil for the one that follows from the place.
    ///   - key: nil for a record that becomes a dead letter.
    @discardableResult
    func append(
        _ record: LogRecord,
        to partition: Int32,
        id: RequestID? = nil,
        key: NotificationKey? = nil,
        _ content: PublishedRecord.Content
    ) -> PublishedRecord {
        let offset = broker.append(record, to: topics.requests, partition)
        let published = PublishedRecord(
            partition: partition,
            offset: offset,
            timestamp: Timestamp(rawValue: record.timestamp),
            id: key.map { _ in id ?? .derive(topic: topics.requests, partition: partition, offset: offset) },
            key: key,
            content: content
        )
        note("writes \(published.text)")
        self.published[Int(partition)].append(published)
        return published
    }
}
