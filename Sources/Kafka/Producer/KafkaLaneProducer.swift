import CRDKafka
public import Logging

/// A topic that a lane producer resolved once; valid for that producer only.
public struct KafkaTopicHandle: Sendable, Hashable {
    fileprivate let index: Int
}

/// What became of one record.
public struct KafkaDeliveryReport {
    /// As it was given with the record.
    public var tag: UInt
    /// nil when the record is acknowledged.
    public var error: KafkaError?
    /// Where the record was to go; -1 when that was not decided yet.
    public var partition: Int32
    /// The record's offset; -1 when there is none.
    public var offset: Int64

    /// A report as a producer would give it; for what stands in for one.
    public init(tag: UInt, error: KafkaError?, partition: Int32, offset: Int64) {
        self.tag = tag
        self.error = error
        self.partition = partition
        self.offset = offset
    }
}

/// A producer for the hot path: one thread owns it, `enqueue` never waits, reports come in batches.
///
/// Each record that `enqueue` took is reported exactly once: by `serveReports`, `flush` or `close`. What librdkafka buffers is
/// bounded by the configuration; beyond it `enqueue` throws `.queueFull`. On the Swift side a record costs no allocation.
///
/// ## What a fatal error can repeat
/// librdkafka's idempotent producer fails for good when it cannot tell whether a batch was written: after a timeout or a
/// disconnect in a bad moment, or when the broker forgot the producer. The client is then made anew inside `serveReports`,
/// at growing intervals of up to 5 s while that fails, and every record without an acknowledgement is published again,
/// in the order of its first publication and under the same tag, ahead of what is new. Until then `enqueue` throws
/// `.queueFull`.
///
/// - Nothing is lost, and nothing that was acknowledged is published again.
/// - A record that the broker had written, and whose acknowledgement was lost, is then there twice: the new client has
///   another producer id, so the broker cannot know it. At most what was in flight is concerned (5 batches a broker), and
///   in each partition the copies follow the first records as one run, so a reader sees records `1 2 3 2 3 4`, not `1 3 2`.
/// - Without a fatal error the broker drops what librdkafka's own retries repeat.
///
/// Records that can never be written (too large, no such partition, not authorized) and those that ran out of their
/// delivery timeout are reported with their error and not published again.
///
/// ## What nobody acknowledged
/// When a batch is refused and a later one of its partition, already under way, is written, librdkafka reports the first as
/// acknowledged too, without an offset: right where only the reply was lost, wrong where a new producer met a leader that
/// did not know yet that it is one (confluent-kafka-go issue 921). Here such a record is reported as `.unconfirmed`; what
/// became of it only a reader can tell. It cannot happen with one request in flight.
///
/// ## With a transactional id
/// Records are taken only between `beginTransaction` and `commitTransaction` or `abortTransaction`, and nothing is published
/// again: after a fatal error each call that can throw throws it, what is outstanding is reported with an error by
/// `serveReports`, and the owner closes this producer and makes another. `KafkaTransactionPolicy` says what to do after
/// which error.
public final class KafkaLaneProducer {
    private let configuration: KafkaProducerConfiguration
    private let logger: Logger
    /// Called on librdkafka's threads when there are reports.
    private let wake: (@Sendable () -> Void)?
    /// What is unconfirmed is published again, behind what followed it, instead of reported.
    private let repeatsUnconfirmed: Bool
    /// Hears of records that the broker did not take for their size.
    private let ceiling: KafkaRecordCeiling?
    /// What librdkafka counts of a record at most.
    public let maximumRecordBytes: Int
    /// Called with the new client's handle before the old client goes.
    var onRecreation: ((RDKafkaHandle) -> Void)?

    private(set) var client: RDKafkaProducerClient
    private var topicNames: [String] = []
    private var records = OutstandingRecords()
    /// Waiting to be published again; in order once the failed client is gone.
    private var replay: [(record: KafkaProducerRecord, entry: OutstandingRecords.Entry)] = []
    /// Of the failures in a row: no acknowledgement came since.
    private var failingSince: ContinuousClock.Instant?
    private var nextRecreation = ContinuousClock.now
    private var pause = Duration.milliseconds(50)
    private var isPurged = false
    private var nextPurge = ContinuousClock.now
    private var isClosing = false
    private(set) var isClosed = false

    private let isIdempotent: Bool
    /// In the transaction at hand, which librdkafka would commit.
    var unconfirmed: KafkaError?

    var isTransactional: Bool { configuration.transactionalID != nil }

    /// How often the client was made anew after a fatal error.
    public private(set) var recreations = 0

    /// Handed over and not yet reported.
    public var outstanding: Int { records.count + replay.count }

    /// - Parameter ceiling: what is known of the size of records; the configuration's when it is not given.
    /// - Throws: `KafkaError` that names a property librdkafka does not take. It does not connect.
    public convenience init(
        configuration: KafkaProducerConfiguration,
        ceiling: KafkaRecordCeiling? = nil,
        logger: Logger
    ) throws(KafkaError) {
        try self.init(
            configuration: configuration,
            ceiling: ceiling,
            logger: logger,
            wake: nil,
            repeatsUnconfirmed: false
        )
    }

    init(
        configuration: KafkaProducerConfiguration,
        ceiling: KafkaRecordCeiling?,
        logger: Logger,
        wake: (@Sendable () -> Void)?,
        repeatsUnconfirmed: Bool
    ) throws(KafkaError) {
        var configuration = configuration
        if let ceiling, ceiling.bytes < configuration.maximumRecordBytes {
            configuration.maximumRecordBytes = ceiling.bytes
        }
        self.configuration = configuration
        self.ceiling = ceiling
        maximumRecordBytes = configuration.maximumRecordBytes
        self.logger = logger
        self.wake = wake
        self.repeatsUnconfirmed = repeatsUnconfirmed
        isIdempotent = configuration.isIdempotent
        client = try RDKafkaProducerClient(configuration, logger: logger, wake: wake)
    }

    deinit {
        // The client is freed on a thread of its own; what it still held is lost.
        guard !isClosed, outstanding > 0 else { return }
        logger.error("a producer was forgotten without close", metadata: ["lost": "\(outstanding)"])
    }

    /// Resolves a topic for `enqueue`. It need not exist yet.
    ///
    /// - Throws: `KafkaError` for an unusable name, `.destroyed` after `close`.
    public func topic(_ name: String) throws(KafkaError) -> KafkaTopicHandle {
        try checkUsable()
        if let index = topicNames.firstIndex(of: name) { return KafkaTopicHandle(index: index) }
        try client.addTopic(name)
        topicNames.append(name)
        return KafkaTopicHandle(index: topicNames.count - 1)
    }

    /// How many partitions a topic has, asked from the broker; blocking. Asked once at the start, it also spares the first
    /// record the wait for the topic's metadata.
    ///
    /// - Throws: `KafkaError`, retriable while no broker answers.
    public func partitionCount(of topic: String, within time: Duration) throws(KafkaError) -> Int32 {
        try checkUsable()
        return try client.handle.partitionCount(of: topic, within: time)
    }

    /// Hands a record over; its bytes are copied. Never waits.
    ///
    /// - Parameters:
    ///   - partition: 0 or more, or -1 to let the key decide.
    ///   - value: nil for a tombstone.
    ///   - timestamp: milliseconds since 1970; nil or 0 for now.
    ///   - tag: comes back in the report.
    /// - Throws: `.queueFull` as backpressure: serve reports and try again. `.destroyed` after `close`. Other codes for what
    ///   can never be sent. With a transactional id the fatal error, and `.state` outside of a transaction, or when the
    ///   transaction has failed meanwhile and can only be aborted.
    public func enqueue(
        topic: KafkaTopicHandle,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: KafkaHeaderBuffer,
        timestamp: Int64? = nil,
        tag: UInt
    ) throws(KafkaError) {
        try checkUsable()
        // What is published again goes first, or its order would be lost.
        guard replay.isEmpty, !client.hasFailed else { throw .queueIsFull }
        try produce(topic.index, partition, key, value, headers, timestamp, tag, nil)
    }

    private func produce(
        _ topic: Int,
        _ partition: Int32,
        _ key: [UInt8]?,
        _ value: [UInt8]?,
        _ headers: KafkaHeaderBuffer,
        _ timestamp: Int64?,
        _ tag: UInt,
        _ sequence: UInt64?
    ) throws(KafkaError) {
        guard partition >= -1, topic < topicNames.count else {
            throw KafkaError(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, doing: "publish to partition \(partition)")
        }
        let slot = records.insert(tag: tag, sequence: sequence)
        do throws(KafkaError) {
            try client.produce(topic, partition, key, value, headers, timestamp, slot)
        } catch {
            _ = records.remove(slot)
            if isTransactional, let fatal = client.fatalError { throw fatal }
            throw error
        }
    }

    /// - Throws: `.destroyed` after `close`; the fatal error that a transactional producer does not mend.
    func checkUsable() throws(KafkaError) {
        guard !isClosed else { throw .clientIsClosed }
        if isTransactional, client.hasFailed, let fatal = client.fatalError { throw fatal }
    }

    /// Serves the reports that are there, waiting at most so long for the first. It also mends a client that failed.
    ///
    /// - Parameter body: called once for each report; it may not call this producer.
    public func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        guard !isClosed else { return }
        serve(within: time, body)
        if client.hasFailed {
            if isTransactional { giveUpOutstanding(body) } else { recover(body) }
        }
        if !replay.isEmpty, !client.hasFailed { publishAgain(body) }
    }

    /// For what asks the cluster from another thread; another one after a recreation.
    var handle: RDKafkaHandle { client.handle }

    /// It has more to do than to wait for reports.
    var isRecovering: Bool { client.hasFailed || !replay.isEmpty }

    /// Serves reports until none is outstanding; librdkafka sends at the latest after `linger`.
    ///
    /// - Returns: false when time ran out.
    public func flush(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) -> Bool {
        let deadline = ContinuousClock.now.advanced(by: time)
        while outstanding > 0 {
            let left = deadline - .now
            guard left > .zero, !isClosed else { return false }
            serveReports(within: min(left, .milliseconds(50)), body)
        }
        return true
    }

    /// Flushes, gives up on the rest, and frees the client; blocking, at most half a second longer than the time.
    ///
    /// - Parameter body: called for what was still outstanding; what was given up has an error: `.purgedFromQueue`, or
    ///   `.purgedInFlight` when it may have been written.
    public func close(within time: Duration, _ body: (KafkaDeliveryReport) -> Void = { _ in }) {
        guard !isClosed else { return }
        let deadline = ContinuousClock.now.advanced(by: time)
        if !flush(within: time, body) {
            logger.warning("records were not acknowledged before the end", metadata: ["outstanding": "\(outstanding)"])
            isClosing = true
            client.purge()
            let end = ContinuousClock.now.advanced(by: .milliseconds(300))
            while records.count > 0, ContinuousClock.now < end { serve(within: .milliseconds(50), body) }
            for (record, entry) in replay { giveUp(entry, record.partition ?? -1, body) }
            replay = []
            for entry in records.removeAll() { giveUp(entry, -1, body) }
        }
        isClosed = true
        if !client.destroy(within: max(deadline - .now, .milliseconds(200))) {
            logger.warning("the producer did not end in time; its thread is left behind")
        }
    }

    private func giveUp(_ entry: OutstandingRecords.Entry, _ partition: Int32, _ body: (KafkaDeliveryReport) -> Void) {
        let error = KafkaError(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, doing: "publish before the end")
        body(KafkaDeliveryReport(tag: entry.tag, error: error, partition: partition, offset: -1))
    }

    /// For tests: makes the client fail as an idempotent producer can.
    func failForTest(_ reason: String) {
        client.handle.failForTest(reason)
    }

    // MARK: - Reports and recovery

    func serve(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        client.poll(within: time) { message, slot in
            guard let entry = records.remove(slot) else { return }
            let code = message.pointee.err
            var error: KafkaError?
            if code == RD_KAFKA_RESP_ERR_NO_ERROR, isIdempotent, message.pointee.offset < 0 {
                if repeatsUnconfirmed, !isClosing {
                    logger.warning("a record that nobody acknowledged is published again")
                    replay.append((RDKafkaProducerClient.record(from: message), entry))
                    return
                }
                error = .unconfirmed(in: RDKafkaProducerClient.topic(of: message))
                if isTransactional { unconfirmed = error }
            } else if code == RD_KAFKA_RESP_ERR_NO_ERROR {
                (failingSince, pause) = (nil, .milliseconds(50))
            } else if client.hasFailed, !isClosing, !isTransactional, RDKafkaProducerClient.isOfClient(code) {
                replay.append((RDKafkaProducerClient.record(from: message), entry))
                return
            } else {
                error = KafkaError(code, doing: "publish to \(RDKafkaProducerClient.topic(of: message))")
                if error?.code == .messageTooLarge { ceiling?.refused(at: maximumRecordBytes) }
            }
            body(
                KafkaDeliveryReport(
                    tag: entry.tag,
                    error: error,
                    partition: message.pointee.partition,
                    offset: message.pointee.offset
                )
            )
        }
    }

    /// Takes back what the failed client holds, over several calls, and makes another.
    private func recover(_ body: (KafkaDeliveryReport) -> Void) {
        if !isPurged {
            isPurged = true
            let metadata: Logger.Metadata = [
                "outstanding": "\(outstanding)", "reason": "\(client.fatalReason ?? "unknown")",
            ]
            logger.error("the producer failed for good and is made anew", metadata: metadata)
            nextPurge = .now
        }
        // All that was not acknowledged is in `replay` when none is left.
        takeBack(body)
        let now = ContinuousClock.now
        guard records.count == 0, now >= nextRecreation else { return }
        replay.sort { $0.entry.sequence < $1.entry.sequence }
        failingSince = failingSince ?? now
        failOverdue(at: now, body)
        // A cluster that refuses each new client is not asked without end.
        nextRecreation = now.advanced(by: pause)
        pause = min(pause * 2, .seconds(5))
        do throws(KafkaError) {
            let fresh = try RDKafkaProducerClient(configuration, logger: logger, wake: wake)
            for name in topicNames { try fresh.addTopic(name) }
            onRecreation?(fresh.handle)
            client.destroy(within: .zero)
            client = fresh
            isPurged = false
            recreations += 1
        } catch {
            // The same configuration worked before; tried again at a later call.
            logger.critical("the producer could not be made anew", metadata: ["error": "\(error)"])
        }
    }

    /// What a failed client holds comes back as reports.
    private func takeBack(_ body: (KafkaDeliveryReport) -> Void) {
        // Again and again: a purge can miss records that a broker thread moves from one queue to another at that moment,
        // and a failed client would keep them for ever.
        if nextPurge <= .now {
            nextPurge = .now.advanced(by: .milliseconds(100))
            client.purge()
        }
        if records.count > 0 { serve(within: .milliseconds(20), body) }
    }

    /// Its transaction is lost, and with it every record; the owner hears why from the next call that throws.
    private func giveUpOutstanding(_ body: (KafkaDeliveryReport) -> Void) {
        if records.count > 0 { takeBack(body) }
    }

    /// With a delivery timeout, clients that fail one after the other are no reason to wait longer.
    private func failOverdue(at now: ContinuousClock.Instant, _ body: (KafkaDeliveryReport) -> Void) {
        guard let timeout = configuration.deliveryTimeout, let failingSince, now - failingSince >= timeout else {
            return
        }
        let error = KafkaError(
            RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
            doing: "publish, after repeated fatal errors (\(client.fatalReason ?? "unknown"))"
        )
        let overdue = replay
        replay = []
        for (record, entry) in overdue {
            body(KafkaDeliveryReport(tag: entry.tag, error: error, partition: record.partition ?? -1, offset: -1))
        }
    }

    private func publishAgain(_ body: (KafkaDeliveryReport) -> Void) {
        var done = 0
        var headers = KafkaHeaderBuffer()
        loop: for (record, entry) in replay {
            headers.removeAll()
            for header in record.headers { headers.append(KafkaHeaderName(header.name), header.value) }
            let partition = record.partition ?? -1
            do throws(KafkaError) {
                let topic = try topic(record.topic).index
                try produce(
                    topic,
                    partition,
                    record.key,
                    record.value,
                    headers,
                    record.timestamp,
                    entry.tag,
                    entry.sequence
                )
            } catch {
                if error.code == .queueFull { break loop }
                body(KafkaDeliveryReport(tag: entry.tag, error: error, partition: partition, offset: -1))
            }
            done += 1
        }
        replay.removeFirst(done)
    }
}
