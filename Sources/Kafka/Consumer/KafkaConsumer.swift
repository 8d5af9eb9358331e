import CRDKafka
public import Logging
import Synchronization

/// A consumer that one thread owns and polls; `KafkaThread.run` gives such a thread. It commits only what it is told to.
///
/// The hooks of a subscription run on the polling thread, inside `poll` or `close`: a partition leaves only after its
/// revoke hook has returned. Groups use eager assignment (`range`): cooperative assignment has faults in librdkafka 2.0.2
/// that lose partitions or crash, and is refused.
///
/// Poll often: after `max.poll.interval.ms` (5 minutes) without a call the group goes on without this member, and any
/// blocking call here counts as one, so a handler that is stuck elsewhere needs a watchdog of its own. Pause instead of
/// not polling. librdkafka buffers at most `queued.max.messages.kbytes` (64 MiB).
///
/// Messages are to be gone before `close`: librdkafka cannot be freed while one is left.
public final class KafkaConsumer {
    /// Chooses where to start: offsets by partition; a partition that is missing starts at its committed offset, or where
    /// `offsetReset` says.
    public typealias AssignHook = (Set<KafkaTopicPartition>) throws -> [KafkaTopicPartition: Int64]
    /// `lost` means that another member may own the partitions already: nothing may be committed.
    public typealias RevokeHook = (Set<KafkaTopicPartition>, _ lost: Bool, _ deadline: ContinuousClock.Instant) -> Void

    let handle: RDKafkaHandle
    private let rebalance: RebalanceContext
    private let logger: Logger
    /// Ends a poll from another thread.
    public let waker: KafkaConsumerWaker
    private var isOpen = true

    /// Partitions that were read to their end since they were assigned, whatever came after; told only with
    /// `tellsEnd`. What is not visible there (markers of transactions, gaps of compaction) counts as read.
    public var atEnd: Set<KafkaTopicPartition> { Set(ends.keys) }

    private var ends: [KafkaTopicPartition: Int64] = [:]

    /// - Throws: `KafkaError` that names a property librdkafka does not take. It does not connect.
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
        logger.warning("a consumer was forgotten without close; no revoke hook ran")
        leave(within: .zero)
    }

    /// The client, for a call that needs one.
    func client() throws(KafkaError) -> OpaquePointer {
        guard isOpen else { throw .clientIsClosed }
        return handle.pointer
    }

    // MARK: - What to read

    /// Joins the group and reads the partitions it assigns.
    ///
    /// - Parameters:
    ///   - topics: names; one that begins with `^` is a pattern.
    ///   - onAssign: what it throws comes out of `poll`; nothing is then assigned: close the consumer, or subscribe again.
    ///   - onRevoke: has until the deadline to finish and commit. It may use this consumer, but not poll it.
    /// - Throws: `KafkaError` when there is no group, or no topic; `.destroyed` after `close`.
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

    /// Reads exactly these partitions from these offsets, without a group, instead of what was read before.
    ///
    /// - Parameter offsets: the next offset to read, or one of `KafkaOffset`.
    public func assign(_ offsets: [KafkaTopicPartition: Int64]) throws(KafkaError) {
        let client = try client()
        for place in offsets.keys { try KafkaError.checkName(place.topic) }
        ends = [:]
        try rebalance.assign(offsets, to: client)
    }

    /// What is read now; empty before the group assigned something and after `close`.
    public var assignment: Set<KafkaTopicPartition> { rebalance.assignment }

    // MARK: - Reading

    /// The next record, or nil when none came in time, or `waker` ended the call. Trouble that librdkafka mends itself is logged, not thrown.
    ///
    /// - Throws: `KafkaError` when reading cannot go on: `.fatal`, `.topicAuthorizationFailed`, `.autoOffsetReset`, `.destroyed`
    ///   after `close`; and what an assign hook threw.
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
            // What led to it says what to do.
            throw handle.fatalError ?? error
        case .topicAuthorizationFailed, .autoOffsetReset: throw error
        case .partitionEnd:
            ends[KafkaTopicPartition(topic: message.topic, partition: message.partition)] = message.offset
        default: rebalance.noteTrouble(error)
        }
        return nil
    }

    /// The offset that a partition was read up to when its end was last met, under the conditions of `atEnd`; nil before
    /// that, and after an assignment. It is one after the last record or marker: a `read_committed` reader whose end position
    /// reached a high watermark has read all that was below it, although the last of it may have been invisible. An open
    /// transaction holds it back.
    public func endPosition(of place: KafkaTopicPartition) -> Int64? { ends[place] }

    /// Stops fetching the partitions; what was fetched already and not polled is fetched again later, so nothing is skipped
    /// or repeated. Those that are paused already or not assigned are left alone.
    public func pause(_ partitions: Set<KafkaTopicPartition>) {
        let new = partitions.intersection(assignment).subtracting(rebalance.paused)
        guard isOpen, !new.isEmpty else { return }
        RDKafkaTopicPartitionList(new).withPointer { _ = rd_kafka_pause_partitions(handle.pointer, $0) }
        rebalance.paused.formUnion(new)
    }

    /// Goes on with those of the partitions that were paused. A partition that left and came back is not paused any more.
    public func resume(_ partitions: Set<KafkaTopicPartition>) {
        let mine = partitions.intersection(rebalance.paused)
        guard isOpen, !mine.isEmpty else { return }
        RDKafkaTopicPartitionList(mine).withPointer { _ = rd_kafka_resume_partitions(handle.pointer, $0) }
        rebalance.paused.subtract(mine)
    }

    // MARK: - Offsets

    /// Commits the offsets to the group: of each partition the next one to read.
    ///
    /// - Parameter time: nil to return at once; a failure is then logged and counted. Otherwise the call blocks until the broker answered.
    /// - Throws: `KafkaError`; `.timedOut` when no answer came: the commit may still happen.
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

    /// How many commits that were not waited for have failed; each kind of failure is logged.
    public var failedCommits: Int { rebalance.failedCommits.load(ordering: .relaxed) }

    /// The group's offsets; a partition without one is missing. Blocking.
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

    /// The first offset that a partition holds and the one after its last, asked from the broker; blocking. While leaders
    /// change it may take longer than the time in librdkafka 2.0.2: for metrics there is `cachedWatermarks`.
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

    /// The same of many partitions, with two requests a broker however many they are.
    ///
    /// - Throws: `KafkaError`, also when only one partition could not be asked.
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

    /// The same as the last fetch told it, without asking; nil before there was one.
    public func cachedWatermarks(of place: KafkaTopicPartition) -> (low: Int64, high: Int64)? {
        var (low, high): (Int64, Int64) = (-1, -1)
        guard isOpen,
            rd_kafka_get_watermark_offsets(handle.pointer, place.topic, place.partition, &low, &high)
                == RD_KAFKA_RESP_ERR_NO_ERROR, high >= 0
        else { return nil }
        return (max(0, low), high)
    }

    /// How many records of a partition are still to be read, as the last fetch told; nil before there was one. Offsets that no
    /// reader is shown (markers of transactions, gaps of compaction) count until the end was met, which is told only with
    /// `tellsEnd`.
    ///
    /// - Parameter position: the offset after the last record that was read.
    public func lag(of place: KafkaTopicPartition, after position: Int64) -> Int64? {
        cachedWatermarks(of: place).map { Self.lag(of: position, end: ends[place], high: $0.high) }
    }

    /// - Parameter end: where the end was last met.
    package static func lag(of position: Int64, end: Int64?, high: Int64) -> Int64 {
        max(0, high - max(position, end ?? 0))
    }

    /// Of each partition the offset of its first record that is not older than the time; blocking. A partition that holds none
    /// is missing.
    ///
    /// - Parameter timestamp: milliseconds since 1970, 0 or more.
    /// - Throws: `KafkaError`, also when only one partition could not be asked.
    public func offsets(
        of partitions: Set<KafkaTopicPartition>,
        since timestamp: Int64,
        within time: Duration
    ) throws(KafkaError) -> [KafkaTopicPartition: Int64] {
        // A negative one would mean the beginning or the end.
        guard timestamp >= 0 else {
            throw KafkaError(code: .invalidArgument, reason: "offsets by time: a timestamp is 0 or more")
        }
        return try listOffsets(partitions, timestamp, within: time, doing: "offsets by time")
    }

    /// - Parameter timestamp: or one of Kafka's marks for the beginning and the end.
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

    /// What the cluster calls itself; nil when it did not say so in time. Blocking.
    public func clusterID(within time: Duration) throws(KafkaError) -> String? {
        guard let text = rd_kafka_clusterid(try client(), time.librdkafkaMilliseconds) else { return nil }
        defer { rd_kafka_mem_free(handle.pointer, text) }
        return String(cString: text)
    }

    /// How many partitions a topic has; blocking. A broker that makes topics by itself makes one that is not there.
    public func partitionCount(of topic: String, within time: Duration) throws(KafkaError) -> Int32 {
        _ = try client()
        return try handle.partitionCount(of: topic, within: time)
    }

    /// The partitions of all topics that the broker knows, by name; blocking. Unlike a question for one topic it makes none.
    public func partitionCounts(within time: Duration) throws(KafkaError) -> [String: Int32] {
        _ = try client()
        return try handle.partitionCounts(within: time)
    }

    // MARK: - The end

    /// Leaves the group, the revoke hook first, and frees the client; blocking, never more than 0.2 s longer than the time.
    ///
    /// Commit before this: in librdkafka 2.0.2 leaving can hang, or crash, when the coordinator goes away meanwhile. It
    /// therefore comes last, on a thread that is left behind when time runs out; the process may then end.
    public func close(within time: Duration) {
        guard isOpen else { return }
        let deadline = ContinuousClock.now.advanced(by: time)
        if rebalance.onRevoke != nil {
            rebalance.limit = deadline
            rd_kafka_unsubscribe(handle.pointer)
            // The hook runs in these polls; records are left for the next owner.
            while !rebalance.assignment.isEmpty, ContinuousClock.now < deadline {
                if let message = rd_kafka_consumer_poll(handle.pointer, 50) { rd_kafka_message_destroy(message) }
            }
        }
        if !leave(within: max(.milliseconds(200), deadline - .now)) {
            logger.warning("the consumer did not close in time; its thread is left behind")
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
