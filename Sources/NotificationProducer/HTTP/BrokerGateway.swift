import Kafka
import Logging
import NotificationModel
import NotificationPublisher
import ServiceHTTP
import ServiceSupport
import ServiceTracing

/// Publishes HTTP calls to Kafka. Its methods return when the broker has acknowledged, or throw the problem for the
/// caller.
///
/// It has no timer: the producer fails a record after `http.deadline`, and the ``ConnectionGuard`` answers callers that
/// still wait then.
struct BrokerGateway: Sendable {
    let producer: KafkaProducer
    let publisher: NotificationPublisher
    let requests: String
    let businessEvents: String
    let signals: String
    let devices: String
    let categories: String
    /// The record size limit.
    let ceiling: KafkaRecordCeiling
    /// How long a caller waits.
    let deadline: Duration
    let metrics: ProducerMetrics
    /// Gets spans; nil where nothing is traced.
    let tracer: Tracer?
    let logger: Logger

    /// A record for `business-events`.
    struct Event: Sendable {
        var key: [UInt8]
        var value: [UInt8]?
        var headers: [KafkaHeader]
    }

    /// A record for `requests`.
    struct Record: Sendable {
        var value: [UInt8]
        var key: NotificationKey
        var requestID: RequestID
        var isRemoval: Bool
    }

    private var bound: RecordBound { RecordBound(ceiling.bytes) }

    /// The records that the consumer service derives from the request must fit too.
    func checkContent(_ bytes: Int) throws(ModelError) { try bound.check(content: bytes) }

    func publish(_ record: Record, trace: TraceContext?) async throws -> NotificationPublisher.Receipt {
        try check(record, trace)
        return try await acknowledged {
            try await send(record, trace, partitions: try await partitions(of: requests))
        }
    }

    /// Publishes all records concurrently, or none if one is too large. After a failure the others may be on the
    /// broker; the call is safe to repeat.
    ///
    /// - Returns: The receipts in the order of the records.
    func publish(_ records: [Record], trace: TraceContext?) async throws -> [NotificationPublisher.Receipt] {
        for record in records { try check(record, trace) }
        return try await acknowledged {
            let partitions = try await partitions(of: requests)
            return try await withThrowingTaskGroup(of: (Int, NotificationPublisher.Receipt).self) { group in
                for (index, record) in records.enumerated() {
                    group.addTask { (index, try await send(record, trace, partitions: partitions)) }
                }
                var receipts: [(Int, NotificationPublisher.Receipt)] = []
                receipts.reserveCapacity(records.count)
                for try await receipt in group { receipts.append(receipt) }
                return receipts.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
    }

    private func send(
        _ record: Record,
        _ trace: TraceContext?,
        partitions: Int32
    ) async throws -> NotificationPublisher.Receipt {
        let span = span(to: requests, trace) { $0.add(record.requestID) }
        let receipt = try await traced(span.map { [$0] } ?? []) {
            try await publisher.publish(
                value: record.value,
                key: record.key,
                requestID: record.requestID,
                isRemoval: record.isRemoval,
                partitions: partitions,
                trace: span.map { TraceContext($0.context, after: trace) } ?? trace
            )
        }
        metrics.countRequest()
        return receipt
    }

    private func check(_ record: Record, _ trace: TraceContext?) throws(ModelError) {
        let size = publisher.largestRecord(key: record.key, valueBytes: record.value.count, trace: trace)
        try bound.check(size, "the request with its key")
    }

    /// What fits of the records of an event.
    func effects(
        _ outputs: [RuleEngine.Output],
        failures: [RuleEngine.Failure],
        trace: TraceContext?
    ) -> EventEffects {
        EventEffects(outputs, failures: failures, within: bound) { output in
            publisher.largestRecord(key: output.key, valueBytes: output.value.count, trace: trace)
        }
    }

    /// Publishes all events, or none if one is too large: with several events the error's field is the index. Events
    /// with the same key keep their order. After a failure other events may be on the broker: the caller repeats all,
    /// and repeats are recognized by their source and id.
    ///
    /// - Returns: The positions, in the order of the events.
    func publish(_ events: [Event]) async throws -> [KafkaAcknowledgement] {
        for (index, event) in events.enumerated() {
            let size = RecordBound.size(
                key: event.key.count,
                value: event.value?.count ?? 0,
                headers: event.headers.count,
                headerBytes: event.headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
            )
            try bound.check(size, field: events.count > 1 ? "\(index)" : nil, "the event with its attributes")
        }
        return try await acknowledged {
            let partitions = try await partitions(of: businessEvents)
            let records = events.map { event in
                KafkaProducerRecord(
                    topic: businessEvents,
                    partition: KafkaPartitioner.partition(forKey: event.key, count: partitions),
                    key: event.key,
                    value: event.value,
                    headers: event.headers
                )
            }
            // A single record, the usual case, need not wait for the producer's thread.
            if records.count == 1 { return [try await producer.send(records[0])] }
            return try await producer.send(inOrder: records)
        }
    }

    /// Publishes a signal to its recipient's partition.
    ///
    /// - Parameter make: makes the record with the trace that it gets.
    func publish(
        _ trace: TraceContext?,
        signal make: (TraceContext?) throws(ModelError) -> SignalRecord
    ) async throws -> KafkaAcknowledgement {
        let span = span(to: signals, trace) { $0.add(trace?.sampled?.span ?? 0) }
        let signal = try make(span.map { TraceContext($0.context, after: trace) } ?? trace)
        return try await traced(span.map { [$0] } ?? []) {
            try await publish(to: signals, of: signal.recipient, signal.key, signal.value, signal.headers)
        }
    }

    /// Publishes a registration, or that a device is gone, to its recipient's partition.
    ///
    /// - Parameter registration: nil for a device that is gone.
    func publish(
        _ registration: DeviceRegistration?,
        key: NotificationKey,
        trace: TraceContext?
    ) async throws -> KafkaAcknowledgement {
        let span = span(to: devices, trace) { $0.add(trace?.sampled?.span ?? 0) }
        let trace = span.map { TraceContext($0.context, after: trace) } ?? trace
        let device = DeviceRecord(registration, key: key, trace: trace)
        return try await traced(span.map { [$0] } ?? []) {
            try await publish(to: devices, of: key.recipientBytes, key.encoded, device.value, device.headers)
        }
    }

    private func publish(
        to topic: String,
        of owner: [UInt8],
        _ key: [UInt8],
        _ value: [UInt8]?,
        _ headers: [KafkaHeader]
    ) async throws -> KafkaAcknowledgement {
        try await acknowledged {
            let partition = KafkaPartitioner.partition(forKey: owner, count: try await partitions(of: topic))
            return try await producer.send(
                KafkaProducerRecord(topic: topic, partition: partition, key: key, value: value, headers: headers)
            )
        }
    }

    /// Publishes the categories of an application.
    func publish(_ set: CategorySet, of application: String) async throws -> KafkaAcknowledgement {
        let (key, value) = (try CategoryKey.bytes(application: application), set.json)
        try bound.check(
            RecordBound.size(key: key, value: value, headers: []),
            "the set with the actions of earlier sets"
        )
        return try await publish(to: categories, of: Array(application.utf8), key, value, [])
    }

    /// Cached after the first request. A caller whose deadline has passed is answered already, and must not publish any
    /// more.
    private func partitions(of topic: String) async throws -> Int32 {
        let start = ContinuousClock.now
        let count = try await producer.partitionCount(of: topic)
        guard start.duration(to: .now) < deadline else { throw DeadlineExceeded() }
        return count
    }

    private struct DeadlineExceeded: Error, CustomStringConvertible {
        var description: String { "the broker did not return the topic's number of partitions in time" }
    }

    private func acknowledged<Result: Sendable>(
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as ModelError {
            throw error
        } catch {
            logger.warning("record not acknowledged", metadata: [LogMetadata.error: "\(error)"])
            throw Problem.unavailable
        }
    }
}
