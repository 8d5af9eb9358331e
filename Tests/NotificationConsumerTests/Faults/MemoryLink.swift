import Kafka
import NotificationModel
import NotificationState
import Synchronization

@testable import NotificationConsumer

/// A broker in memory: the topics, and the offsets of the group.
final class MemoryBroker {
    struct Log {
        var low: Int64 = 0
        var records: [(key: [UInt8]?, value: [UInt8]?)] = []
        /// Of records that have another timestamp than `at(0)`.
        var timestamps: [Int64: Timestamp] = [:]
        /// Of signals that are no locations.
        var types: [Int64: SignalType] = [:]
        var high: Int64 { low + Int64(records.count) }
    }

    let topics = TopicNames()
    var requests: [Log]
    var signals: [Log]
    var devices: [Log]
    var tokens: [Log]
    var state: [Log]
    var deliveries: [[UInt8]] = []
    /// The group's offsets.
    var committed: InputOffsets = [:]
    /// The bytes that it acknowledges per second.
    var bytesPerSecond = 1_000_000_000.0
    /// The number of transactions that it aborted because of their timeout.
    var timedOut = 0
    var transactions = 0
    /// When the last record handed over is written.
    fileprivate var busyUntil: ContinuousClock.Instant
    var now: ContinuousClock.Instant

    init(partitions: Int) {
        requests = Array(repeating: Log(), count: partitions)
        (signals, devices, tokens) = (requests, requests, requests)
        state = Array(repeating: Log(), count: partitions)
        now = .now
        busyUntil = now
    }

    func addPartitions(_ count: Int) {
        requests += Array(repeating: Log(), count: count - requests.count)
        signals += Array(repeating: Log(), count: count - signals.count)
        devices += Array(repeating: Log(), count: count - devices.count)
        tokens += Array(repeating: Log(), count: count - tokens.count)
        state += Array(repeating: Log(), count: count - state.count)
    }

    func log(of place: InputPartition) -> Log {
        let number = Int(place.partition)
        return switch place.input {
        case .requests: requests[number]
        case .signals: signals[number]
        case .devices: devices[number]
        case .tokens: tokens[number]
        }
    }

    func marker(in partition: Int32, of count: Int32, firedThrough: Timestamp? = nil) {
        let marker = StateMarker(
            offsets: [topics.requests: 0],
            wallTime: at(0),
            partitions: count,
            timeZoneDataVersion: NotificationConsumerTests.zones.database.version,
            firedThrough: firedThrough,
            lineage: "test"
        )
        state[Int(partition)].records.append((StateMarker.key, marker.json))
    }
}

/// A ring is kept until the next wait.
private final class TestBell: Sendable {
    let isRung = Atomic(false)
}

/// A lane's connection to it.
final class MemoryLink: LaneLink {
    struct Outgoing {
        var record: LinkRecord<LaneTopic>
        var writtenAt: ContinuousClock.Instant

        var bytes: Int { (record.key?.count ?? 0) + (record.value?.count ?? 0) }
    }

    let broker: MemoryBroker
    private let transactionTimeout: Duration?
    private var assigned: [Int32] = []
    private var positions: InputOffsets = [:]
    private var onAssign: (([Int32]) throws -> InputOffsets)?
    private var onRevoke: (([Int32], Bool, ContinuousClock.Instant) -> Void)?
    private var queue: [Outgoing] = []
    private var head = 0
    private var queued = 0
    private var staged: [LinkRecord<LaneTopic>] = []
    private var stagedOfState: [Int32: Int64] = [:]
    private var began: ContinuousClock.Instant?
    private var offsets: InputOffsets = [:]
    /// The partitions that the group assigns at the first poll.
    var share: [Int32]
    let inputPartitions: Int32
    /// The size of its queue in bytes.
    var queueBytes = 256 * 1024 * 1024
    /// How long each record waits for its batch to fill.
    var linger = Duration.zero

    /// - Parameter transactionTimeout: nil for at-least-once.
    init(_ broker: MemoryBroker, transactionTimeout: Duration? = nil, share: [Int32]? = nil) {
        self.broker = broker
        self.transactionTimeout = transactionTimeout
        inputPartitions = Int32(broker.requests.count)
        self.share = share ?? Array(0..<inputPartitions)
    }

    var now: ContinuousClock.Instant { broker.now }
    func wait(_ time: Duration) { broker.now += time }

    // MARK: - Waking

    private let bell = TestBell()
    /// When the lane has polled.
    private(set) var polls: [ContinuousClock.Instant] = []
    /// For each poll: how long the lane would have waited for a record.
    private(set) var waits: [Duration] = []
    /// Called while the lane waits.
    var whileWaiting: () -> Void = {}
    var isReadingPaused = false
    /// The input partitions that are paused by themselves.
    private(set) var paused: Set<InputPartition> = []
    /// The inputs of which nothing arrives.
    var stuck: Set<InputTopic> = []
    /// The order in which a poll looks for a record in the inputs of a partition.
    var order = InputTopic.allCases
    /// The inputs for which the broker has not told the end yet.
    var unknownEnds: Set<InputTopic> = []

    var wake: @Sendable () -> Void { { [bell] in bell.isRung.store(true, ordering: .relaxed) } }

    /// No time passes if it is already woken.
    func waitUntilWoken(_ time: Duration) {
        waits.append(time)
        whileWaiting()
        if !bell.isRung.exchange(false, ordering: .relaxed) { wait(time) }
    }

    /// The position of the lane in a partition.
    func position(of partition: Int32) -> Int64 { positions[InputPartition(.requests, partition)] ?? 0 }

    // MARK: - The group

    func subscribe(
        onAssign: @escaping ([Int32]) throws -> InputOffsets,
        onRevoke: @escaping ([Int32], Bool, ContinuousClock.Instant) -> Void
    ) throws {
        (self.onAssign, self.onRevoke) = (onAssign, onRevoke)
    }

    func poll(within time: Duration, _ apply: (Intake.Record, () -> KafkaConsumerRecord) throws -> Void) throws -> Bool
    {
        polls.append(now)
        if assigned != share {
            revoke(within: .seconds(7))
            paused = []
            positions = try onAssign?(share) ?? [:]
            assigned = share
            isReadingPaused = false
        }
        for place in assigned.flatMap({ number in order.map { InputPartition($0, number) } }) where !isReadingPaused {
            let (log, position) = (broker.log(of: place), positions[place] ?? 0)
            guard position < log.high, !paused.contains(place), !stuck.contains(place.input) else { continue }
            positions[place] = position + 1
            try apply(record(place, position)) { fatalRecord(place, position) }
            return true
        }
        waitUntilWoken(time)
        return false
    }

    func revoke(within time: Duration) {
        if !assigned.isEmpty { onRevoke?(assigned, false, now + time) }
        assigned = []
    }

    private func record(_ place: InputPartition, _ offset: Int64) -> Intake.Record {
        let log = broker.log(of: place)
        let (key, value) = log.records[Int(offset - log.low)]
        var signal = SignalHeaders()
        if place.input == .signals { signal.kind = .known(log.types[offset] ?? .location) }
        return .init(
            place.input,
            partition: place.partition,
            offset: offset,
            timestamp: (log.timestamps[offset] ?? at(0)).rawValue,
            key: key,
            value: value,
            trace: .none,
            signal: signal
        )
    }

    private func fatalRecord(_ place: InputPartition, _ offset: Int64) -> KafkaConsumerRecord {
        let read = record(place, offset)
        return KafkaConsumerRecord(
            topic: broker.topics[place.input],
            partition: place.partition,
            offset: offset,
            timestamp: read.timestamp,
            key: read.key,
            value: read.value,
            headers: []
        )
    }

    func pauseReading() { isReadingPaused = true }
    func resumeReading() { isReadingPaused = false }
    func pause(_ partitions: Set<InputPartition>) { paused.formUnion(partitions) }
    func resume(_ partitions: Set<InputPartition>) { paused.subtract(partitions) }

    func inputBounds(
        of partitions: [InputPartition],
        within: Duration
    ) throws -> [InputPartition: OffsetBounds] {
        Dictionary(uniqueKeysWithValues: partitions.map { ($0, bounds(broker.log(of: $0))) })
    }

    private func bounds(_ log: MemoryBroker.Log) -> OffsetBounds { (log.low, log.high) }

    func committedOffsets(of partitions: [InputPartition], within time: Duration) throws -> InputOffsets {
        broker.committed.filter { partitions.contains($0.key) }
    }

    func lag(of partition: InputPartition, after position: Int64) -> Int64? {
        unknownEnds.contains(partition.input) ? nil : broker.log(of: partition).high - position
    }

    func stateBounds(of partitions: [Int32], within: Duration) throws -> [Int32: OffsetBounds] {
        Dictionary(uniqueKeysWithValues: partitions.map { ($0, bounds(broker.state[Int($0)])) })
    }

    func readState(
        of ranges: [Int32: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (_ partition: Int32, _ offset: Int64, _ key: [UInt8]?, _ value: [UInt8]?) throws -> Void
    ) throws {
        for (partition, range) in ranges.sorted(by: { $0.key < $1.key }) {
            let log = broker.state[Int(partition)]
            for offset in range {
                let (key, value) = log.records[Int(offset - log.low)]
                try apply(partition, offset, key, value)
            }
        }
    }

    func readInputs(
        of ranges: [InputPartition: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (Intake.Record) throws -> Void
    ) throws {
        for (partition, range) in ranges.sorted(by: { $0.key < $1.key }) {
            for offset in range { try apply(record(partition, offset)) }
        }
    }

    func endReadingState() {}

    // MARK: - Publishing

    func countPartitions(within time: Duration) throws -> PartitionCounts {
        PartitionCounts(state: Int32(broker.state.count)) { input in
            switch input {
            case .requests: Int32(broker.requests.count)
            case .signals: Int32(broker.signals.count)
            case .devices: Int32(broker.devices.count)
            case .tokens: Int32(broker.tokens.count)
            }
        }
    }

    var maximumRecordBytes: Int { 1_000_000 }

    func partitionCount(of topic: LaneTopic) -> Int32 {
        switch topic {
        case .state, .signals, .tokens: inputPartitions
        case .deliveries, .deadLetters, .responses: 1
        }
    }

    func enqueue(_ record: LinkRecord<LaneTopic>) throws(KafkaError) {
        var outgoing = Outgoing(record: record, writtenAt: now)
        guard queued + outgoing.bytes <= queueBytes else {
            throw KafkaError(code: .queueFull, reason: "the queue is full", isRetriable: true)
        }
        queued += outgoing.bytes
        if began == nil { began = now }
        broker.busyUntil = max(broker.busyUntil, now) + .seconds(Double(outgoing.bytes) / broker.bytesPerSecond)
        outgoing.writtenAt = max(broker.busyUntil, now + linger)
        queue.append(outgoing)
    }

    func endLinger() {
        guard linger > .zero else { return }
        for place in head..<queue.count { queue[place].writtenAt = min(queue[place].writtenAt, now) }
    }

    var outstanding: Int { queue.count - head }
    private var first: Outgoing? { head < queue.count ? queue[head] : nil }

    func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        if let first, first.writtenAt > now, time > .zero {
            broker.now = min(first.writtenAt, now + time)
        } else if first == nil {
            wait(time)
        }
        while let outgoing = first, outgoing.writtenAt <= now {
            let record = outgoing.record
            head += 1
            if head == queue.count { (queue, head) = ([], 0) }
            queued -= outgoing.bytes
            if let transactionTimeout, let began, now - began > transactionTimeout {
                let error = KafkaError(code: .messageTimedOut, reason: "too slow", requiresAbort: true)
                body(.init(tag: record.tag, error: error, partition: record.partition, offset: -1))
                continue
            }
            if transactionTimeout == nil {
                write(record)
            } else {
                staged.append(record)
                if record.topic == .state { stagedOfState[record.partition, default: 0] += 1 }
            }
            body(.init(tag: record.tag, error: nil, partition: record.partition, offset: end(of: record) - 1))
        }
    }

    private func end(of record: LinkRecord<LaneTopic>) -> Int64 {
        guard record.topic == .state else { return 1 }
        return broker.state[Int(record.partition)].high + (stagedOfState[record.partition] ?? 0)
    }

    private func write(_ record: LinkRecord<LaneTopic>) {
        switch record.topic {
        case .state: broker.state[Int(record.partition)].records.append((record.key, record.value))
        case .deliveries, .deadLetters, .responses: broker.deliveries.append(record.value ?? [])
        case .signals: broker.signals[Int(record.partition)].records.append((record.key, record.value))
        case .tokens: broker.tokens[Int(record.partition)].records.append((record.key, record.value))
        }
    }

    // MARK: - Committing

    func commitOffsets(_ offsets: InputOffsets, within time: Duration?) throws(KafkaError) {
        broker.committed.merge(offsets) { $1 }
        began = nil
    }

    func initTransactions(within time: Duration) throws(KafkaError) {}
    func beginTransaction() throws(KafkaError) { (began, staged, stagedOfState) = (nil, [], [:]) }
    func sendOffsets(_ offsets: InputOffsets, within time: Duration) throws(KafkaError) { self.offsets = offsets }

    func commitTransaction(within time: Duration) throws(KafkaError) {
        if let transactionTimeout, let began, now - began > transactionTimeout {
            broker.timedOut += 1
            throw KafkaError(code: .fenced, reason: "the coordinator gave the transaction up", isFatal: true)
        }
        for record in staged { write(record) }
        broker.committed.merge(offsets) { $1 }
        broker.transactions += 1
        (began, staged, stagedOfState) = (nil, [], [:])
    }

    func abortTransaction(within time: Duration) throws(KafkaError) {
        if let transactionTimeout, let began, now - began > transactionTimeout { broker.timedOut += 1 }
        (began, staged, queue, head, queued) = (nil, [], [], 0, 0)
        broker.busyUntil = now
    }

    func close(within time: Duration) { revoke(within: time) }
}
