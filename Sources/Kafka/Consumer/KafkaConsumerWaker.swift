import CRDKafka
import Synchronization

/// Ends the poll of a consumer, from any thread.
///
/// A wake is kept: when nothing is polled, the next poll that finds no record returns at once. After the consumer is closed
/// a wake does nothing.
public final class KafkaConsumerWaker: Sendable {
    /// librdkafka's queue may be used from any thread, until its client is freed.
    private struct Queue: ~Copyable, @unchecked Sendable {
        let pointer: OpaquePointer
        deinit { rd_kafka_queue_destroy(pointer) }
    }

    private let queue: Mutex<Queue?>

    /// - Parameter client: a consumer.
    init(of client: OpaquePointer) {
        queue = Mutex(rd_kafka_queue_get_consumer(client).map { Queue(pointer: $0) })
    }

    /// Lets the poll that waits return, or the next one.
    public func wake() {
        queue.withLock { queue in
            guard let pointer = queue?.pointer else { return }
            rd_kafka_queue_yield(pointer)
        }
    }

    /// Before the client is freed.
    func close() {
        queue.withLock { $0 = nil }
    }
}
