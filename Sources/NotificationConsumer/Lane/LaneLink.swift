package import Kafka
import NotificationModel

/// What a lane needs from Kafka: a consumer, a producer, and a reader of the changelog. Production uses `KafkaLink`; the
/// simulation has its own, so that everything above runs unchanged on a simulated broker.
package protocol LaneLink: PublishingLink where Topic == LaneTopic, Offsets == InputOffsets {
    // MARK: Wake-up

    /// Ends the current wait in `poll` or `waitUntilWoken`, or else the next one, so that no wake-up is lost. Any thread may
    /// call it at any time, even after `close`.
    var wake: @Sendable () -> Void { get }
    /// Waits until `wake` is called, for at most `time`.
    func waitUntilWoken(_ time: Duration)

    // MARK: Publishing

    /// Sends what waits for its batch to fill. Call it before each wait for the last acknowledgements.
    func endLinger()

    // MARK: Reading the inputs

    /// Joins the group, which assigns the same partition numbers of every input. The hooks run inside `poll` and `close`.
    ///
    /// - Parameters:
    ///   - onAssign: Returns the offset to start at for each partition of an input.
    ///   - onRevoke: `lost` says that another member may own the partitions already; it must return by the deadline.
    func subscribe(
        onAssign: @escaping ([Int32]) throws -> InputOffsets,
        onRevoke: @escaping (_ partitions: [Int32], _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void
    ) throws

    /// Waits for the next record of an input, for at most `time`, and applies it. The second argument of `apply` copies the
    /// whole record, for a dead letter.
    ///
    /// - Returns: false when no record came in time, or the link was woken.
    func poll(within time: Duration, _ apply: (Intake.Record, () -> KafkaConsumerRecord) throws -> Void) throws -> Bool

    /// Keeps input partitions from being read until `resume`, apart from `pauseReading` and `resumeReading`, which are about
    /// all. Inside the assign hook it is about the new assignment, which begins without.
    func pause(_ partitions: Set<InputPartition>)
    /// Ends what `pause` began.
    func resume(_ partitions: Set<InputPartition>)

    /// The range of offsets in each partition of an input, asked from the broker.
    func inputBounds(of partitions: [InputPartition], within time: Duration) throws -> [InputPartition: OffsetBounds]

    /// The committed offsets of the group; a partition without one is missing in the result.
    func committedOffsets(of partitions: [InputPartition], within time: Duration) throws -> InputOffsets

    /// The number of records of a partition that are still to be read, by the broker's last answer; nil before the first one.
    /// The control records that end transactions do not count.
    ///
    /// - Parameter position: the offset after the last record that was read.
    func lag(of partition: InputPartition, after position: Int64) -> Int64?

    // MARK: Reading the changelog

    /// The range of offsets in each partition of `state`, as a `read_uncommitted` client sees it.
    func stateBounds(of partitions: [Int32], within time: Duration) throws -> [Int32: OffsetBounds]

    /// Reads the committed records of `state` in the ranges, of all partitions at once. It ends when each position has
    /// reached the end of its range, so it waits for transactions that are open before the end.
    ///
    /// - Parameters:
    ///   - ranges: None is empty.
    ///   - time: How long to wait without progress in any partition.
    /// - Throws: `LaneLinkError.stalled` after that time.
    func readState(
        of ranges: [Int32: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (_ partition: Int32, _ offset: Int64, _ key: [UInt8]?, _ value: [UInt8]?) throws -> Void
    ) throws

    /// Reads committed records of inputs a second time, independently of `poll`. The ranges end before the end of their
    /// partitions.
    func readInputs(
        of ranges: [InputPartition: Range<Int64>],
        stallingAtMost time: Duration,
        _ apply: (Intake.Record) throws -> Void
    ) throws

    /// The restore is finished: frees the readers.
    func endReadingState()

    // MARK: Partitions

    /// The partition count of each input and of `state`, as of the start.
    var inputPartitions: Int32 { get }

    /// The current partition counts, asked from the broker.
    func countPartitions(within time: Duration) throws -> PartitionCounts
}

/// The topics that a lane writes to.
package enum LaneTopic: Int, CaseIterable, Sendable {
    case deliveries, deadLetters, state
    /// For signals that were in the partition of another recipient, and those about another recipient.
    case signals
    case responses
    /// For claims of tokens.
    case tokens
}

/// The errors of a link besides `KafkaError`.
package enum LaneLinkError: Error, Equatable {
    /// The changelog of a partition could not be read to its end.
    case stalled(partition: Int32, at: Int64, end: Int64)
}
