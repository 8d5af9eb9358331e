import Dispatch
public import Logging

/// Records as an asynchronous sequence, for tools and tests: read only as fast as they are taken.
///
/// Each iteration has a consumer of its own; it ends when the task is cancelled.
public struct KafkaConsumerRecords: AsyncSequence, Sendable {
    /// Where to start.
    public enum Start: Sendable {
        /// Every partition of the topics from its first record.
        case beginning
        /// What comes from now on.
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

    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: Reader(configuration, topics, start, logger))
    }

    /// Takes one record after the other.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader
        private var batch: ArraySlice<KafkaConsumerRecord> = []

        fileprivate init(reader: Reader) { self.reader = reader }

        /// The next record; nil when the task is cancelled.
        ///
        /// - Throws: `KafkaError` when reading cannot go on.
        public mutating func next() async throws -> KafkaConsumerRecord? {
            while batch.isEmpty {
                guard !Task.isCancelled else { return nil }
                batch = try await reader.read()[...]
            }
            return batch.popFirst()
        }
    }

    /// Confines a consumer to a serial queue of its own, off the cooperative pool.
    // Safe: `consumer` is touched on `queue` only, and in deinit when nobody else can.
    fileprivate final class Reader: @unchecked Sendable {
        private static let batchSize = 500
        private let queue = DispatchQueue(label: "carillon.kafka.records")
        private let open: () throws -> KafkaConsumer
        private var consumer: KafkaConsumer?

        init(_ configuration: KafkaConsumerConfiguration, _ topics: [String], _ start: Start, _ logger: Logger) {
            open = {
                let consumer = try KafkaConsumer(configuration: configuration, logger: logger)
                switch start {
                case .group: try consumer.subscribe(to: topics)
                case .offsets(let offsets): try consumer.assign(offsets)
                case .beginning: try consumer.assign(Self.all(topics, KafkaOffset.beginning, consumer))
                case .end: try consumer.assign(Self.all(topics, KafkaOffset.end, consumer))
                }
                return consumer
            }
        }

        deinit {
            guard let consumer else { return }
            nonisolated(unsafe) let last = consumer
            queue.async { last.close(within: .seconds(5)) }
        }

        private static func all(
            _ topics: [String],
            _ offset: Int64,
            _ consumer: KafkaConsumer
        ) throws -> [KafkaTopicPartition: Int64] {
            var offsets: [KafkaTopicPartition: Int64] = [:]
            for topic in topics {
                for partition in 0..<(try consumer.partitionCount(of: topic, within: .seconds(10))) {
                    let place = KafkaTopicPartition(topic: topic, partition: partition)
                    // Resolved now, so that nothing published after this is missed while the first fetch is under way.
                    offsets[place] =
                        offset == KafkaOffset.end
                        ? try consumer.watermarks(of: place, within: .seconds(10)).high : offset
                }
            }
            return offsets
        }

        /// At least one record, or none after a tenth of a second.
        func read() async throws -> [KafkaConsumerRecord] {
            try await withCheckedThrowingContinuation { continuation in
                queue.async { continuation.resume(with: Result { try self.readBlocking() }) }
            }
        }

        private func readBlocking() throws -> [KafkaConsumerRecord] {
            let consumer = try self.consumer ?? open()
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
