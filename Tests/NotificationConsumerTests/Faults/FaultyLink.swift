import Kafka
import NotificationModel
import NotificationState

@testable import NotificationConsumer

/// The Kafka calls of a checkpoint.
enum CheckpointStep: String, Sendable, CaseIterable {
    case event, entry, marker, offsets, commit
}

/// A link that runs an action directly before a step of the checkpoint.
final class FaultyLink<Base: LaneLink>: LaneLink {
    private let base: Base
    private let before: (CheckpointStep) -> Void

    init(_ base: Base, before: @escaping (CheckpointStep) -> Void) {
        (self.base, self.before) = (base, before)
    }

    func enqueue(_ record: LinkRecord<LaneTopic>) throws(KafkaError) {
        switch record.topic {
        case .state: before(record.key == StateMarker.key ? .marker : .entry)
        case .deliveries: before(.event)
        case .deadLetters, .signals, .responses, .tokens: break
        }
        try base.enqueue(record)
    }

    func commitOffsets(_ offsets: InputOffsets, within time: Duration?) throws(KafkaError) {
        before(.offsets)
        try base.commitOffsets(offsets, within: time)
    }

    func sendOffsets(_ offsets: InputOffsets, within time: Duration) throws(KafkaError) {
        before(.offsets)
        try base.sendOffsets(offsets, within: time)
    }

    func commitTransaction(within time: Duration) throws(KafkaError) {
        before(.commit)
        try base.commitTransaction(within: time)
    }

    // MARK: - Unchanged calls

    var now: ContinuousClock.Instant { base.now }
    func wait(_ time: Duration) { base.wait(time) }
    var wake: @Sendable () -> Void { base.wake }
    func waitUntilWoken(_ time: Duration) { base.waitUntilWoken(time) }

    func subscribe(
        onAssign: @escaping ([Int32]) throws -> InputOffsets,
        onRevoke: @escaping ([Int32], Bool, ContinuousClock.Instant) -> Void
    ) throws {
        try base.subscribe(onAssign: onAssign, onRevoke: onRevoke)
    }

    func poll(within time: Duration, _ apply: (Intake.Record, () -> KafkaConsumerRecord) throws -> Void) throws -> Bool
    {
        try base.poll(within: time, apply)
    }

    var maximumRecordBytes: Int { base.maximumRecordBytes }

    func pauseReading() { base.pauseReading() }
    func resumeReading() { base.resumeReading() }
    func pause(_ partitions: Set<InputPartition>) { base.pause(partitions) }
    func resume(_ partitions: Set<InputPartition>) { base.resume(partitions) }

    func inputBounds(
        of partitions: [InputPartition],
        within time: Duration
    ) throws -> [InputPartition: OffsetBounds] {
        try base.inputBounds(of: partitions, within: time)
    }

    func committedOffsets(of partitions: [InputPartition], within time: Duration) throws -> InputOffsets {
        try base.committedOffsets(of: partitions, within: time)
    }

    func lag(of partition: InputPartition, after position: Int64) -> Int64? { base.lag(of: partition, after: position) }

    func stateBounds(of partitions: [Int32], within time: Duration) throws -> [Int32: OffsetBounds] {
        try base.stateBounds(of: partitions, within: time)
    }

    func readState(
        of ranges: [Int32: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (_ partition: Int32, _ offset: Int64, _ key: [UInt8]?, _ value: [UInt8]?) throws -> Void
    ) throws {
        try base.readState(of: ranges, stallingAtMost: time, apply)
    }

    func readInputs(
        of ranges: [InputPartition: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (Intake.Record) throws -> Void
    ) throws {
        try base.readInputs(of: ranges, stallingAtMost: time, apply)
    }

    func endReadingState() { base.endReadingState() }
    var inputPartitions: Int32 { base.inputPartitions }

    func countPartitions(within time: Duration) throws -> PartitionCounts {
        try base.countPartitions(within: time)
    }

    func partitionCount(of topic: LaneTopic) -> Int32 { base.partitionCount(of: topic) }
    var outstanding: Int { base.outstanding }

    func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        base.serveReports(within: time, body)
    }

    func endLinger() { base.endLinger() }

    func initTransactions(within time: Duration) throws(KafkaError) { try base.initTransactions(within: time) }
    func beginTransaction() throws(KafkaError) { try base.beginTransaction() }
    func abortTransaction(within time: Duration) throws(KafkaError) { try base.abortTransaction(within: time) }
    func close(within time: Duration) { base.close(within: time) }
}
