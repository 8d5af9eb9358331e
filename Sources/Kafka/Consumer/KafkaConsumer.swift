import CRDKafka
import Dispatch
import Foundation
public import Logging

/// A consumer that one thread owns and polls; `KafkaThread.run` gives such a thread. It commits only what it is told to.
///
/// The hooks of a subscription run on the polling thread, inside `poll` or `close`: a partition leaves only after its
/// revoke hook has returned.
public final class KafkaConsumer {
    /// Chooses where to start: offsets by partition; a partition that is missing starts at its committed offset.
    public typealias AssignHook = (Set<KafkaTopicPartition>) throws -> [KafkaTopicPartition: Int64]
    /// `lost` means that another member may own the partitions already: nothing may be committed.
    public typealias RevokeHook = (Set<KafkaTopicPartition>, _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void

    private let handle: RDKafkaHandle
    private let rebalance: RebalanceContext
    private let logger: Logger
    private var isOpen = true
    /// What this consumer paused: resuming what is not paused would rewind it (librdkafka before 2.4).
    private var paused: Set<KafkaTopicPartition> = []

    /// - Throws: `KafkaError` that names a property librdkafka does not take. It does not connect.
    public init(configuration: KafkaConsumerConfiguration, logger: Logger) throws(KafkaError) {
        self.logger = logger
        let rebalance = RebalanceContext(logger: logger, revokeTimeout: configuration.revokeTimeout)
        handle = try RDKafkaHandle(
            RD_KAFKA_CONSUMER,
            properties: configuration.properties,
            context: rebalance,
            prepare: RebalanceContext.register(on:)
        )
        self.rebalance = rebalance
        try KafkaError.check(rd_kafka_poll_set_consumer(handle.pointer), doing: "the consumer's queue")
    }

    deinit { if isOpen { close(within: .seconds(5)) } }

    // MARK: - What to read

    /// Joins the group and reads the partitions it assigns.
    ///
    /// - Parameters:
    ///   - onAssign: what it throws comes out of `poll`; nothing is then assigned.
    ///   - onRevoke: has until the deadline to finish and commit.
    public func subscribe(
        to topics: [String],
        onAssign: @escaping AssignHook = { _ in [:] },
        onRevoke: @escaping RevokeHook = { _, _, _ in }
    ) throws(KafkaError) {
        rebalance.onAssign = onAssign
        rebalance.onRevoke = onRevoke
        let list = RDKafkaTopicPartitionList(topics.map { KafkaTopicPartition(topic: $0, partition: -1) })
        try KafkaError.check(
            rd_kafka_subscribe(handle.pointer, list.pointer),
            doing: "subscribe to \(topics.joined(separator: ", "))"
        )
    }

    /// Reads exactly these partitions from these offsets, without a group.
    ///
    /// - Parameter offsets: the next offset to read, or one of `KafkaOffset`.
    public func assign(_ offsets: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        let list = RDKafkaTopicPartitionList(offsets)
        try KafkaError.check(rd_kafka_assign(handle.pointer, list.pointer), doing: "assign partitions")
        rebalance.assignment = Set(offsets.keys)
        paused = []
    }

    /// What is read now.
    public var assignment: Set<KafkaTopicPartition> { rebalance.assignment }

    // MARK: - Reading

    /// The next record, or nil when none came in time. Trouble that librdkafka mends itself is logged, not thrown.
    ///
    /// - Throws: `KafkaError` when reading cannot go on, and what an assign hook threw.
    public func poll(within time: Duration) throws -> KafkaMessage? {
        let polled = rd_kafka_consumer_poll(handle.pointer, time.librdkafkaMilliseconds)
        if let failure = rebalance.takeFailure() {
            if let polled { rd_kafka_message_destroy(polled) }
            throw failure
        }
        guard let polled else { return nil }
        let message = KafkaMessage(polled)
        let code = polled.pointee.err
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return message }
        let text = rd_kafka_message_errstr(polled).map { String(cString: $0) } ?? ""
        var error = KafkaError(code, doing: "read \(message.topic)")
        error.reason += ": \(text)"
        switch error.code {
        case .fatal, .topicAuthorizationFailed, .autoOffsetReset: throw error
        default: rebalance.noteTrouble(error)
        }
        return nil
    }

    /// Stops fetching the partitions; what was fetched already and not polled is fetched again later.
    public func pause(_ partitions: Set<KafkaTopicPartition>) {
        let new = partitions.intersection(assignment).subtracting(paused)
        guard !new.isEmpty else { return }
        let list = RDKafkaTopicPartitionList(new)
        rd_kafka_pause_partitions(handle.pointer, list.pointer)
        paused.formUnion(new)
    }

    /// Goes on with those of the partitions that were paused.
    public func resume(_ partitions: Set<KafkaTopicPartition>) {
        // A partition that left and came back is not paused any more.
        let mine = partitions.intersection(paused).intersection(assignment).subtracting(rebalance.assignedAnew(paused))
        paused.subtract(partitions)
        guard !mine.isEmpty else { return }
        let list = RDKafkaTopicPartitionList(mine)
        rd_kafka_resume_partitions(handle.pointer, list.pointer)
    }

    // MARK: - Offsets

    /// Commits the offsets to the group: of each partition the next one to read.
    ///
    /// - Parameter time: nil to return at once; a failure is then logged.
    public func commit(_ offsets: [KafkaTopicPartition: Int64], within time: Duration?) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = RDKafkaTopicPartitionList(offsets)
        guard let time else {
            try KafkaError.check(rd_kafka_commit(handle.pointer, list.pointer, 1), doing: "commit offsets")
            return
        }
        guard let queue = rd_kafka_queue_new(handle.pointer) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: "commit offsets")
        }
        defer { rd_kafka_queue_destroy(queue) }
        try KafkaError.check(
            rd_kafka_commit_queue(handle.pointer, list.pointer, queue, nil, nil),
            doing: "commit offsets"
        )
        guard let event = rd_kafka_queue_poll(queue, time.librdkafkaMilliseconds) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__TIMED_OUT, doing: "commit offsets")
        }
        defer { rd_kafka_event_destroy(event) }
        try KafkaError.check(rd_kafka_event_error(event), doing: "commit offsets")
        guard let committed = rd_kafka_event_topic_partition_list(event) else { return }
        for element in RDKafkaTopicPartitionList.elements(of: committed) {
            try KafkaError.check(element.error, doing: "commit the offset of \(element.place)")
        }
    }

    /// The group's offsets; a partition without one is missing. Blocking.
    public func committed(
        _ partitions: Set<KafkaTopicPartition>,
        within time: Duration
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        let list = RDKafkaTopicPartitionList(partitions)
        try KafkaError.check(
            rd_kafka_committed(handle.pointer, list.pointer, time.librdkafkaMilliseconds),
            doing: "committed offsets"
        )
        var found: [KafkaTopicPartition: Int64] = [:]
        for element in RDKafkaTopicPartitionList.elements(of: list.pointer) {
            try KafkaError.check(element.error, doing: "the committed offset of \(element.place)")
            if element.offset >= 0 { found[element.place] = element.offset }
        }
        return found
    }

    /// The first offset that a partition holds and the one after its last, asked from the broker; blocking.
    public func watermarks(
        of place: KafkaTopicPartition,
        within time: Duration
    ) throws(KafkaError) -> (low: Int64, high: Int64) {
        var (low, high): (Int64, Int64) = (0, 0)
        try KafkaError.check(
            rd_kafka_query_watermark_offsets(
                handle.pointer, place.topic, place.partition, &low, &high, time.librdkafkaMilliseconds
            ),
            doing: "watermarks of \(place)"
        )
        return (low, high)
    }

    /// The same as the last fetch told it; nil before there was one.
    public func cachedWatermarks(of place: KafkaTopicPartition) -> (low: Int64, high: Int64)? {
        var (low, high): (Int64, Int64) = (-1, -1)
        guard
            rd_kafka_get_watermark_offsets(handle.pointer, place.topic, place.partition, &low, &high)
                == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0
        else { return nil }
        return (max(0, low), high)
    }

    /// How many partitions a topic has; blocking.
    public func partitionCount(of topic: String, within time: Duration) throws(KafkaError) -> Int32 {
        try handle.partitionCount(of: topic, within: time)
    }

    // MARK: - The end

    /// Leaves the group, the revoke hook first, and frees the client; never longer than the time, blocking.
    public func close(within time: Duration) {
        guard isOpen else { return }
        isOpen = false
        let deadline = ContinuousClock.now.advanced(by: time)
        if rebalance.onRevoke != nil {
            rd_kafka_unsubscribe(handle.pointer)
            // The hook runs in these polls; records are left for the next owner.
            while !rebalance.assignment.isEmpty, ContinuousClock.now < deadline {
                if let message = rd_kafka_consumer_poll(handle.pointer, 50) { rd_kafka_message_destroy(message) }
            }
        }
        rebalance.onAssign = nil
        rebalance.onRevoke = nil
        let done = DispatchSemaphore(value: 0)
        let thread = Thread { [handle] in
            // May block beyond every bound in 2.0.2 when the coordinator is away, and touches a broker that is gone;
            // therefore last, and on a thread that can be left behind.
            rd_kafka_consumer_close(handle.pointer)
            handle.destroy(withoutClosingConsumer: true)
            done.signal()
        }
        thread.start()
        let left = max(.milliseconds(200), deadline - .now)
        if done.wait(timeout: .now() + .milliseconds(Int(left.librdkafkaMilliseconds))) == .timedOut {
            logger.warning("the consumer did not close in time; its thread is left behind")
        }
    }
}
