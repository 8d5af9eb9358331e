import Kafka
import ServiceSupport

/// A topic that is being read, on the calling thread.
final class TopicCursor {
    enum Step {
        case record(KafkaConsumerRecord)
        case nothingYet
        /// All records that were there at the start are read.
        case end
    }

    private let reader: TopicReader
    private let consumer: KafkaConsumer
    private let ends: [KafkaTopicPartition: Int64]
    /// The partitions with records that were there at the start and are not read yet.
    private var unread: Set<KafkaTopicPartition>

    init(
        _ reader: TopicReader,
        _ consumer: KafkaConsumer,
        from starts: [KafkaTopicPartition: Int64],
        to ends: [KafkaTopicPartition: Int64]
    ) throws(CommandFailure) {
        (self.reader, self.consumer, self.ends) = (reader, consumer, ends)
        unread = Set(ends.keys)
        try Self.translating(reader.topic) { try consumer.assign(starts) }
        reader.connection.log.tell()
    }

    /// The next record.
    ///
    /// - Parameters:
    ///   - time: How long to wait for one.
    ///   - isWanted: Whether it is copied; what is not wanted counts as nothing.
    func next(
        within time: Duration,
        where isWanted: (borrowing KafkaMessage) -> Bool = { _ in true }
    ) throws(CommandFailure) -> Step {
        guard reader.follows || !unread.isEmpty else { return .end }
        guard let message = try Self.translating(reader.topic, { try consumer.poll(within: time) }) else {
            // The last offsets of a partition may be invisible.
            if !reader.follows { unread.subtract(consumer.atEnd) }
            return .nothingYet
        }
        if !reader.follows {
            let place = KafkaTopicPartition(topic: reader.topic, partition: message.partition)
            let end = ends[place] ?? 0
            if message.offset + 1 >= end { unread.remove(place) }
            guard message.offset < end else { return .nothingYet }
        }
        return isWanted(message) ? .record(message.record()) : .nothingYet
    }

    deinit { consumer.close(within: .seconds(1)) }

    private static func translating<Result: ~Copyable>(
        _ topic: String,
        _ body: () throws -> Result
    ) throws(CommandFailure) -> Result {
        do {
            return try body()
        } catch let error as KafkaError {
            throw CommandFailure("\(topic): \(error.reason)", status: ExitStatus.failed)
        } catch {
            throw CommandFailure("\(topic): \(error)", status: ExitStatus.failed)
        }
    }
}
