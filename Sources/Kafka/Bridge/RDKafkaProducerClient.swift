import CRDKafka
import Logging

/// librdkafka's producer: its handle, topics and queue, and one reused argument list.
final class RDKafkaProducerClient {
    let handle: RDKafkaHandle
    private let queue: OpaquePointer
    private var topics: [OpaquePointer] = []
    private let arguments: UnsafeMutablePointer<rd_kafka_vu_t>
    private static let argumentCount = 8
    /// The client raised a fatal error: nothing is sent any more.
    private(set) var hasFailed = false
    private var isOpen = true

    init(_ configuration: KafkaProducerConfiguration, logger: Logger) throws(KafkaError) {
        handle = try RDKafkaHandle(
            RD_KAFKA_PRODUCER,
            properties: configuration.properties,
            context: RDKafkaContext(logger: logger)
        ) { conf in
            rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR)
        }
        guard let queue = rd_kafka_queue_get_main(handle.pointer) else {
            throw KafkaError(RD_KAFKA_RESP_ERR__FAIL, doing: "the producer's queue")
        }
        self.queue = queue
        arguments = .allocate(capacity: Self.argumentCount)
        arguments.initialize(repeating: rd_kafka_vu_t(), count: Self.argumentCount)
    }

    deinit {
        destroy()
        arguments.deallocate()
    }

    func addTopic(_ name: String) throws(KafkaError) {
        guard let topic = rd_kafka_topic_new(handle.pointer, name, nil) else {
            throw KafkaError(rd_kafka_last_error(), doing: "topic \(name)")
        }
        topics.append(topic)
    }

    /// Topics and queue go before the client that they belong to.
    func destroy() {
        guard isOpen else { return }
        isOpen = false
        for topic in topics { rd_kafka_topic_destroy(topic) }
        rd_kafka_queue_destroy(queue)
        handle.destroy()
    }

    func purge() {
        _ = rd_kafka_purge(handle.pointer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
    }

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
                // Built beforehand and handed over whole: with VTYPE_HEADER 2.0.2 frees twice when the partition is unknown.
                if let list {
                    arguments[count].vtype = RD_KAFKA_VTYPE_HEADERS
                    arguments[count].u.headers = list
                    count += 1
                }
                return rd_kafka_produceva(handle.pointer, arguments, count)
            }
        }
        if let error {
            // Only a successful call takes the headers.
            if let list { rd_kafka_headers_destroy(list) }
            // After a fatal error nothing is taken: to the caller a full queue, until the reports are served and the
            // client is made anew.
            if rd_kafka_fatal_error(handle.pointer, nil, 0) != RD_KAFKA_RESP_ERR_NO_ERROR {
                hasFailed = true
                rd_kafka_error_destroy(error)
                throw KafkaError(RD_KAFKA_RESP_ERR__QUEUE_FULL, doing: "publish")
            }
            throw KafkaError(consuming: error, doing: "publish to \(String(cString: rd_kafka_topic_name(topics[topic])))")
        }
    }

    private static func makeHeaders(_ buffer: KafkaHeaderBuffer) -> OpaquePointer? {
        guard !buffer.entries.isEmpty, let list = rd_kafka_headers_new(buffer.entries.count) else { return nil }
        buffer.bytes.withUnsafeBytes { bytes in
            for entry in buffer.entries {
                entry.name.utf8.withUnsafeBufferPointer { name in
                    let value = entry.count < 0 ? nil : bytes.baseAddress.map { $0 + entry.start } ?? Self.nothing
                    _ = rd_kafka_header_add(list, name.baseAddress, name.count - 1, value, max(0, entry.count))
                }
            }
        }
        return list
    }

    /// A place for what is empty and not null.
    private nonisolated(unsafe) static let nothing = UnsafeRawPointer(
        UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    )

    /// An absent array is a null pointer, an empty one is not.
    private static func withBytes<Result>(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let bytes else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        guard !bytes.isEmpty else { return body(UnsafeRawBufferPointer(start: nothing, count: 0)) }
        return bytes.withUnsafeBytes(body)
    }

    // MARK: - Reports

    /// Serves what the queue holds; the first event is waited for.
    func poll(within time: Duration, _ report: (UnsafePointer<rd_kafka_message_t>, UInt) -> Void) {
        var wait = time.librdkafkaMilliseconds
        while let event = rd_kafka_queue_poll(queue, wait) {
            defer { rd_kafka_event_destroy(event) }
            wait = 0
            switch rd_kafka_event_type(event) {
            case RD_KAFKA_EVENT_DR:
                while let message = rd_kafka_event_message_next(event) {
                    report(message, UInt(bitPattern: message.pointee._private))
                }
            case RD_KAFKA_EVENT_ERROR:
                if rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__FATAL { hasFailed = true }
            default: break
            }
        }
    }

    static func topic(of message: UnsafePointer<rd_kafka_message_t>) -> String {
        message.pointee.rkt.map { String(cString: rd_kafka_topic_name($0)) } ?? ""
    }

    /// What a failed report carries, to publish it again.
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
