import CRDKafka
public import Logging
import Synchronization

/// A consumer that one thread owns and polls; `KafkaThread.run` provides such a thread. It commits only the offsets it
/// is given.
///
/// The hooks of a subscription run on the polling thread, inside `poll` or `close`. A partition is revoked only after
/// the revoke hook has returned. Groups use eager assignment (`range`); the configuration rejects cooperative
/// assignment, because bugs in librdkafka 2.0.2 lose partitions or crash.
///
/// Poll often: after `max.poll.interval.ms` (5 minutes) without a call the group removes this member. Any blocking call
/// here counts as a poll, so a handler that is stuck elsewhere needs its own watchdog. Pause partitions instead of not
/// polling. librdkafka buffers at most `queued.max.messages.kbytes` (64 MiB).
///
/// Release all messages before `close`: librdkafka cannot be freed while a message exists.
public final class KafkaConsumer {
    /// Chooses the start offsets by partition. A partition without an entry starts at its committed offset, or as
    /// `offsetReset` says.
    public typealias AssignHook = (Set<KafkaTopicPartition>) throws -> [KafkaTopicPartition: Int64]
    /// `lost` means that another member may own the partitions already: do not commit.
    public typealias RevokeHook = (Set<KafkaTopicPartition>, _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void

    let handle: RDKafkaHandle
    private let rebalance: RebalanceContext
    private let logger: Logger
    /// Ends a poll from another thread.
    public let waker: KafkaConsumerWaker
    private var isOpen = true

    /// Partitions that were read to their end at least once since their assignment; only with `tellsEnd`. Entries that
    /// are not visible (transaction markers, compaction gaps) count as read.
    public var atEnd: Set<KafkaTopicPartition> { Set(ends.keys) }

    private var ends: [KafkaTopicPartition: Int64] = [:]

    /// - Throws: `KafkaError` that names a property librdkafka rejects. It does not connect.
    public init(configuration: KafkaConsumerConfiguration, logger: Logger) throws(KafkaError) {
        self.logger = logger
        let strategy = "partition.assignment.strategy"
        guard configuration.client.properties[strategy]?.contains("cooperative") != true else {
            let reason = "kafka property \(strategy): cooperative assignment is not supported; use range or roundrobin"
            throw KafkaError(code: .invalidArgument, reason: reason)
        }
        let rebalance = RebalanceContext(logger: logger, revokeTimeout: configuration.revokeTimeout)
        handle = try RDKafkaHandle(
            RD_KAFKA_CONSUMER,
            properties: configuration.properties,
            context: rebalance,
            prepare: RebalanceContext.register(on:)
        )
        self.rebalance = rebalance
        waker = KafkaConsumerWaker(of: handle.pointer)
        try KafkaError.check(rd_kafka_poll_set_consumer(handle.pointer), doing: "the consumer's queue")
    }

    deinit {
        guard isOpen else { return }
        logger.warning("a consumer was released without close; its revoke hook did not run")
        leave(within: .zero)
    }

    /// The open client.
    func client() throws(KafkaError) -> OpaquePointer {
        guard isOpen else { throw .clientIsClosed }
        return handle.pointer
    }

    // MARK: - What to read

    /// Joins the group and reads the partitions it assigns.
    ///
    /// - Parameters:
    ///   - topics: names; a name that begins with `^` is a pattern.
    ///   - onAssign: `poll` throws the hook's error. Nothing is assigned then: close the consumer, or subscribe again.
    ///   - onRevoke: must finish and commit before the deadline. It may use this consumer, but not poll it.
    /// - Throws: `KafkaError` when the group or the topics are missing; `.destroyed` after `close`.
    public func subscribe(
        to topics: [String],
        onAssign: @escaping AssignHook = { _ in [:] },
        onRevoke: @escaping RevokeHook = { _, _, _ in }
    ) throws(KafkaError) {
        let client = try client()
        for topic in topics { try KafkaError.checkName(topic) }
        let list = RDKafkaTopicPartitionList(topics.map { KafkaTopicPartition(topic: $0, partition: -1) })
        rebalance.onAssign = { [unowned self] places in
            ends = [:]
            return try onAssign(places)
        }
        rebalance.onRevoke = onRevoke
        try KafkaError.check(
            list.withPointer { rd_kafka_subscribe(client, $0) },
            doing: "subscribe to \(topics.joined(separator: ", "))"
        )
    }

    /// Reads exactly these partitions from these offsets, without a group. Replaces the previous assignment.
    ///
    /// - Parameter offsets: the next offset to read, or one of `KafkaOffset`.
    public func assign(_ offsets: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        let client = try client()
        for place in offsets.keys { try KafkaError.checkName(place.topic) }
        ends = [:]
        try rebalance.assign(offsets, to: client)
    }

    /// The current partitions; empty before the group assigned any and after `close`.
    public var assignment: Set<KafkaTopicPartition> { rebalance.assignment }

    // MARK: - Reading

    /// The next record, or nil when none arrived in time or `waker` ended the call. Errors that librdkafka recovers from are
    /// logged, not thrown.
    ///
    /// - Throws: `KafkaError` when reading cannot continue: `.fatal`, `.topicAuthorizationFailed`, `.autoOffsetReset`,
    ///   `.destroyed` after `close`; and the error of an assign hook.
    public func poll(within time: Duration) throws -> KafkaMessage? {
        let polled = rd_kafka_consumer_poll(try client(), time.librdkafkaMilliseconds)
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
        case .fatal:
            // The original error says more than `.fatal`.
            throw handle.fatalError ?? error
        case .topicAuthorizationFailed, .autoOffsetReset: throw error
        case .partitionEnd:
            ends[KafkaTopicPartition(topic: message.topic, partition: message.partition)] = message.offset
        default: rebalance.noteTrouble(error)
        }
        return nil
    }

    /// The position at which the partition's end was last reached, under the conditions of `atEnd`; nil before that,
    /// and after an assignment. The position is one after the last record or marker: when a `read_committed` reader's
    /// end position reaches a high watermark, it has read everything below it, even if the last entries were invisible.
    /// An open transaction holds the end position back.
    public func endPosition(of place: KafkaTopicPartition) -> Int64? { ends[place] }

    /// Stops fetching the partitions. Records that were fetched but not polled are fetched again later, so none is
    /// skipped or repeated. Ignores partitions that are paused already or not assigned.
    ///
    /// Inside an assign hook it is about the new assignment: none of the records is polled before `resume`.
    public func pause(_ partitions: Set<KafkaTopicPartition>) {
        guard isOpen else { return }
        guard rebalance.pausedAtAssignment == nil else {
            rebalance.pausedAtAssignment?.formUnion(partitions)
            return
        }
        rebalance.pause(partitions.intersection(assignment).subtracting(rebalance.paused), on: handle.pointer)
    }

    /// Resumes the paused ones among these partitions. Revocation ends the pause of a partition.
    public func resume(_ partitions: Set<KafkaTopicPartition>) {
        rebalance.pausedAtAssignment?.subtract(partitions)
        let mine = partitions.intersection(rebalance.paused)
        guard isOpen, !mine.isEmpty else { return }
        RDKafkaTopicPartitionList(mine).withPointer { _ = rd_kafka_resume_partitions(handle.pointer, $0) }
        rebalance.paused.subtract(mine)
    }

    // MARK: - Offsets

    /// Commits offsets to the group.
    ///
    /// - Parameters:
    ///   - offsets: for each partition the next offset to read.
    ///   - time: nil to return at once; a failure is then logged and counted. Otherwise the call blocks until the broker
    ///     answers.
    /// - Throws: `KafkaError`; `.timedOut` when no answer arrived: the commit may still happen.
    public func commit(_ offsets: [KafkaTopicPartition: Int64], within time: Duration?) throws(KafkaError) {
        let client = try client()
        guard !offsets.isEmpty else { return }
        let list = RDKafkaTopicPartitionList(offsets)
        guard let time else {
            try KafkaError.check(list.withPointer { rd_kafka_commit(client, $0, 1) }, doing: "commit offsets")
            return
        }
        guard let queue = rd_kafka_queue_new(client) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: "commit offsets")
        }
        defer { rd_kafka_queue_destroy(queue) }
        try KafkaError.check(
            list.withPointer { rd_kafka_commit_queue(client, $0, queue, nil, nil) },
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

    /// The number of failed commits among those without a wait; each kind of failure is logged.
    public var failedCommits: Int { rebalance.failedCommits.load(ordering: .relaxed) }

    /// The group's offsets, without the partitions that have none. Blocking.
    public func committed(
        _ partitions: Set<KafkaTopicPartition>,
        within time: Duration
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        let client = try client()
        guard !partitions.isEmpty else { return [:] }
        let list = RDKafkaTopicPartitionList(partitions)
        try KafkaError.check(
            list.withPointer { rd_kafka_committed(client, $0, time.librdkafkaMilliseconds) },
            doing: "committed offsets"
        )
        var found: [KafkaTopicPartition: Int64] = [:]
        for element in list.elements {
            try KafkaError.check(element.error, doing: "the committed offset of \(element.place)")
            if element.offset >= 0 { found[element.place] = element.offset }
        }
        return found
    }

    /// The first offset of a partition and the one after its last, requested from the broker; blocking. With librdkafka
    /// 2.0.2 it may take longer than the time while leaders change: use `cachedWatermarks` for metrics.
    public func watermarks(
        of place: KafkaTopicPartition,
        within time: Duration
    ) throws(KafkaError) -> (low: Int64, high: Int64) {
        let client = try client()
        try KafkaError.checkName(place.topic)
        var (low, high): (Int64, Int64) = (0, 0)
        try KafkaError.check(
            rd_kafka_query_watermark_offsets(
                client,
                place.topic,
                place.partition,
                &low,
                &high,
                time.librdkafkaMilliseconds
            ),
            doing: "watermarks of \(place)"
        )
        return (low, high)
    }

    /// The same for many partitions, with two requests per broker, however many partitions there are.
    ///
    /// - Throws: `KafkaError`, even if only one partition failed.
    public func watermarks(
        of partitions: Set<KafkaTopicPartition>,
        within time: Duration
    ) throws(KafkaError) -> [KafkaTopicPartition: (low: Int64, high: Int64)] {
        let deadline = ContinuousClock.now.advanced(by: time)
        let lows = try listOffsets(partitions, Int64(RD_KAFKA_OFFSET_BEGINNING), within: time, doing: "low watermarks")
        let highs = try listOffsets(
            partitions,
            Int64(RD_KAFKA_OFFSET_END),
            within: deadline - .now,
            doing: "high watermarks"
        )
        var found: [KafkaTopicPartition: (low: Int64, high: Int64)] = [:]
        for place in partitions {
            guard let low = lows[place], let high = highs[place] else {
                throw KafkaError(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, doing: "watermarks of \(place)")
            }
            found[place] = (low, high)
        }
        return found
    }

    /// The same from the last fetch, without a request; nil before the first fetch.
    public func cachedWatermarks(of place: KafkaTopicPartition) -> (low: Int64, high: Int64)? {
        var (low, high): (Int64, Int64) = (-1, -1)
        guard isOpen,
            rd_kafka_get_watermark_offsets(handle.pointer, place.topic, place.partition, &low, &high)
                == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0
        else { return nil }
        return (max(0, low), high)
    }

    /// The number of unread records of a partition, from the last fetch; nil before the first fetch. Offsets that no
    /// reader sees (transaction markers, compaction gaps) count until the end is reached, which is only known with
    /// `tellsEnd`.
    ///
    /// - Parameters:
    ///   - place: an assigned partition.
    ///   - position: the offset after the last record that was read.
    public func lag(of place: KafkaTopicPartition, after position: Int64) -> Int64? {
        cachedWatermarks(of: place).map { Self.lag(of: position, end: ends[place], high: $0.high) }
    }

    /// - Parameter end: the last reached end position.
    package static func lag(of position: Int64, end: Int64?, high: Int64) -> Int64 {
        max(0, high - max(position, end ?? 0))
    }

    /// For each partition the offset of its first record at or after the time; blocking. The result has no entry for a
    /// partition without such a record.
    ///
    /// - Parameters:
    ///   - partitions: the partitions to look in.
    ///   - timestamp: milliseconds since 1970, 0 or more.
    ///   - time: how long the call may block.
    /// - Throws: `KafkaError`, even if only one partition failed.
    public func offsets(
        of partitions: Set<KafkaTopicPartition>,
        since timestamp: Int64,
        within time: Duration
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        // A negative value would mean the beginning or the end.
        guard timestamp >= 0 else {
            throw KafkaError(code: .invalidArgument, reason: "offsets by time: the timestamp must be 0 or more")
        }
        return try listOffsets(partitions, timestamp, within: time, doing: "offsets by time")
    }

    /// - Parameter timestamp: or Kafka's constants for the beginning and the end.
    private func listOffsets(
        _ partitions: Set<KafkaTopicPartition>,
        _ timestamp: Int64,
        within time: Duration,
        doing what: String
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        let client = try client()
        for place in partitions { try KafkaError.checkName(place.topic) }
        guard !partitions.isEmpty else { return [:] }
        let list = RDKafkaTopicPartitionList(partitions, offset: timestamp)
        try KafkaError.check(
            list.withPointer { rd_kafka_offsets_for_times(client, $0, time.librdkafkaMilliseconds) },
            doing: what
        )
        var found: [KafkaTopicPartition: Int64] = [:]
        for element in list.elements {
            try KafkaError.check(element.error, doing: "\(what) of \(element.place)")
            if element.offset >= 0 { found[element.place] = element.offset }
        }
        return found
    }

    /// The cluster id; nil when the broker did not report one in time. Blocking.
    public func clusterID(within time: Duration) throws(KafkaError) -> String? {
        guard let text = rd_kafka_clusterid(try client(), time.librdkafkaMilliseconds) else { return nil }
        defer { rd_kafka_mem_free(handle.pointer, text) }
        return String(cString: text)
    }

    /// The number of partitions of a topic; blocking. A broker with automatic topic creation creates a missing topic.
    public func partitionCount(of topic: String, within time: Duration) throws(KafkaError) -> Int32 {
        _ = try client()
        return try handle.partitionCount(of: topic, within: time)
    }

    /// The partitions of all topics that the broker knows, by name; blocking. Unlike a request for one topic it creates
    /// none.
    public func partitionCounts(within time: Duration) throws(KafkaError) -> [String: Int32] {
        _ = try client()
        return try handle.partitionCounts(within: time)
    }

    // MARK: - The end

    /// Runs the revoke hook, leaves the group and frees the client; blocking, at most 0.2 s longer than the time.
    ///
    /// Commit before this: in librdkafka 2.0.2 leaving can hang or crash when the coordinator disappears meanwhile.
    /// Leaving is therefore the last step, on a thread that is abandoned when time runs out; the process may then exit.
    public func close(within time: Duration) {
        guard isOpen else { return }
        let deadline = ContinuousClock.now.advanced(by: time)
        if rebalance.onRevoke != nil {
            rebalance.limit = deadline
            rd_kafka_unsubscribe(handle.pointer)
            // The hook runs in these polls; the records stay for the next owner.
            while !rebalance.assignment.isEmpty, ContinuousClock.now < deadline {
                if let message = rd_kafka_consumer_poll(handle.pointer, 50) { rd_kafka_message_destroy(message) }
            }
        }
        if !leave(within: max(.milliseconds(200), deadline - .now)) {
            logger.warning("the consumer did not close in time; its thread was abandoned")
        }
    }

    @discardableResult
    private func leave(within time: Duration) -> Bool {
        isOpen = false
        waker.close()
        rebalance.isClosing.store(true, ordering: .releasing)
        rebalance.forget()
        return handle.destroyElsewhere(within: time, withoutClosingConsumer: true) { [handle] in
            rd_kafka_consumer_close(handle.pointer)
        }
    }
}
