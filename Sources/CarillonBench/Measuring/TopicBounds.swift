import Kafka
import LocalBroker
import Logging

/// Where the partitions of a topic begin and end, and what lies in between.
struct TopicBounds {
    let topic: String
    let lows: [Int64]
    let highs: [Int64]

    /// Asks the broker; blocking.
    init(of topic: String, _ partitions: Int32, on broker: LocalBroker, logger: Logger) throws {
        let consumer = try Self.consumer(of: broker, logger: logger)
        defer { consumer.close(within: .seconds(2)) }
        let bounds = try (0..<partitions).map { partition in
            try consumer.watermarks(of: KafkaTopicPartition(topic: topic, partition: partition), within: .seconds(10))
        }
        self.topic = topic
        (lows, highs) = (bounds.map(\.low), bounds.map(\.high))
    }

    private static func consumer(of broker: LocalBroker, logger: Logger) throws -> KafkaConsumer {
        try KafkaConsumer(
            configuration: .init(client: broker.clientConfiguration(clientID: "carillon-bench-bounds")),
            logger: logger
        )
    }

    /// Records that were ever written.
    var written: Int64 { highs.reduce(0, +) }
    /// Of those, how many the embedded broker has thrown away.
    var lost: Int64 { lows.reduce(0, +) }

    /// Reads every record up to here; blocking.
    ///
    /// - Parameter starts: the first offset of each partition.
    /// - Throws: ``BenchmarkError`` when some are no longer there, or do not come.
    func read(
        from starts: [Int64],
        on broker: LocalBroker,
        logger: Logger,
        _ body: (borrowing KafkaMessage) throws -> Void
    ) throws {
        guard zip(lows, starts).allSatisfy({ $0 <= $1 }) else {
            throw BenchmarkError("the embedded broker threw records of \(topic) away: use more partitions")
        }
        let consumer = try Self.consumer(of: broker, logger: logger)
        defer { consumer.close(within: .seconds(2)) }
        var places: [KafkaTopicPartition: Int64] = [:]
        for (partition, start) in starts.enumerated() where start < highs[partition] {
            places[KafkaTopicPartition(topic: topic, partition: Int32(partition))] = start
        }
        try consumer.assign(places)
        var left = written - starts.reduce(0, +)
        while left > 0 {
            guard let message = try consumer.poll(within: .seconds(10)) else {
                throw BenchmarkError("\(left) records of \(topic) could not be read")
            }
            guard message.offset < highs[Int(message.partition)] else { continue }
            try body(message)
            left -= 1
        }
    }
}
