package import Kafka
import NotificationModel

/// What a lane needs of Kafka: one consumer, one producer, and a reader of the changelog. The shipping one is `KafkaLink`; a
/// simulation brings its own, so that everything above runs unchanged against a simulated broker.
package protocol LaneLink: PublishingLink where Topic == LaneTopic, Offsets == InputOffsets {
    // MARK: Being woken

    /// Ends a wait in `poll` or `waitUntilWoken`, or the next one, so that no wake is lost. Any thread may call it at any time,
    /// also after `close`.
    var wake: @Sendable () -> Void { get }
    /// Lets time pass until the link is woken, at most so long.
    func waitUntilWoken(_ time: Duration)

    // MARK: Reading the inputs

    /// Joins the group, which assigns the same partition numbers of every input. Hooks run inside `poll` and `close`: `onAssign`
    /// gives each partition of an input the offset to start at, `onRevoke` gets whether the partitions are lost already, and
    /// until when it may take.
    func subscribe(
        onAssign: @escaping ([Int32]) throws -> InputOffsets,
        onRevoke: @escaping (_ partitions: [Int32], _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void
    ) throws

    /// The next record of an input, if one comes in time; the second argument copies the whole record, for a dead letter.
    ///
    /// - Returns: false when none came, or the link was woken.
    func poll(within time: Duration, _ apply: (Intake.Record, () -> KafkaConsumerRecord) throws -> Void) throws -> Bool

    /// What each partition of an input holds, asked from the broker.
    func inputBounds(of partitions: [InputPartition], within time: Duration) throws -> [InputPartition: OffsetBounds]

    /// What the group has committed for partitions of inputs; one without an offset is missing.
    func committedOffsets(of partitions: [InputPartition], within time: Duration) throws -> InputOffsets

    /// Records of a partition that are still to be read, as last told; nil when not told yet. What no reader is shown (the
    /// markers that end transactions) is none.
    ///
    /// - Parameter position: the offset after the last record that was read.
    func lag(of partition: InputPartition, after position: Int64) -> Int64?

    // MARK: Reading the changelog

    /// What each partition of `state` holds, as a `read_uncommitted` client sees it.
    func stateBounds(of partitions: [Int32], within time: Duration) throws -> [Int32: OffsetBounds]

    /// Reads committed records of `state`, of all given partitions at once, each from the start of its range, which is not
    /// empty, until the position reaches its end: transactions that are open before it are waited for, at most so long
    /// without progress anywhere.
    ///
    /// - Throws: `LaneLinkError.stalled` when nothing came for that time.
    func readState(
        of ranges: [Int32: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (_ partition: Int32, _ offset: Int64, _ key: [UInt8]?, _ value: [UInt8]?) throws -> Void
    ) throws

    /// Reads committed records of inputs again, up to an earlier end than the partition's, apart from what `poll` reads.
    func readInputs(
        of ranges: [InputPartition: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (Intake.Record) throws -> Void
    ) throws

    /// Everything that was assigned is restored.
    func endReadingState()

    // MARK: Partitions

    /// How many partitions each input has, and so `state`, as of the start.
    var inputPartitions: Int32 { get }

    /// How many they have now, asked from the broker.
    func countPartitions(within time: Duration) throws -> PartitionCounts
}

/// What a lane writes to.
package enum LaneTopic: Int, CaseIterable, Sendable {
    case deliveries, deadLetters, state
}

/// What a link throws beside `KafkaError`.
package enum LaneLinkError: Error, Equatable {
    /// The changelog of a partition could not be read to its end.
    case stalled(partition: Int32, at: Int64, end: Int64)
}
