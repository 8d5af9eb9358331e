import Foundation
package import Kafka
import Logging
import NotificationModel
import NotificationState
import ServiceSupport

/// A lane's consumer, producer and reader of the changelog, on librdkafka.
package final class KafkaLink: LaneLink, ClientLink {
    private let configuration: ConsumerServiceConfiguration
    private let sessionTimeout: Duration
    package let consumer: KafkaConsumer
    package let producer: KafkaLaneProducer
    private let targets: LaneTargets
    private let inputs: CoPartitionedInputs
    private let health: HealthComponent
    private let logger: Logger
    /// Read `state` as `read_committed` and as `read_uncommitted`; created when first needed.
    private var stateReader: KafkaConsumer?
    private var uncommittedReader: KafkaConsumer?
    /// Wakes this thread where it does not poll.
    private let bell = Bell()
    /// When this thread last polled: the group removes a member that does not.
    private var lastPoll: ContinuousClock.Instant?
    /// Rebalances so far: their hooks may take longer than the session timeout, while librdkafka keeps the session alive.
    private var rebalances = 0
    /// The input partitions that are paused by themselves, and whether all are.
    private var paused: Set<InputPartition> = []
    private var isReadingPaused = false

    /// Connects; waits for the broker and its topics until asked to stop.
    ///
    /// - Returns: nil when `stop` was requested meanwhile.
    /// - Throws: `KafkaError` for a configuration that librdkafka refuses, `ConsumerRefusal`.
    init?(
        configuration: ConsumerServiceConfiguration,
        guarantee: DeliveryGuarantee,
        lane: Int,
        ceiling: KafkaRecordCeiling? = nil,
        stop: StopSignal,
        health: HealthComponent,
        logger: Logger
    ) throws {
        (self.configuration, sessionTimeout) = (configuration, configuration.sessionTimeout)
        (self.health, self.logger) = (health, logger)
        producer = try KafkaLaneProducer(
            configuration: configuration.laneProducer(guarantee, lane: lane),
            ceiling: ceiling,
            logger: logger
        )
        guard
            let targets = try LaneTargets.find(
                with: producer,
                configuration.topics,
                stop: stop,
                health: health,
                logger
            )
        else {
            producer.close(within: .seconds(1))
            return nil
        }
        self.targets = targets
        inputs = CoPartitionedInputs(configuration.topics, targets.inputs)
        do {
            consumer = try KafkaConsumer(configuration: configuration.groupConsumer(lane: lane), logger: logger)
        } catch {
            producer.close(within: .zero)
            throw error
        }
    }

    package func wait(_ time: Duration) {
        health.beat()
        Thread.sleep(forTimeInterval: Double(time.nanoseconds) / 1e9)
    }

    package var wake: @Sendable () -> Void {
        { [waker = consumer.waker, bell] in
            waker.wake()
            bell.ring()
        }
    }

    package func waitUntilWoken(_ time: Duration) {
        health.beat()
        bell.wait(atMost: time)
    }

    // MARK: - The inputs

    private func place(_ partition: InputPartition) -> KafkaTopicPartition {
        KafkaTopicPartition(topic: configuration.topics[partition.input], partition: partition.partition)
    }

    private func state(_ partition: Int32) -> KafkaTopicPartition {
        KafkaTopicPartition(topic: configuration.topics.state, partition: partition)
    }

    package func subscribe(
        onAssign: @escaping ([Int32]) throws -> InputOffsets,
        onRevoke: @escaping (_ partitions: [Int32], _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void
    ) throws {
        try consumer.subscribe(
            to: inputs.topics,
            onAssign: { [unowned self] places in
                rebalances += 1
                (paused, isReadingPaused) = ([], false)
                let starts = try onAssign(inputs.numbers(of: places))
                return self.places(starts)
            },
            onRevoke: { [unowned self] places, lost, deadline in
                rebalances += 1
                onRevoke(Set(places.map(\.partition)).sorted(), lost, deadline)
            }
        )
    }

    package func poll(
        within time: Duration,
        _ apply: (Intake.Record, () -> KafkaConsumerRecord) throws -> Void
    ) throws -> Bool {
        // A process that was suspended has lost its partitions before librdkafka reports it; another member may own them now.
        let (began, rebalancesBefore) = (now, rebalances)
        if let lastPoll, began - lastPoll > sessionTimeout { throw LaneEnd.suspended }
        let message = try consumer.poll(within: time)
        let ended = now
        // It may have been suspended in there as well; timers and sends would come next.
        if rebalances == rebalancesBefore, ended - began > sessionTimeout { throw LaneEnd.suspended }
        lastPoll = ended
        guard let message else { return false }
        try apply(record(of: message)) { message.record() }
        return true
    }

    package func pause(_ partitions: Set<InputPartition>) {
        paused.formUnion(partitions)
        consumer.pause(places(Array(partitions)))
    }

    package func resume(_ partitions: Set<InputPartition>) {
        paused.subtract(partitions)
        if !isReadingPaused { consumer.resume(places(Array(partitions))) }
    }

    package func pauseReading() {
        isReadingPaused = true
        consumer.pause(consumer.assignment)
    }

    package func resumeReading() {
        isReadingPaused = false
        consumer.resume(consumer.assignment.subtracting(places(Array(paused))))
    }

    private func record(of message: borrowing KafkaMessage) -> Intake.Record {
        let input = inputs.input(of: message)
        return Intake.Record(
            input,
            partition: message.partition,
            offset: message.offset,
            timestamp: message.timestamp,
            key: message.key(),
            value: message.value(),
            trace: CarriedTrace(message),
            signal: input == .signals ? SignalHeaders(message) : .init()
        )
    }

    package func inputBounds(
        of partitions: [InputPartition],
        within time: Duration
    ) throws -> [InputPartition: OffsetBounds] {
        inputs.named(try consumer.watermarks(of: places(partitions), within: time))
    }

    package func committedOffsets(of partitions: [InputPartition], within time: Duration) throws -> InputOffsets {
        inputs.named(try consumer.committed(places(partitions), within: time))
    }

    package func lag(of partition: InputPartition, after position: Int64) -> Int64? {
        inputs.contains(partition.input) ? consumer.lag(of: place(partition), after: position) : 0
    }

    // MARK: - The changelog

    private func reader(uncommitted: Bool) throws -> KafkaConsumer {
        if let reader = uncommitted ? uncommittedReader : stateReader { return reader }
        let reader = try KafkaConsumer(
            configuration: configuration.stateConsumer(uncommitted: uncommitted),
            logger: logger
        )
        if uncommitted { uncommittedReader = reader } else { stateReader = reader }
        return reader
    }

    package func stateBounds(of partitions: [Int32], within time: Duration) throws -> [Int32: OffsetBounds] {
        // Asked as `read_committed` it would be the last stable offset.
        let found = try reader(uncommitted: true).watermarks(of: Set(partitions.map(state)), within: time)
        return Dictionary(uniqueKeysWithValues: found.map { ($0.key.partition, $0.value) })
    }

    package func readState(
        of ranges: [Int32: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (_ partition: Int32, _ offset: Int64, _ key: [UInt8]?, _ value: [UInt8]?) throws -> Void
    ) throws {
        try read(ranges, at: state, stallingAtMost: time) { message in
            try apply(message.partition, message.offset, message.key(), message.value())
        }
    }

    package func readInputs(
        of ranges: [InputPartition: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (Intake.Record) throws -> Void
    ) throws {
        for input in InputTopic.allCases {
            let ranges = ranges.filter { $0.key.input == input }.map { ($0.key.partition, $0.value) }
            try read(
                Dictionary(uniqueKeysWithValues: ranges),
                at: { place(InputPartition(input, $0)) },
                stallingAtMost: time
            ) { message in
                try apply(record(of: message))
            }
        }
    }

    /// Reads all partitions at once: one after the other, each would wait for its own first fetch.
    private func read(
        _ ranges: [Int32: Range<Int64>],
        at place: (Int32) -> KafkaTopicPartition,
        stallingAtMost time: Duration,
        _ apply: (borrowing KafkaMessage) throws -> Void
    ) throws {
        guard !ranges.isEmpty else { return }
        var left = ranges
        let reader = try reader(uncommitted: false)
        try reader.assign(Dictionary(uniqueKeysWithValues: left.map { (place($0.key), $0.value.lowerBound) }))
        defer { try? reader.assign([:]) }
        var deadline = now.advanced(by: time)
        var (hasAdvanced, records) = (false, 0)
        func advance(_ partition: Int32, to position: Int64) {
            guard let range = left[partition], position > range.lowerBound else { return }
            left[partition] = position < range.upperBound ? position..<range.upperBound : nil
            hasAdvanced = true
        }
        while !left.isEmpty {
            if let message = try reader.poll(within: .milliseconds(100)) {
                let partition = message.partition
                if let range = left[partition], message.offset < range.upperBound {
                    try apply(message)
                    advance(partition, to: message.offset + 1)
                } else {
                    // The records after the end are not needed, and may be many.
                    left[partition] = nil
                    reader.pause([place(partition)])
                }
                records += 1
                // Reading the clock for each record is a cost of a restore.
                guard records % 32 == 0 else { continue }
            } else {
                // At the end there may be offsets without visible records: control records, and what compaction removed.
                for partition in left.keys {
                    if let end = reader.endPosition(of: place(partition)) { advance(partition, to: end) }
                }
            }
            health.beat()
            if hasAdvanced { (deadline, hasAdvanced) = (now.advanced(by: time), false) }
            guard now < deadline else {
                guard let (partition, range) = left.min(by: { $0.key < $1.key }) else { return }
                throw LaneLinkError.stalled(partition: partition, at: range.lowerBound, end: range.upperBound)
            }
        }
    }

    /// The next assignment creates the readers again.
    package func endReadingState() {
        stateReader?.close(within: .seconds(2))
        uncommittedReader?.close(within: .seconds(2))
        (stateReader, uncommittedReader) = (nil, nil)
    }

    // MARK: - Publishing

    package var inputPartitions: Int32 { targets.inputPartitions }

    package func countPartitions(within time: Duration) throws -> PartitionCounts {
        let topics = configuration.topics
        let state = try producer.partitionCount(of: topics.state, within: time)
        return try PartitionCounts(state: state) { input in
            inputs.contains(input) ? try producer.partitionCount(of: topics[input], within: time) : state
        }
    }

    package func partitionCount(of topic: LaneTopic) -> Int32 { targets[topic].partitions }

    package func enqueue(_ record: LinkRecord<LaneTopic>) throws(KafkaError) {
        try producer.enqueue(
            topic: targets[record.topic].handle,
            partition: record.partition,
            key: record.key,
            value: record.value,
            headers: record.headers,
            tag: record.tag
        )
    }

    package func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        health.beat()
        producer.serveReports(within: time, body)
    }

    package func endLinger() { producer.endLinger() }

    // MARK: - Making it durable

    private func places(_ offsets: InputOffsets) -> [KafkaTopicPartition: Int64] {
        let read = offsets.filter { inputs.contains($0.key.input) }
        return Dictionary(uniqueKeysWithValues: read.map { (place($0), $1) })
    }

    private func places(_ partitions: [InputPartition]) -> Set<KafkaTopicPartition> {
        Set(partitions.filter { inputs.contains($0.input) }.map(place))
    }

    package func commitOffsets(_ offsets: InputOffsets, within time: Duration?) throws(KafkaError) {
        try consumer.commit(places(offsets), within: time)
    }

    package func sendOffsets(_ offsets: InputOffsets, within time: Duration) throws(KafkaError) {
        try producer.sendOffsets(places(offsets), of: consumer, within: time)
    }

    package func close(within time: Duration) {
        endReadingState()
        consumer.close(within: time / 2)
        producer.close(within: time / 2)
    }
}
