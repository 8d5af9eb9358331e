import CRDKafka
public import Logging

/// A topic that a lane producer has resolved; valid for that producer only.
public struct KafkaTopicHandle: Sendable, Hashable {
    fileprivate let index: Int
}

/// The outcome of one record.
public struct KafkaDeliveryReport {
    /// The tag that was passed with the record.
    public var tag: UInt
    /// nil when the record is acknowledged.
    public var error: KafkaError?
    /// The record's partition; -1 when none was chosen yet.
    public var partition: Int32
    /// The record's offset; -1 when there is none.
    public var offset: Int64

    /// A report as a producer would create it, for substitutes of a producer.
    public init(tag: UInt, error: KafkaError?, partition: Int32, offset: Int64) {
        self.tag = tag
        self.error = error
        self.partition = partition
        self.offset = offset
    }
}

/// A producer for the hot path: one thread owns it, `enqueue` never waits, reports arrive in batches.
///
/// Every record that `enqueue` accepted is reported exactly once: by `serveReports`, `flush` or `close`. The
/// configuration bounds librdkafka's buffer; when it is full, `enqueue` throws `.queueFull`. On the Swift side a record
/// costs no allocation.
///
/// ## Duplicates after a fatal error
/// librdkafka's idempotent producer fails permanently when it cannot tell whether a batch was written: after a timeout
/// or a disconnect at a bad moment, or when the broker has lost the producer's state. `serveReports` then replaces the
/// client; while that fails, it retries at growing intervals of up to 5 s. It publishes every unacknowledged record
/// again, in the order of first publication and with the same tag, before any new record. Until then `enqueue` throws
/// `.queueFull`.
///
/// - No record is lost, and no acknowledged record is published again.
/// - If the broker had written a record and its acknowledgement was lost, the record is then there twice: the new
///   client has another producer id, so the broker cannot recognize the copy. This concerns at most the batches in
///   flight (5 per broker). In each partition the copies follow the originals as one run, so a reader sees records `1 2
///   3 2 3 4`, not `1 3 2`.
/// - Without a fatal error the broker drops the duplicates of librdkafka's own retries.
///
/// Records that can never be written (too large, unknown partition, not authorized) and records whose delivery timeout
/// passed are reported with their error and not published again.
///
/// ## Unconfirmed records
/// When the broker refuses a batch and then writes a later batch of the same partition that was already in flight,
/// librdkafka reports the first one as acknowledged too, without an offset. This is right if only the reply was lost,
/// and wrong if a new producer met a leader that did not know its role yet (confluent-kafka-go issue 921). This
/// producer reports such a record as `.unconfirmed`; only a reader can find out whether it was written. It cannot
/// happen with one request in flight.
///
/// ## With a transactional id
/// `enqueue` accepts records only between `beginTransaction` and `commitTransaction` or `abortTransaction`, and nothing
/// is published again: after a fatal error each throwing call throws it, and `serveReports` reports the outstanding
/// records with an error. The owner then closes this producer and creates another. `KafkaTransactionPolicy` maps errors
/// to decisions.
public final class KafkaLaneProducer {
    private let configuration: KafkaProducerConfiguration
    private let logger: Logger
    /// Called on librdkafka's threads when reports are waiting.
    private let wake: (@Sendable () -> Void)?
    /// Publishes unconfirmed records again, after the records that followed them, instead of reporting them.
    private let repeatsUnconfirmed: Bool
    /// Notified when the broker refuses a record for its size.
    private let ceiling: KafkaRecordCeiling?
    /// The maximum size of a record, as librdkafka counts it.
    public let maximumRecordBytes: Int
    /// Called with the new client's handle before the old client is released.
    var onRecreation: ((RDKafkaHandle) -> Void)?

    // Unchecked: what each record uses. One thread owns a producer.
    @exclusivity(unchecked) private(set) var client: RDKafkaProducerClient
    @exclusivity(unchecked) private var topicNames: [String] = []
    @exclusivity(unchecked) private var records = OutstandingRecords()
    /// Records to publish again; ordered once the failed client is released.
    @exclusivity(unchecked) private var republish: [(record: KafkaProducerRecord, entry: OutstandingRecords.Entry)] = []
    /// The start of the current series of failures: no acknowledgement arrived since.
    @exclusivity(unchecked) private var failingSince: ContinuousClock.Instant?
    private var nextRecreation = ContinuousClock.now
    private var pause = Duration.milliseconds(50)
    private var isPurged = false
    private var nextPurge = ContinuousClock.now
    private var isClosing = false
    @exclusivity(unchecked) private(set) var isClosed = false

    private let isIdempotent: Bool
    /// The first unconfirmed record of the current transaction, which librdkafka would commit.
    var unconfirmed: KafkaError?

    var isTransactional: Bool { configuration.transactionalID != nil }

    /// How often the client was replaced after a fatal error.
    public private(set) var recreations = 0

    /// Records that were accepted and not yet reported.
    public var outstanding: Int { records.count + republish.count }

    /// - Parameters:
    ///   - configuration: the settings of the client.
    ///   - ceiling: the known limit of the record size; by default the configured one.
    ///   - logger: for what librdkafka reports.
    /// - Throws: `KafkaError` that names a property librdkafka rejects. It does not connect.
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
        // The client is freed on another thread; the records that it still held are lost.
        guard !isClosed, outstanding > 0 else { return }
        logger.error("a producer was released without close", metadata: ["lost": "\(outstanding)"])
    }

    /// Resolves a topic for `enqueue`. The topic need not exist yet.
    ///
    /// - Throws: `KafkaError` for an invalid name, `.destroyed` after `close`.
    public func topic(_ name: String) throws(KafkaError) -> KafkaTopicHandle {
        try checkUsable()
        if let index = topicNames.firstIndex(of: name) { return KafkaTopicHandle(index: index) }
        try client.addTopic(name)
        topicNames.append(name)
        return KafkaTopicHandle(index: topicNames.count - 1)
    }

    /// The number of partitions of a topic, requested from the broker; blocking. A request at the start also saves the
    /// first record the wait for the topic's metadata.
    ///
    /// - Throws: `KafkaError`, retriable while no broker answers.
    public func partitionCount(of topic: String, within time: Duration) throws(KafkaError) -> Int32 {
        try checkUsable()
        return try client.handle.partitionCount(of: topic, within: time)
    }

    /// Publishes a record; its bytes are copied. Never waits.
    ///
    /// - Parameters:
    ///   - topic: of this producer.
    ///   - partition: 0 or more, or -1 to derive it from the key.
    ///   - key: nil for none.
    ///   - value: nil for a tombstone.
    ///   - headers: in order; copied.
    ///   - timestamp: milliseconds since 1970; nil or 0 for now.
    ///   - tag: returned in the report.
    /// - Throws: `.queueFull` as backpressure: serve reports and try again. `.destroyed` after `close`. Other codes for
    ///   records that can never be sent. With a transactional id: the fatal error, and `.state` outside of a
    ///   transaction or when the transaction has failed and can only be aborted.
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
        // Records to publish again go first, to keep their order.
        guard republish.isEmpty, !client.hasFailed else { throw .queueIsFull }
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

    /// - Throws: `.destroyed` after `close`; the fatal error of a transactional producer.
    func checkUsable() throws(KafkaError) {
        guard !isClosed else { throw .clientIsClosed }
        if isTransactional, client.hasFailed, let fatal = client.fatalError { throw fatal }
    }

    /// Serves the waiting reports. It also replaces a failed client.
    ///
    /// - Parameters:
    ///   - time: how long to wait for the first report.
    ///   - body: called once for each report; it must not call this producer.
    public func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        guard !isClosed else { return }
        serve(within: time, body)
        if client.hasFailed {
            if isTransactional { giveUpOutstanding(body) } else { recover(body) }
        }
        if !republish.isEmpty, !client.hasFailed { publishAgain(body) }
    }

    /// Sends the records that wait for a batch of their partition to fill; waits 1 ms at most.
    ///
    /// Call it before each wait for the last acknowledgements: a thread of librdkafka that is busy may not see one call.
    public func endLinger() {
        if outstanding > 0, !isClosed { client.endLinger() }
    }

    /// For requests to the cluster from another thread; changes when the client is replaced.
    var handle: RDKafkaHandle { client.handle }

    /// Whether the producer has work to do besides waiting for reports.
    var isRecovering: Bool { client.hasFailed || !republish.isEmpty }

    /// Serves reports until no record is outstanding; librdkafka sends after `linger` at the latest.
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

    /// Flushes, purges the remaining records, and frees the client; blocking, at most half a second longer than the
    /// time.
    ///
    /// - Parameters:
    ///   - time: how long to wait for the records still outstanding.
    ///   - body: called for each of them. A purged record has an error: `.purgedFromQueue`, or `.purgedInFlight` when it
    ///     may have been written.
    public func close(within time: Duration, _ body: (KafkaDeliveryReport) -> Void = { _ in }) {
        guard !isClosed else { return }
        let deadline = ContinuousClock.now.advanced(by: time)
        if !flush(within: time, body) {
            logger.warning("records were not acknowledged before the end", metadata: ["outstanding": "\(outstanding)"])
            isClosing = true
            client.purge()
            let end = ContinuousClock.now.advanced(by: .milliseconds(300))
            while records.count > 0, ContinuousClock.now < end { serve(within: .milliseconds(50), body) }
            for (record, entry) in republish { giveUp(entry, record.partition ?? -1, body) }
            republish = []
            for entry in records.removeAll() { giveUp(entry, -1, body) }
        }
        isClosed = true
        if !client.destroy(within: max(deadline - .now, .milliseconds(200))) {
            logger.warning("the producer did not close in time; its thread was abandoned")
        }
    }

    private func giveUp(_ entry: OutstandingRecords.Entry, _ partition: Int32, _ body: (KafkaDeliveryReport) -> Void) {
        let error = KafkaError(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, doing: "publish before the end")
        body(KafkaDeliveryReport(tag: entry.tag, error: error, partition: partition, offset: -1))
    }

    /// For tests: raises a fatal error as an idempotent producer can.
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
                    logger.warning("publishing an unconfirmed record again")
                    republish.append((RDKafkaProducerClient.record(from: message), entry))
                    return
                }
                error = .unconfirmed(in: RDKafkaProducerClient.topic(of: message))
                if isTransactional { unconfirmed = error }
            } else if code == RD_KAFKA_RESP_ERR_NO_ERROR {
                if failingSince != nil { (failingSince, pause) = (nil, .milliseconds(50)) }
            } else if client.hasFailed, !isClosing, !isTransactional, RDKafkaProducerClient.isOfClient(code) {
                republish.append((RDKafkaProducerClient.record(from: message), entry))
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

    /// Takes back the records of the failed client, over several calls, and creates a new client.
    private func recover(_ body: (KafkaDeliveryReport) -> Void) {
        if !isPurged {
            isPurged = true
            let metadata: Logger.Metadata = [
                "outstanding": "\(outstanding)", "reason": "\(client.fatalReason ?? "unknown")",
            ]
            logger.error("fatal producer error: replacing the client", metadata: metadata)
            nextPurge = .now
        }
        // Once no record is outstanding, all unacknowledged ones are in `republish`.
        takeBack(body)
        let now = ContinuousClock.now
        guard records.count == 0, now >= nextRecreation else { return }
        republish.sort { $0.entry.sequence < $1.entry.sequence }
        failingSince = failingSince ?? now
        failOverdue(at: now, body)
        // Back off from a cluster that rejects each new client.
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
            // The same configuration worked before: retry at a later call.
            logger.critical("the producer client could not be replaced", metadata: ["error": "\(error)"])
        }
    }

    /// Collects the records of a failed client from its reports.
    private func takeBack(_ body: (KafkaDeliveryReport) -> Void) {
        // Purge repeatedly: one purge can miss records that a broker thread is moving between queues, and a failed
        // client would keep them for ever.
        if nextPurge <= .now {
            nextPurge = .now.advanced(by: .milliseconds(100))
            client.purge()
        }
        if records.count > 0 { serve(within: .milliseconds(20), body) }
    }

    /// The transaction is lost, and with it every record; the next throwing call gives the owner the reason.
    private func giveUpOutstanding(_ body: (KafkaDeliveryReport) -> Void) {
        if records.count > 0 { takeBack(body) }
    }

    /// Repeated failures of clients must not extend a delivery timeout.
    private func failOverdue(at now: ContinuousClock.Instant, _ body: (KafkaDeliveryReport) -> Void) {
        guard let timeout = configuration.deliveryTimeout, let failingSince, now - failingSince >= timeout else {
            return
        }
        let error = KafkaError(
            RD_KAFKA_RESP_ERR__MSG_TIMED_OUT,
            doing: "publish, after repeated fatal errors (\(client.fatalReason ?? "unknown"))"
        )
        let overdue = republish
        republish = []
        for (record, entry) in overdue {
            body(KafkaDeliveryReport(tag: entry.tag, error: error, partition: record.partition ?? -1, offset: -1))
        }
    }

    private func publishAgain(_ body: (KafkaDeliveryReport) -> Void) {
        var done = 0
        var headers = KafkaHeaderBuffer()
        loop: for (record, entry) in republish {
            headers.removeAll()
            for header in record.headers { headers.append(header) }
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
        republish.removeFirst(done)
    }
}
