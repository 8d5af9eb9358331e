import Kafka
import Logging
import NotificationModel
import NotificationPublisher
import ServiceSupport

/// The way from HTTP to Kafka: what is called through it returns when the broker has acknowledged, or fails as the answer
/// that the caller gets.
struct BrokerGateway: Sendable {
    let producer: KafkaProducer
    let publisher: NotificationPublisher
    let businessEvents: String
    /// How long a caller waits for the acknowledgement.
    let deadline: Duration
    let metrics: ProducerMetrics
    let logger: Logger

    /// A record for `business-events`.
    struct Event: Sendable {
        var key: [UInt8]
        var value: [UInt8]?
        var headers: [KafkaHeader]
    }

    func publish(
        value: [UInt8],
        key: NotificationKey,
        requestID: RequestID,
        isRemoval: Bool,
        trace: TraceContext?
    ) async throws -> NotificationPublisher.Receipt {
        let receipt = try await acknowledged {
            try await publisher.publish(
                value: value,
                key: key,
                requestID: requestID,
                isRemoval: isRemoval,
                trace: trace
            )
        }
        metrics.countRequest()
        return receipt
    }

    /// Publishes all of them, side by side. When one fails the others may be on the broker: the caller repeats all, and the
    /// repeats are recognised by their source and id.
    func publish(_ events: [Event]) async throws {
        try await acknowledged {
            let partitions = try await producer.partitionCount(of: businessEvents)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for event in events {
                    let record = KafkaProducerRecord(
                        topic: businessEvents,
                        partition: KafkaPartitioner.partition(forKey: event.key, count: partitions),
                        key: event.key,
                        value: event.value,
                        headers: event.headers
                    )
                    group.addTask { _ = try await producer.send(record) }
                }
                try await group.waitForAll()
            }
        }
    }

    private func acknowledged<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        do {
            return try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask { try await body() }
                group.addTask {
                    try await Task.sleep(for: deadline)
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let result = first else { throw DeadlineExceeded() }
                return result
            }
        } catch let error as KafkaError where error.code == .messageTooLarge {
            throw ModelError(.tooLarge, "the broker does not take a record of this size")
        } catch let error as ModelError {
            throw error
        } catch {
            logger.warning("a record was not acknowledged", metadata: [LogMetadata.error: "\(error)"])
            throw Problem.unavailable(
                "The broker did not acknowledge in time. Repeat the call: a notification replaces the one of its "
                    + "identifier, and an event is recognised by its source and id.",
                retryAfter: 5
            )
        }
    }

    private struct DeadlineExceeded: Error, CustomStringConvertible {
        var description: String { "no acknowledgement within the deadline" }
    }
}
