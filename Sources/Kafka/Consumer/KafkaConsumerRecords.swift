import Dispatch
import Foundation
public import Logging
import Synchronization

/// Records as an asynchronous sequence, for tools and tests. It reads on demand, at most 500 records ahead, in addition
/// to librdkafka's buffer (`queued.max.messages.kbytes`).
///
/// Each iteration has its own consumer, off the cooperative pool. It ends when the task is cancelled or the iterator is
/// released. It commits nothing, and leaves its group at the end.
public struct KafkaConsumerRecords: AsyncSequence, Sendable {
    /// The start position.
    public enum Start: Sendable {
        /// Every partition of the topics from its first record.
        case beginning
        /// Only records written from now on.
        case end
        /// These partitions from these offsets.
        case offsets([KafkaTopicPartition: Int64])
        /// As a member of the configuration's group, from its committed offsets.
        case group
    }

    private let configuration: KafkaConsumerConfiguration
    private let topics: [String]
    private let start: Start
    private let logger: Logger

    /// A sequence of the records of some topics.
    public init(configuration: KafkaConsumerConfiguration, topics: [String], start: Start, logger: Logger) {
        self.configuration = configuration
        self.topics = topics
        self.start = start
        self.logger = logger
    }

    /// A new consumer, which connects at the first `next`.
    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: Reader(configuration, topics, start, logger))
    }

    /// Returns the records one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader
        private var batch: ArraySlice<KafkaConsumerRecord> = []

        fileprivate init(reader: Reader) { self.reader = reader }

        /// The next record; nil when the task is cancelled.
        ///
        /// - Throws: `KafkaError` when reading cannot continue, or the topics are not found within 10 s at the start;
        ///   the next call tries again.
        public mutating func next() async throws -> KafkaConsumerRecord? {
            while batch.isEmpty {
                guard !Task.isCancelled else { return nil }
                do {
                    batch = try await reader.read()[...]
                } catch is CancellationError {
                    return nil
                }
            }
            return batch.popFirst()
        }
    }

    /// Confines a consumer to its own serial queue, off the cooperative pool. Safe: only `queue` uses `consumer`,
    /// except for deinit, which no other access can overlap.
    fileprivate final class Reader: @unchecked Sendable {
        private static let batchSize = 500
        private let queue = DispatchQueue(label: "carillon.kafka.records")
        private let open: (Reader) throws -> KafkaConsumer
        private var consumer: KafkaConsumer?
        private let isCancelled = Atomic(false)

        init(_ configuration: KafkaConsumerConfiguration, _ topics: [String], _ start: Start, _ logger: Logger) {
            open = { reader in
                let consumer = try KafkaConsumer(configuration: configuration, logger: logger)
                do {
                    switch start {
                    case .group: try consumer.subscribe(to: topics)
                    case .offsets(let offsets): try consumer.assign(offsets)
                    case .beginning: try consumer.assign(reader.all(topics, KafkaOffset.beginning, consumer))
                    case .end: try consumer.assign(reader.all(topics, KafkaOffset.end, consumer))
                    }
                } catch {
                    consumer.close(within: .zero)
                    throw error
                }
                return consumer
            }
        }

        deinit {
            guard let consumer else { return }
            nonisolated(unsafe) let last = consumer
            queue.async { last.close(within: .seconds(5)) }
        }

        private func all(
            _ topics: [String],
            _ offset: Int64,
            _ consumer: KafkaConsumer
        ) throws -> [KafkaTopicPartition: Int64] {
            let deadline = ContinuousClock.now.advanced(by: .seconds(10))
            var offsets: [KafkaTopicPartition: Int64] = [:]
            for topic in topics {
                let count = try retried(until: deadline) { try consumer.partitionCount(of: topic, within: $0) }
                for partition in 0..<count {
                    let place = KafkaTopicPartition(topic: topic, partition: partition)
                    // Resolve the end now, so that records published before the first fetch are not skipped.
                    offsets[place] =
                        offset == KafkaOffset.end
                        ? try retried(until: deadline) { try consumer.watermarks(of: place, within: $0).high } : offset
                }
            }
            return offsets
        }

        /// Each attempt is short, so that cancellation takes effect.
        private func retried<Result>(
            until deadline: ContinuousClock.Instant,
            _ ask: (Duration) throws -> Result
        ) throws -> Result {
            while true {
                do {
                    return try ask(.seconds(1))
                } catch let error as KafkaError {
                    guard error.isRetriable, ContinuousClock.now < deadline else { throw error }
                    guard !isCancelled.load(ordering: .relaxed) else { throw CancellationError() }
                    // Pause, because a rejected call returns at once.
                    Thread.sleep(forTimeInterval: 0.05)
                }
            }
        }

        /// At least one record, or none after a tenth of a second.
        func read() async throws -> [KafkaConsumerRecord] {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    queue.async { continuation.resume(with: Result { try self.readBlocking() }) }
                }
            } onCancel: {
                isCancelled.store(true, ordering: .relaxed)
            }
        }

        private func readBlocking() throws -> [KafkaConsumerRecord] {
            let consumer = try self.consumer ?? open(self)
            self.consumer = consumer
            var records: [KafkaConsumerRecord] = []
            while records.count < Self.batchSize,
                let message = try consumer.poll(within: records.isEmpty ? .milliseconds(100) : .zero)
            {
                records.append(message.record())
            }
            return records
        }
    }
}
