import Kafka
import NotificationModel

/// A Kafka cluster without faults: logs, transactions and one consumer group. The links inject the faults.
final class SimulatedBroker {
    /// The settings for compaction, in milliseconds.
    struct Cleaning {
        var compactionLag: Int64 = 0
        var deleteRetention: Int64 = 24 * 3600 * 1000
    }

    let timeline: Timeline
    private var topics: [String: [PartitionLog]] = [:]
    /// By the id of each producer: when it last wrote to a partition, in microseconds.
    private(set) var lastWrites: [KafkaTopicPartition: [Int64: Int64]] = [:]
    private let nothing = PartitionLog()
    /// The last sequence number of a producer in a partition, and the offset of its record.
    private var sequences: [SequenceKey: (sequence: Int64, offset: Int64)] = [:]
    private var nextProducerID: Int64 = 1000
    /// The time of the last change that a client may react to, in microseconds.
    private(set) var lastActivity: Int64 = 0
    private(set) lazy var transactions = TransactionCoordinator(broker: self)
    private(set) lazy var group = GroupCoordinator(timeline: timeline)

    private struct SequenceKey: Hashable {
        var producer: ProducerStamp
        var topic: String
        var partition: Int32
    }

    init(timeline: Timeline) {
        self.timeline = timeline
    }

    /// Milliseconds since 1970 by the broker's clock.
    var wall: Int64 { timeline.clock.wall.rawValue }

    /// The maximum record size, for the broker and its clients.
    var maximumRecordBytes = RecordBound.least
    /// The rate at which it accepts records of all producers together; nil for no limit.
    var bytesPerSecond: Int64?
    /// The most recent periods in which it accepts records at its rate, in order, in microseconds.
    private var busy: [Range<Int64>] = []
    private static let busyRanges = 64

    /// Microseconds until the broker has accepted that many more bytes.
    func timeToTake(_ bytes: Int) -> Int64 {
        guard let bytesPerSecond else { return 0 }
        let (now, time) = (timeline.now, Int64(bytes) * 1_000_000 / bytesPerSecond)
        if let last = busy.last, last.upperBound >= now {
            busy[busy.count - 1] = last.lowerBound..<last.upperBound + time
        } else {
            busy.append(now..<now + time)
        }
        if busy.count > Self.busyRanges { busy.removeFirst() }
        return (busy.last?.upperBound ?? now) - now
    }

    /// For how many microseconds since an instant it was busy with records that it had before.
    func busyTime(since instant: Int64) -> Int64 {
        busy.reduce(0) { $0 + max(0, min($1.upperBound, timeline.now) - max($1.lowerBound, instant)) }
    }

    /// The number of clients that wait for an answer: while there are any, idle time must not be skipped.
    var waiting = 0

    func noteActivity() {
        lastActivity = timeline.now
    }

    // MARK: - Away

    /// When it is available again, in microseconds; it keeps its data meanwhile.
    private(set) var awayUntil: Int64 = 0

    /// It does not answer any client.
    var isAway: Bool { timeline.now < awayUntil }

    func goAway(for microseconds: Int64) {
        awayUntil = max(awayUntil, timeline.now + microseconds)
    }

    /// Runs an action now, or the given number of microseconds after the broker is available again.
    func whenThere(after microseconds: Int64 = 0, _ action: @escaping () -> Void) {
        guard isAway else { return action() }
        timeline.add(at: awayUntil + microseconds) { [unowned self] in
            whenThere(after: microseconds, action)
        }
    }

    // MARK: - Topics

    func addTopic(_ name: String, partitions: Int32) {
        topics[name] = (0..<partitions).map { _ in PartitionLog() }
    }

    /// Adds empty partitions to a topic up to a number.
    func addPartitions(_ name: String, upTo count: Int32) {
        while partitionCount(of: name) < count { topics[name]?.append(PartitionLog()) }
    }

    func partitionCount(of topic: String) -> Int32 { Int32(topics[topic]?.count ?? 0) }

    /// The log of a partition; an empty log for a partition that does not exist.
    func log(_ topic: String, _ partition: Int32) -> PartitionLog {
        guard let logs = topics[topic], logs.indices.contains(Int(partition)) else { return nothing }
        return logs[Int(partition)]
    }

    /// Compacts a partition; its active segment starts at `tail`.
    func compact(_ topic: String, _ partition: Int32, tail: Int64, _ cleaning: Cleaning) {
        log(topic, partition).compact(
            at: wall,
            tail: tail,
            lag: cleaning.compactionLag,
            deleteRetention: cleaning.deleteRetention
        )
    }

    // MARK: - Producing

    func newProducerID() -> Int64 {
        nextProducerID += 1
        return nextProducerID
    }

    /// Appends a record of a producer outside the simulation's links.
    func append(_ record: LogRecord, to topic: String, _ partition: Int32) -> Int64 {
        noteActivity()
        return log(topic, partition).append(record)
    }

    /// Appends a record. A sequence number that the producer has already used in the partition changes nothing: the answer
    /// is the offset of the earlier record.
    ///
    /// - Throws: `.producerFenced` when the epoch of a transactional producer is not the newest, `wrongTransactionState`.
    @discardableResult
    func produce(
        _ record: LogRecord,
        to topic: String,
        _ partition: Int32,
        sequence: Int64? = nil,
        transactionalID: String? = nil
    ) throws(KafkaError) -> Int64 {
        guard partition >= 0, partition < partitionCount(of: topic) else {
            throw KafkaError(code: .unknownTopicOrPartition, reason: "no such partition (simulated)")
        }
        if let transactionalID, let producer = record.producer {
            try transactions.check(transactionalID, producer)
        }
        if let producer = record.producer, let sequence {
            let key = SequenceKey(producer: producer, topic: topic, partition: partition)
            if let known = sequences[key], known.sequence >= sequence { return known.offset }
        }
        if let transactionalID, let producer = record.producer {
            try transactions.add(topic, partition, to: transactionalID, producer)
        }
        let offset = log(topic, partition).append(record)
        noteActivity()
        if let producer = record.producer {
            let place = KafkaTopicPartition(topic: topic, partition: partition)
            lastWrites[place, default: [:]][producer.id] = timeline.now
        }
        if let producer = record.producer, let sequence {
            sequences[SequenceKey(producer: producer, topic: topic, partition: partition)] = (sequence, offset)
        }
        return offset
    }
}
