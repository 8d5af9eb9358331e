import Kafka
import NotificationModel

/// Writes records to `requests`, and keeps the outcomes that the pipeline must give them.
final class RequestLog {
    private let broker: SimulatedBroker
    private let topics: TopicNames
    let note: (String) -> Void
    /// By partition, in the order of the log; offsets continue when the topic is created again.
    private(set) var published: [[PublishedRecord]]
    /// By partition: the base, which is the sum of the lengths of the deleted topics, and how often lanes detected that the
    /// topic was created again.
    private var bases: [Int64]
    private var lives: [Int64]
    /// Describes a record that the ingest wrote; nil without an ingest. With an ingest, records count as published when a
    /// reader gets them, so that aborted records do not count.
    var onForeign: ((LogRecord, Int32) throws(Violation) -> PublishedRecord)?
    /// By position: records that do not count as published yet.
    private var unread: [Place: PublishedRecord] = [:]
    /// By partition.
    private var positions: [Int64]
    /// The number of partitions as producers know it.
    private(set) var partitions: Int32

    init(broker: SimulatedBroker, topics: TopicNames, note: @escaping (String) -> Void) {
        (self.broker, self.topics, self.note) = (broker, topics, note)
        partitions = broker.partitionCount(of: topics.requests)
        let count = Int(partitions)
        published = Array(repeating: [], count: count)
        (bases, lives) = (Array(repeating: 0, count: count), Array(repeating: 0, count: count))
        positions = Array(repeating: 0, count: count)
    }

    func base(of partition: Int32) -> Int64 { bases[Int(partition)] }

    /// The topic is deleted and created again: its offsets start at 0.
    ///
    /// - Parameter isMarked: whether the marker of a partition is after its first offset: only then can lanes detect it.
    func createAgain(isMarked: (Int32) -> Bool) {
        for partition in 0..<firstPartitions {
            if isMarked(partition) { lives[Int(partition)] += 1 }
            bases[Int(partition)] += broker.log(topics.requests, partition).end
        }
        broker.addTopic(topics.requests, partitions: firstPartitions)
    }

    /// Producers see added partitions: some recipients get another partition.
    func follow(partitions count: Int32) { partitions = count }

    var hasGrown: Bool { partitions != firstPartitions }

    /// The number of partitions when the consumer service started: it determines the partition of each recipient.
    private var firstPartitions: Int32 { Int32(published.count) }

    func home(of key: NotificationKey) -> Int32 { home(of: key, among: partitions) }

    private func home(of key: NotificationKey, among count: Int32) -> Int32 {
        key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: count) }
    }

    /// - Parameters:
    ///   - id: nil for the id derived from the position.
    ///   - key: nil for a record that becomes a dead letter.
    @discardableResult
    func append(
        _ record: LogRecord,
        to partition: Int32,
        id: RequestID? = nil,
        key: NotificationKey? = nil,
        _ content: PublishedRecord.Content
    ) -> PublishedRecord {
        var (key, content) = (key, content)
        if let moved = key, home(of: moved, among: firstPartitions) != partition {
            (key, content) = (nil, .bad(.misrouted))
        }
        let offset = broker.append(record, to: topics.requests, partition)
        let published = PublishedRecord(
            partition: partition,
            offset: (published.indices.contains(Int(partition)) ? base(of: partition) : 0) + offset,
            timestamp: Timestamp(rawValue: record.timestamp),
            id: key.map { _ in
                let life = lives.indices.contains(Int(partition)) ? lives[Int(partition)] : 0
                return id ?? .derive(topic: topics.requests, partition: partition, offset: offset, life: life)
            },
            key: key,
            content: content
        )
        note("writes \(published.text)")
        // No lane may read a partition that was added.
        guard self.published.indices.contains(Int(partition)) else { return published }
        if onForeign == nil {
            self.published[Int(partition)].append(published)
        } else {
            unread[published.place] = published
        }
        return published
    }

    /// Reads the records that were committed since the last call.
    func follow() throws(Violation) {
        guard let onForeign else { return }
        for partition in published.indices {
            let log = broker.log(topics.requests, Int32(partition))
            guard positions[partition] < log.lastStable else { continue }
            let (records, position) = log.read(from: positions[partition], committed: true)
            positions[partition] = position
            for record in records {
                let place = Place(partition: Int32(partition), offset: record.offset)
                if let own = unread.removeValue(forKey: place) {
                    published[partition].append(own)
                } else {
                    published[partition].append(try onForeign(record, Int32(partition)))
                }
            }
        }
    }
}
