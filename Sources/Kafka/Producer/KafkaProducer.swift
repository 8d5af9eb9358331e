public import Logging
import Synchronization

/// A producer for any number of tasks: `send` returns when the record is acknowledged.
///
/// A record goes to librdkafka at once; a thread serves the reports. A full queue suspends the sender, up to a deadline
/// (`queueFullTimeout`). The number of waiting tasks bounds the number of waiting records.
///
/// ## Duplicates
/// After a fatal error of librdkafka's idempotent producer, this producer replaces the client and publishes the
/// unacknowledged records again, in order; the waiting `send` calls do not notice. No record is lost. If a record had
/// been written and its acknowledgement was lost, the record is then there twice, and its `send` returns the second
/// offset. The same applies to unconfirmed records. See `KafkaLaneProducer`.
///
/// ## Shutdown
/// Call `shutDown`. A producer that is released without it still publishes the records it accepted, for at most 10 s,
/// and then ends its thread.
public final class KafkaProducer: Sendable {
    private enum Count {
        case known(Int32)
        case asked(Task<Int32, any Error>)
    }

    private let loop: ProducerLoop
    private let partitionCounts = Mutex<[String: Count]>([:])

    /// Starts the producer's thread. It does not connect.
    ///
    /// - Parameters:
    ///   - configuration: the settings of the client.
    ///   - ceiling: notified when the broker refuses a record for its size.
    ///   - logger: for what librdkafka reports.
    /// - Throws: `KafkaError` that names a property librdkafka rejects; `.invalidArgument` for a transactional id,
    ///   which needs a `KafkaLaneProducer`.
    public init(
        configuration: KafkaProducerConfiguration,
        ceiling: KafkaRecordCeiling? = nil,
        logger: Logger
    ) throws {
        guard configuration.transactionalID == nil else {
            throw KafkaError(code: .invalidArgument, reason: "KafkaProducer has no transactions: use KafkaLaneProducer")
        }
        loop = try ProducerLoop.start(configuration, ceiling, logger)
    }

    deinit { loop.close(within: .seconds(10)) }

    /// Publishes a record and waits for its acknowledgement. Cancelling ends the wait at once; the record is withdrawn
    /// only if librdkafka does not have it yet, so it may still be published.
    ///
    /// Records keep their order within a partition if one task sends each after the acknowledgement of the one before,
    /// or with ``send(inOrder:)``; the records of several tasks have no order.
    ///
    /// - Throws: `KafkaError`: `.queueFull` when the queue stayed full, `.messageTimedOut` when no acknowledgement
    ///   arrived in time, `.destroyed` after the shutdown, others from the broker; `CancellationError`.
    public func send(_ record: KafkaProducerRecord) async throws -> KafkaAcknowledgement {
        try await loop.send(record)
    }

    /// Publishes records in the order of the array within each partition, and waits for all acknowledgements. A failed
    /// record ends the wait: later records that librdkafka did not have by then are not published, the others may be.
    ///
    /// The first record of each partition is sent alone. A leader that has written a batch of a producer refuses
    /// batches out of order; a leader that knows none of its batches accepts a later one after refusing an earlier one
    /// (see `KafkaLaneProducer`).
    ///
    /// - Parameter records: each with its partition.
    /// - Returns: the acknowledgements in the order of the records
    /// - Throws: as ``send(_:)``, and `.invalidArgument` for a record without a partition.
    public func send(inOrder records: [KafkaProducerRecord]) async throws -> [KafkaAcknowledgement] {
        struct Place: Hashable {
            var topic: String
            var partition: Int32
        }
        var places: Set<Place> = []
        var (first, rest): ([Int], [Int]) = ([], [])
        for (index, record) in records.enumerated() {
            guard let partition = record.partition else {
                throw KafkaError(code: .invalidArgument, reason: "send(inOrder:) needs a partition in every record")
            }
            if places.insert(Place(topic: record.topic, partition: partition)).inserted {
                first.append(index)
            } else {
                rest.append(index)
            }
        }
        var found: [(index: Int, acknowledgement: KafkaAcknowledgement)] = []
        for turn in [first, rest] where !turn.isEmpty {
            found += zip(turn, try await loop.send(batch: turn.map { records[$0] })).map { ($0, $1) }
        }
        return found.sorted { $0.index < $1.index }.map(\.acknowledgement)
    }

    /// The number of partitions of a topic. The answer is cached, so that a key keeps its partition for the life of
    /// this producer, even when the topic grows. All callers that wait for a topic share one request, which takes at
    /// most 5 s on a separate thread, also when a caller is cancelled.
    ///
    /// - Throws: `KafkaError`, retriable while no broker answers; `.destroyed` after the shutdown.
    public func partitionCount(of topic: String) async throws -> Int32 {
        let found = partitionCounts.withLock { counts -> Count in
            if let found = counts[topic] { return found }
            let asked = Count.asked(Task { try await ask(topic) })
            counts[topic] = asked
            return asked
        }
        switch found {
        case .known(let count): return count
        case .asked(let task): return try await task.value
        }
    }

    private func ask(_ topic: String) async throws -> Int32 {
        do {
            let count = try await loop.partitionCount(of: topic, within: .seconds(5))
            partitionCounts.withLock { $0[topic] = .known(count) }
            return count
        } catch {
            // The next caller asks again.
            partitionCounts.withLock { $0[topic] = nil }
            throw error
        }
    }

    /// Accepts no more records, waits for the outstanding ones, and frees the client; records unacknowledged by then
    /// fail. Takes at most a second longer than the time. Cancelling does not shorten it. A second call waits for the
    /// first, or shortens it.
    public func shutDown(within time: Duration) async {
        await withCheckedContinuation { continuation in
            loop.close(within: time) { continuation.resume() }
        }
    }
}

extension KafkaProducer {
    /// For tests: how many sends wait for their acknowledgement.
    var waitingForTest: Int { loop.waitingCount }

    /// For tests: raises a fatal error as an idempotent producer can.
    func failForTest(_ reason: String) { loop.failForTest(reason) }
}
