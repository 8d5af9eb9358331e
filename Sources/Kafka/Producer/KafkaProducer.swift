public import Logging
import Synchronization

/// A producer for any number of tasks: `send` returns when the record is acknowledged.
///
/// A record goes to librdkafka at once; a thread serves the reports. A full queue suspends the sender, with a
/// deadline (`queueFullTimeout`). What waits is bounded by the number of tasks that wait.
///
/// ## What can be there twice
/// A fatal error of librdkafka's idempotent producer makes the client anew and publishes again what was not acknowledged, in
/// order; the waiting `send` calls do not notice. Nothing is lost; a record that had been written, and whose
/// acknowledgement was lost, is then there twice, and its `send` returns the offset of the second. So it is with a record that
/// nobody acknowledged, though librdkafka says so. See `KafkaLaneProducer`.
///
/// ## The end
/// Call `shutDown`. A producer that is let go without it still publishes what it took, for at most 10 s, and then ends its thread.
public final class KafkaProducer: Sendable {
    private enum Count {
        case known(Int32)
        case asked(Task<Int32, any Error>)
    }

    private let loop: ProducerLoop
    private let partitionCounts = Mutex<[String: Count]>([:])

    /// Starts the producer's thread. It does not connect.
    ///
    /// - Parameter ceiling: hears of records that the broker does not take for their size.
    /// - Throws: `KafkaError` that names a property librdkafka does not take; `.invalidArgument` for a transactional id, which
    ///   only a `KafkaLaneProducer` has a use for.
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

    /// Publishes a record and waits for its acknowledgement. Cancelling ends the wait at once; the record is then published or
    /// not: it is taken back only when librdkafka does not have it yet.
    ///
    /// Records of one task, each sent when the one before is acknowledged, keep their order within a partition, and so do those of
    /// ``send(inOrder:)``; records of several tasks have none.
    ///
    /// - Throws: `KafkaError`: `.queueFull` when there was no room in time, `.messageTimedOut` when no acknowledgement came in
    ///   time, `.destroyed` after the shutdown, others as the broker says; `CancellationError`.
    public func send(_ record: KafkaProducerRecord) async throws -> KafkaAcknowledgement {
        try await loop.send(record)
    }

    /// Publishes records so that those of one partition are written in the order of the array, and waits for the
    /// acknowledgement of all. A record that fails ends the wait; of those behind it none is published that librdkafka did not
    /// have by then, and what it had may be written.
    ///
    /// The first record of each partition goes ahead alone: a leader that has written one of a producer refuses what comes out
    /// of order, while one that knows none of it takes a later batch when it refused an earlier one (see `KafkaLaneProducer`).
    ///
    /// - Parameter records: each with its partition
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
                throw KafkaError(code: .invalidArgument, reason: "records that keep their order need a partition each")
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

    /// How many partitions a topic has; asked once and remembered, so that a key keeps its partition while this producer lives,
    /// also when the topic grows. All who wait for a topic share one question, which takes
    /// at most 5 s on a thread of its own, also when a waiter is cancelled.
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
            // The next who wants to know asks again.
            partitionCounts.withLock { $0[topic] = nil }
            throw error
        }
    }

    /// Takes nothing more, waits for what is under way, and frees the client; what is then unacknowledged fails. Takes at most
    /// a second longer than the time. Cancelling does not shorten it. A second call waits for the first, or shortens it.
    public func shutDown(within time: Duration) async {
        await withCheckedContinuation { continuation in
            loop.close(within: time) { continuation.resume() }
        }
    }
}

extension KafkaProducer {
    /// For tests: how many sends wait for their acknowledgement.
    var waitingForTest: Int { loop.waitingCount }

    /// For tests: makes the client fail as an idempotent producer can.
    func failForTest(_ reason: String) { loop.failForTest(reason) }
}
