import CRDKafka
public import Logging

/// A topic that a lane producer resolved once.
public struct KafkaTopicHandle: Sendable, Hashable {
    fileprivate let index: Int
}

/// What became of one record.
public struct KafkaDeliveryReport {
    /// As it was given with the record.
    public var tag: UInt
    /// nil when the record is acknowledged.
    public var error: KafkaError?
    public var partition: Int32
    /// -1 when there is none.
    public var offset: Int64
}

/// A producer for the hot path: one thread owns it, nothing waits, reports come in batches.
///
/// When librdkafka's idempotent producer fails for good, the client is made anew and what was not acknowledged is
/// published again, in order and under the same tags; a record that had been written after all is then there twice.
public final class KafkaLaneProducer {
    private let configuration: KafkaProducerConfiguration
    private let logger: Logger
    private var client: RDKafkaProducerClient
    private var topicNames: [String] = []
    /// Waiting to be published again, oldest first.
    private var replay: [(record: KafkaProducerRecord, tag: UInt)] = []
    /// Handed over and not yet reported.
    public private(set) var outstanding = 0
    /// How often the client was made anew after a fatal error.
    public private(set) var recreations = 0

    /// - Throws: `KafkaError` that names a property librdkafka does not take. It does not connect.
    public init(configuration: KafkaProducerConfiguration, logger: Logger) throws(KafkaError) {
        self.configuration = configuration
        self.logger = logger
        client = try RDKafkaProducerClient(configuration, logger: logger)
    }

    /// Resolves a topic for `enqueue`. It need not exist yet.
    public func topic(_ name: String) throws(KafkaError) -> KafkaTopicHandle {
        if let index = topicNames.firstIndex(of: name) { return KafkaTopicHandle(index: index) }
        try client.addTopic(name)
        topicNames.append(name)
        return KafkaTopicHandle(index: topicNames.count - 1)
    }

    /// How many partitions a topic has; blocking.
    public func partitionCount(of topic: String, within time: Duration) throws(KafkaError) -> Int32 {
        try client.handle.partitionCount(of: topic, within: time)
    }

    /// Hands a record over; its bytes are copied. Never waits.
    ///
    /// - Parameters:
    ///   - partition: -1 to let the key decide.
    ///   - value: nil for a tombstone.
    ///   - timestamp: milliseconds since 1970; nil for now.
    ///   - tag: comes back in the report.
    /// - Throws: `.queueFull` as backpressure; other codes for what can never be sent.
    public func enqueue(
        topic: KafkaTopicHandle,
        partition: Int32,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: KafkaHeaderBuffer,
        timestamp: Int64? = nil,
        tag: UInt
    ) throws(KafkaError) {
        // What is published again goes first, or its order would be lost.
        guard replay.isEmpty else { throw KafkaError(RD_KAFKA_RESP_ERR__QUEUE_FULL, doing: "publish") }
        try client.produce(topic.index, partition, key, value, headers, timestamp, tag)
        outstanding += 1
    }

    /// Serves the reports that are there, waiting at most so long for the first.
    public func serveReports(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        serve(within: time, body)
        if client.hasFailed { recreate(body) }
        if !replay.isEmpty { publishAgain(body) }
    }

    /// For what asks the cluster from another thread; another one after a recreation.
    var handle: RDKafkaHandle { client.handle }

    /// Asks librdkafka to send now, and serves reports until none is outstanding.
    ///
    /// - Returns: false when time ran out.
    public func flush(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) -> Bool {
        let deadline = ContinuousClock.now.advanced(by: time)
        while outstanding > 0 {
            let left = deadline - .now
            guard left > .zero else { return false }
            serveReports(within: min(left, .milliseconds(50)), body)
        }
        return true
    }

    /// Flushes, gives up on the rest, and frees the client; blocking.
    public func close(within time: Duration, _ body: (KafkaDeliveryReport) -> Void = { _ in }) {
        if !flush(within: time, body) {
            logger.warning("records were not acknowledged before the end", metadata: ["outstanding": "\(outstanding)"])
            replay.removeAll()
            client.purge()
            serve(within: .milliseconds(500), body)
        }
        client.destroy()
    }

    /// For tests: makes the client fail as an idempotent producer can.
    func failForTest(_ reason: String) {
        rd_kafka_test_fatal_error(client.handle.pointer, RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER, reason)
    }

    // MARK: - Reports and recovery

    private func serve(within time: Duration, _ body: (KafkaDeliveryReport) -> Void) {
        client.poll(within: time) { message, tag in
            let code = message.pointee.err
            if code == RD_KAFKA_RESP_ERR__FATAL || (client.hasFailed && code != RD_KAFKA_RESP_ERR_NO_ERROR) {
                replay.append((RDKafkaProducerClient.record(from: message), tag))
                return
            }
            outstanding -= 1
            let error: KafkaError? =
                code == RD_KAFKA_RESP_ERR_NO_ERROR
                ? nil : KafkaError(code, doing: "publish to \(RDKafkaProducerClient.topic(of: message))")
            body(
                KafkaDeliveryReport(
                    tag: tag,
                    error: error,
                    partition: message.pointee.partition,
                    offset: message.pointee.offset
                )
            )
        }
    }

    private func recreate(_ body: (KafkaDeliveryReport) -> Void) {
        logger.error("the producer failed for good and is made anew", metadata: ["outstanding": "\(outstanding)"])
        client.purge()
        // Purged records come back as reports; everything that was not acknowledged is then in `replay`.
        let deadline = ContinuousClock.now.advanced(by: .seconds(5))
        while outstanding > replay.count, ContinuousClock.now < deadline {
            serve(within: .milliseconds(100), body)
        }
        do {
            let fresh = try RDKafkaProducerClient(configuration, logger: logger)
            for name in topicNames { try fresh.addTopic(name) }
            client.destroy()
            client = fresh
            recreations += 1
        } catch {
            // The same configuration worked before; tried again at the next call.
            logger.critical("the producer could not be made anew", metadata: ["error": "\(error)"])
        }
    }

    private func publishAgain(_ body: (KafkaDeliveryReport) -> Void) {
        guard !client.hasFailed else { return }
        var done = 0
        for (record, tag) in replay {
            var headers = KafkaHeaderBuffer()
            for header in record.headers { headers.append(KafkaHeaderName(header.name), header.value) }
            do throws(KafkaError) {
                guard let index = topicNames.firstIndex(of: record.topic) else { continue }
                try client.produce(
                    index, record.partition ?? -1, record.key, record.value, headers, record.timestamp, tag)
            } catch where error.code == .queueFull {
                break
            } catch {
                outstanding -= 1
                body(KafkaDeliveryReport(tag: tag, error: error, partition: record.partition ?? -1, offset: -1))
            }
            done += 1
        }
        replay.removeFirst(done)
    }
}
