public import Kafka
public import NotificationModel

/// Publishes notification requests and removals from any Swift program, with the key, partition and headers that the consumer
/// service expects.
///
/// Every call returns when the broker has acknowledged the record, and not before. A call that throws may still have published:
/// give the request an id and repeat it, and the repeat is dropped as a duplicate.
public final class NotificationPublisher: Sendable {
    /// Where and as whom to publish.
    public struct Configuration: Sendable {
        /// The topic of requests.
        public var topic: String
        /// `ce_source`: one constant a deployment, a URI reference such as `/carillon/production`.
        public var source: String
        /// The application of calls that name none.
        public var defaultApplication: String

        /// Where and as whom to publish.
        public init(topic: String = TopicNames().requests, source: String, defaultApplication: String = "default") {
            self.topic = topic
            self.source = source
            self.defaultApplication = defaultApplication
        }
    }

    /// What the broker acknowledged.
    public struct Receipt: Sendable, Hashable {
        /// Names the request in every event about it.
        public var requestID: RequestID
        /// Where the record lies.
        public var topic: String
        /// Where the record lies.
        public var partition: Int32
        /// Where the record lies.
        public var offset: Int64

        /// An acknowledgement, as tests build it.
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
    ///   - configuration: Where and as whom to publish.
    ///   - now: The clock behind `ce_time`; the system's if not given.
    ///   - makeRequestID: Ids for requests that carry none; random if not given.
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

    /// Requests a notification. It replaces a pending one of the same key, and a delivered one when it is sent.
    ///
    /// - Parameters:
    ///   - request: Gets a random id when it has none.
    ///   - trace: Carried to the delivery event.
    /// - Throws: `ModelError` when the request is not valid, `KafkaError` when it was not acknowledged.
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
    ///   - content: What is shown.
    ///   - recipient: Whose, 1 to 256 bytes.
    ///   - identifier: Which: a later one of the same identifier replaces it; 1 to 256 bytes.
    ///   - trigger: When; now if not given.
    ///   - expiration: Not to be delivered from this instant on.
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

    /// Cancels what is pending, recalls what was delivered, or both.
    ///
    /// - Parameters:
    ///   - removal: Gets a random id when it has none; an empty identifier in the key means all of the recipient's.
    ///   - trace: Carried to the events about it.
    /// - Throws: `ModelError` when it is not valid, `KafkaError` when it was not acknowledged.
    @discardableResult
    public func remove(_ removal: NotificationRemoval, trace: TraceContext? = nil) async throws -> Receipt {
        var removal = removal
        let id = removal.requestID ?? makeRequestID()
        removal.requestID = id
        let value = removal.json
        _ = try RequestRecord.scan(value, key: removal.key)
        return try await publish(value: value, key: removal.key, requestID: id, isRemoval: true, trace: trace)
    }

    /// Cancels or recalls one notification of the default application.
    ///
    /// - Parameters:
    ///   - identifier: Which; not empty.
    ///   - recipient: Whose.
    ///   - scope: What is pending, what was delivered, or both.
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
                "must not be empty; all of a recipient's are removed by key"
            )
        }
        return try await remove(NotificationRemoval(key: key(recipient, identifier), scope: scope))
    }

    // MARK: Records

    /// What the record of a value takes at most, as `RecordBound` counts.
    package func largestRecord(key: NotificationKey, valueBytes: Int, trace: TraceContext?) -> Int {
        headers.largestRecord(key: key, valueBytes: valueBytes, trace: trace)
    }

    /// Publishes a value that was checked before.
    ///
    /// - Parameters:
    ///   - value: The whole JSON value of a request or removal, with its `requestId`.
    ///   - key: The record's key, which the value does not contradict.
    ///   - requestID: The id in the value.
    ///   - isRemoval: Which of the two it is.
    ///   - trace: Carried to the delivery event.
    /// - Throws: `KafkaError` when it was not acknowledged.
    public func publish(
        value: [UInt8],
        key: NotificationKey,
        requestID: RequestID,
        isRemoval: Bool,
        trace: TraceContext? = nil
    ) async throws -> Receipt {
        let count = try await producer.partitionCount(of: configuration.topic)
        let acknowledgement = try await producer.send(
            KafkaProducerRecord(
                topic: configuration.topic,
                partition: KafkaPartitioner.partition(forKey: key.recipientBytes, count: count),
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
