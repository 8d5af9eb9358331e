import CRDKafka
import Logging

/// librdkafka's producer: its handle, topics and queue, and one reused argument list. One thread owns it.
final class RDKafkaProducerClient {
    let handle: RDKafkaHandle
    private let context: Context
    private let queue: OpaquePointer
    // Unchecked: what each record uses. One thread owns a client.
    @exclusivity(unchecked) private var topics: [OpaquePointer] = []
    private let arguments: UnsafeMutablePointer<rd_kafka_vu_t>
    private static let argumentCount = 8
    /// The client raised a fatal error and sends nothing more.
    @exclusivity(unchecked) private(set) var hasFailed = false
    private var isOpen = true

    private final class Context: RDKafkaContext {
        let wake: (@Sendable () -> Void)?

        init(logger: Logger, wake: (@Sendable () -> Void)?) {
            self.wake = wake
            super.init(logger: logger)
        }
    }

    /// - Parameter wake: called on librdkafka's threads when a report arrives in an empty queue. It must not call
    ///   librdkafka.
    init(
        _ configuration: KafkaProducerConfiguration,
        logger: Logger,
        wake: (@Sendable () -> Void)? = nil
    ) throws(KafkaError) {
        try configuration.checkTransactions()
        let context = Context(logger: logger, wake: wake)
        self.context = context
        handle = try RDKafkaHandle(
            RD_KAFKA_PRODUCER,
            properties: configuration.properties,
            context: context
        ) { conf in
            rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR)
        }
        guard let queue = rd_kafka_queue_get_main(handle.pointer) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: "the producer's queue")
        }
        self.queue = queue
        arguments = .allocate(capacity: Self.argumentCount)
        arguments.initialize(repeating: rd_kafka_vu_t(), count: Self.argumentCount)
        if wake != nil {
            // Unretained: the handle keeps the context until the client is freed.
            let opaque = Unmanaged.passUnretained(context).toOpaque()
            rd_kafka_queue_cb_event_enable(
                queue,
                { _, opaque in
                    guard let opaque else { return }
                    Unmanaged<Context>.fromOpaque(opaque).takeUnretainedValue().wake?()
                },
                opaque
            )
        }
    }

    deinit {
        release()
        arguments.deallocate()
        // A handle that was not destroyed frees its client on a separate thread.
    }

    func addTopic(_ name: String) throws(KafkaError) {
        try KafkaError.checkName(name)
        guard let topic = rd_kafka_topic_new(handle.pointer, name, nil) else {
            throw KafkaError(rd_kafka_last_error(), doing: "topic \(name)")
        }
        topics.append(topic)
    }

    /// Destroys the topics and the queue before the client that they belong to.
    private func release() {
        guard isOpen else { return }
        isOpen = false
        rd_kafka_queue_cb_event_enable(queue, nil, nil)
        for topic in topics { rd_kafka_topic_destroy(topic) }
        rd_kafka_queue_destroy(queue)
    }

    /// - Returns: false when the client was not freed in time; freeing continues in the background.
    @discardableResult
    func destroy(within time: Duration) -> Bool {
        guard isOpen else { return true }
        release()
        return handle.destroyElsewhere(within: time)
    }

    /// Purges all records; each of them comes back as a report. Does not wait.
    func purge() {
        _ = rd_kafka_purge(
            handle.pointer,
            RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT | RD_KAFKA_PURGE_F_NON_BLOCKING
        )
    }

    /// Sends incomplete batches without waiting for more records.
    ///
    /// librdkafka does so while it flushes. The call serves no reports, since these are events, so it takes its whole time: 1 ms.
    func endLinger() { _ = rd_kafka_flush(handle.pointer, 1) }

    /// The fatal error of the client; nil while it works.
    var fatalError: KafkaError? {
        hasRaisedFatalError() ? handle.fatalError : nil
    }

    /// The same as text.
    var fatalReason: String? { fatalError?.reason }

    // MARK: - Producing

    func produce(
        _ topic: Int,
        _ partition: Int32,
        _ key: [UInt8]?,
        _ value: [UInt8]?,
        _ headers: KafkaHeaderBuffer,
        _ timestamp: Int64?,
        _ tag: UInt
    ) throws(KafkaError) {
        let list = Self.makeHeaders(headers)
        let error = Self.withBytes(key) { key in
            Self.withBytes(value) { value in
                arguments[0].vtype = RD_KAFKA_VTYPE_RKT
                arguments[0].u.rkt = topics[topic]
                arguments[1].vtype = RD_KAFKA_VTYPE_PARTITION
                arguments[1].u.i32 = partition
                arguments[2].vtype = RD_KAFKA_VTYPE_MSGFLAGS
                arguments[2].u.i = RD_KAFKA_MSG_F_COPY
                arguments[3].vtype = RD_KAFKA_VTYPE_VALUE
                arguments[3].u.mem.ptr = UnsafeMutableRawPointer(mutating: value.baseAddress)
                arguments[3].u.mem.size = value.count
                arguments[4].vtype = RD_KAFKA_VTYPE_KEY
                arguments[4].u.mem.ptr = UnsafeMutableRawPointer(mutating: key.baseAddress)
                arguments[4].u.mem.size = key.count
                arguments[5].vtype = RD_KAFKA_VTYPE_OPAQUE
                arguments[5].u.ptr = UnsafeMutableRawPointer(bitPattern: tag)
                var count = 6
                if let timestamp {
                    arguments[6].vtype = RD_KAFKA_VTYPE_TIMESTAMP
                    arguments[6].u.i64 = timestamp
                    count = 7
                }
                // Pass a finished header list: with VTYPE_HEADER, librdkafka 2.0.2 frees the headers twice when the
                // partition is unknown.
                if let list {
                    arguments[count].vtype = RD_KAFKA_VTYPE_HEADERS
                    arguments[count].u.headers = list
                    count += 1
                }
                return rd_kafka_produceva(handle.pointer, arguments, count)
            }
        }
        guard let error else { return }
        // Only a successful call takes ownership of the headers.
        if let list { rd_kafka_headers_destroy(list) }
        // After a fatal error report a full queue to the caller, until the reports are served and the client is
        // replaced.
        let isFull = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL
        if isFull || hasRaisedFatalError() {
            rd_kafka_error_destroy(error)
            throw .queueIsFull
        }
        throw KafkaError(consuming: error, doing: "publish to \(String(cString: rd_kafka_topic_name(topics[topic])))")
    }

    /// Asks librdkafka directly: the event may not have arrived yet.
    private func hasRaisedFatalError() -> Bool {
        if !hasFailed {
            hasFailed = rd_kafka_fatal_error(handle.pointer, nil, 0) != RD_KAFKA_RESP_ERR_NO_ERROR
        }
        return hasFailed
    }

    private static func makeHeaders(_ buffer: KafkaHeaderBuffer) -> OpaquePointer? {
        guard !buffer.entries.isEmpty, let list = rd_kafka_headers_new(buffer.entries.count) else { return nil }
        buffer.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for entry in buffer.entries {
                let name = (start + entry.name.lowerBound).assumingMemoryBound(to: CChar.self)
                let value = entry.value.map { start + $0.lowerBound }
                _ = rd_kafka_header_add(list, name, entry.name.count, value, entry.value?.count ?? 0)
            }
        }
        return list
    }

    /// A valid address for empty values, which are not null.
    private nonisolated(unsafe) static let nothing = UnsafeRawPointer(
        UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    )

    /// A missing array becomes a null pointer, an empty one does not.
    private static func withBytes<Result>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let bytes else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard !bytes.isEmpty else { return body(UnsafeRawBufferPointer(start: nothing, count: 0)) }
        return bytes.withUnsafeBytes(body)
    }

    // MARK: - Reports

    /// Serves the events in the queue; waits for the first one.
    func poll(within time: Duration, _ report: (UnsafePointer<rd_kafka_message_t>, UInt) -> Void) {
        var wait = time.librdkafkaMilliseconds
        while let event = rd_kafka_queue_poll(queue, wait) {
            defer { rd_kafka_event_destroy(event) }
            wait = 0
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR:
                while let message = rd_kafka_event_message_next(event) {
                    if message.pointee.err != RD_KAFKA_RESP_ERR_NO_ERROR { _ = hasRaisedFatalError() }
                    report(message, UInt(bitPattern: message.pointee._private))
                }
            case RD_KAFKA_EVENT_ERROR:
                // The event of a fatal error carries the original code, not `_FATAL`.
                if rd_kafka_event_error_is_fatal(event) != 0 {
                    hasFailed = true
                } else {
                    let text = rd_kafka_event_error_string(event).map { String(cString: $0) } ?? ""
                    context.noteTrouble(KafkaError(rd_kafka_event_error(event), doing: text))
                }
            default: break
            }
        }
    }

    /// Whether the report concerns the failed client and not the record itself: publish the record again.
    static func isOfClient(_ code: rd_kafka_resp_err_t) -> Bool {
        switch code {
        case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC,
            RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
            RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION,
            RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP,
            RD_KAFKA_RESP_ERR_INVALID_RECORD,
            RD_KAFKA_RESP_ERR_INVALID_MSG, RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
            false
        default: true
        }
    }

    static func topic(of message: UnsafePointer<rd_kafka_message_t>) -> String {
        message.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) } ?? ""
    }

    /// The record of a failed report, to publish it again.
    static func record(from message: UnsafePointer<rd_kafka_message_t>) -> KafkaProducerRecord {
        var kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = rd_kafka_message_timestamp(message, &kind)
        return KafkaProducerRecord(
            topic: topic(of: message),
            partition: message.pointee.partition,
            key: RDKafkaMessage.bytes(message.pointee.key, message.pointee.key_len),
            value: RDKafkaMessage.bytes(message.pointee.payload, message.pointee.len),
            headers: RDKafkaMessage.headers(of: message),
            timestamp: timestamp >= 0 ? timestamp : nil
        )
    }
}
