public import Kafka
public import NotificationModel

/// Publishes notification requests and removals from any Swift program, with the key, partition and headers that the consumer
/// service expects.
///
/// Every call returns after the broker has acknowledged the record. A call that throws may still have published the
/// record: give the request an id and repeat the call; the consumer service drops the repeat as a duplicate.
public final class NotificationPublisher: Sendable {
    /// The destination and source of published records.
    public struct Configuration: Sendable {
        /// The topic of requests.
        public var topic: String
        /// `ce_source`: constant for a deployment, a URI reference such as `/carillon/production`.
        public var source: String
        /// The application of calls without one.
        public var defaultApplication: String

        /// A destination and source.
        public init(topic: String = TopicNames().requests, source: String, defaultApplication: String = "default") {
            self.topic = topic
            self.source = source
            self.defaultApplication = defaultApplication
        }
    }

    /// An acknowledged request.
    public struct Receipt: Sendable, Hashable {
        /// The request's id, which all its events carry.
        public var requestID: RequestID
        /// The record's topic.
        public var topic: String
        /// The record's partition.
        public var partition: Int32
        /// The record's offset.
        public var offset: Int64

        /// An acknowledgement, for tests.
        public init(requestID: RequestID, topic: String, partition: Int32, offset: Int64) {
            self.requestID = requestID
            self.topic = topic
            self.partition = partition
            self.offset = offset
        }
    }

    private let producer: KafkaProducer
    private let configuration: Configuration
    private let headers: RequestHeaders
    private let now: @Sendable () -> Timestamp
    private let makeRequestID: @Sendable () -> RequestID

    /// A publisher over a producer that its owner shuts down.
    ///
    /// - Parameters:
    ///   - producer: May be shared.
    ///   - configuration: The destination and source.
    ///   - now: The clock for `ce_time`; the system clock by default.
    ///   - makeRequestID: Creates ids for requests without one; random by default.
    public init(
        producer: KafkaProducer,
        configuration: Configuration,
        now: (@Sendable () -> Timestamp)? = nil,
        makeRequestID: (@Sendable () -> RequestID)? = nil
    ) {
        self.producer = producer
        self.configuration = configuration
        headers = RequestHeaders(source: configuration.source)
        self.now = now ?? SystemClock.now
        self.makeRequestID = makeRequestID ?? { RequestID.random() }
    }

    // MARK: Requests

    /// Requests a notification. It replaces a pending one with the same key at once, and a delivered one when it is
    /// sent.
    ///
    /// - Parameters:
    ///   - request: Gets a random id if it has none.
    ///   - trace: Passed on to the delivery event.
    /// - Throws: `ModelError` when the request is invalid, `KafkaError` when it was not acknowledged.
    @discardableResult
    public func publish(_ request: NotificationRequest, trace: TraceContext? = nil) async throws -> Receipt {
        var request = request
        let id = request.requestID ?? makeRequestID()
        request.requestID = id
        let value = request.json
        _ = try RequestRecord.scan(value, key: request.key)
        return try await publish(value: value, key: request.key, requestID: id, isRemoval: false, trace: trace)
    }

    /// Requests a notification of the default application.
    ///
    /// - Parameters:
    ///   - content: The content to show.
    ///   - recipient: The recipient, 1 to 256 bytes.
    ///   - identifier: The identifier, 1 to 256 bytes; a later notification with the same identifier replaces this one.
    ///   - trigger: When to show it; now by default.
    ///   - expiration: Not delivered from this instant on.
    /// - Throws: As ``publish(_:trace:)``.
    @discardableResult
    public func publish(
        _ content: NotificationContent,
        to recipient: String,
        as identifier: String,
        trigger: NotificationTrigger = .push,
        expiration: Timestamp? = nil
    ) async throws -> Receipt {
        let key = try key(recipient, identifier)
        return try await publish(
            NotificationRequest(key: key, content: content, trigger: trigger, expiration: expiration)
        )
    }

    // MARK: Removals

    /// Cancels pending notifications, withdraws delivered ones, or both.
    ///
    /// - Parameters:
    ///   - removal: Gets a random id if it has none; an empty identifier in the key means all of the recipient's.
    ///   - trace: Passed on to the resulting events.
    /// - Throws: `ModelError` when it is invalid, `KafkaError` when it was not acknowledged.
    @discardableResult
    public func remove(_ removal: NotificationRemoval, trace: TraceContext? = nil) async throws -> Receipt {
        var removal = removal
        let id = removal.requestID ?? makeRequestID()
        removal.requestID = id
        let value = removal.json
        _ = try RequestRecord.scan(value, key: removal.key)
        return try await publish(value: value, key: removal.key, requestID: id, isRemoval: true, trace: trace)
    }

    /// Cancels or withdraws one notification of the default application.
    ///
    /// - Parameters:
    ///   - identifier: The identifier; not empty.
    ///   - recipient: The recipient.
    ///   - scope: Pending notifications, delivered ones, or both.
    /// - Throws: As ``remove(_:trace:)``.
    @discardableResult
    public func remove(
        _ identifier: String,
        of recipient: String,
        _ scope: RemovalScope = .all
    ) async throws -> Receipt {
        guard !identifier.isEmpty else {
            throw ModelError(
                .invalid,
                field: "identifier",
                "must not be empty; to remove all of a recipient's, remove by key"
            )
        }
        return try await remove(NotificationRemoval(key: key(recipient, identifier), scope: scope))
    }

    // MARK: Records

    /// The maximum record size for a value, as `RecordBound` counts it.
    package func largestRecord(key: NotificationKey, valueBytes: Int, trace: TraceContext?) -> Int {
        headers.largestRecord(key: key, valueBytes: valueBytes, trace: trace)
    }

    /// Publishes a value that was validated before.
    ///
    /// - Parameters:
    ///   - value: The whole JSON value of a request or removal, with its `requestId`.
    ///   - key: The record's key, which must match the value.
    ///   - requestID: The id in the value.
    ///   - isRemoval: Whether the value is a removal.
    ///   - trace: Passed on to the delivery event.
    /// - Throws: `KafkaError` when it was not acknowledged.
    public func publish(
        value: [UInt8],
        key: NotificationKey,
        requestID: RequestID,
        isRemoval: Bool,
        trace: TraceContext? = nil
    ) async throws -> Receipt {
        try await publish(
            value: value,
            key: key,
            requestID: requestID,
            isRemoval: isRemoval,
            partitions: producer.partitionCount(of: configuration.topic),
            trace: trace
        )
    }

    /// The same for a caller that knows the topic's number of partitions.
    package func publish(
        value: [UInt8],
        key: NotificationKey,
        requestID: RequestID,
        isRemoval: Bool,
        partitions: Int32,
        trace: TraceContext?
    ) async throws -> Receipt {
        let acknowledgement = try await producer.send(
            KafkaProducerRecord(
                topic: configuration.topic,
                partition: KafkaPartitioner.partition(forKey: key.recipientBytes, count: partitions),
                key: key.encoded,
                value: value,
                headers: headers.list(key: key, requestID: requestID, isRemoval: isRemoval, time: now(), trace: trace)
            )
        )
        return Receipt(
            requestID: requestID,
            topic: acknowledgement.topic,
            partition: acknowledgement.partition,
            offset: acknowledgement.offset
        )
    }

    private func key(_ recipient: String, _ identifier: String) throws(ModelError) -> NotificationKey {
        try NotificationKey(
            application: configuration.defaultApplication,
            recipient: recipient,
            identifier: identifier
        )
    }
}
