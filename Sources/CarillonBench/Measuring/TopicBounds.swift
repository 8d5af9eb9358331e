import Kafka

/// The first and last offsets of a topic's partitions, and the records in between.
struct TopicBounds {
    let topic: String
    let lows: [Int64]
    let highs: [Int64]
    private let broker: BenchmarkBroker

    /// Requests the offsets from the broker; blocking.
    init(of topic: String, on broker: BenchmarkBroker) throws {
        let consumer = try broker.consumer()
        defer { consumer.close(within: .seconds(2)) }
        let bounds = try (0..<broker.partitions).map { partition in
            try consumer.watermarks(of: KafkaTopicPartition(topic: topic, partition: partition), within: .seconds(60))
        }
        (self.topic, self.broker) = (topic, broker)
        (lows, highs) = (bounds.map(\.low), bounds.map(\.high))
    }

    /// Number of records ever written.
    var written: Int64 { highs.reduce(0, +) }

    /// - Throws: ``BenchmarkError`` when the embedded broker has dropped records from these offsets on.
    func requireAll(from starts: [Int64]? = nil) throws {
        let lost = zip(lows, starts ?? lows.map { _ in 0 }).map { max(0, $0 - $1) }.reduce(0, +)
        guard lost == 0 else {
            throw BenchmarkError(
                "the embedded broker dropped \(lost) records of \(topic): use more --partitions, or fewer records"
            )
        }
    }

    /// Reads every record up to these ends; blocking.
    ///
    /// - Parameter starts: The first offset of each partition; nil for 0.
    /// - Throws: ``BenchmarkError`` when records were dropped, or do not arrive.
    func read(from starts: [Int64]? = nil, _ body: (borrowing KafkaMessage) throws -> Void) throws {
        try requireAll(from: starts)
        let starts = starts ?? lows.map { _ in 0 }
        let consumer = try broker.consumer()
        defer { consumer.close(within: .seconds(2)) }
        var places: [KafkaTopicPartition: Int64] = [:]
        for (partition, start) in starts.enumerated() where start < highs[partition] {
            places[KafkaTopicPartition(topic: topic, partition: Int32(partition))] = start
        }
        try consumer.assign(places)
        var left = written - starts.reduce(0, +)
        while left > 0 {
            guard let message = try consumer.poll(within: .seconds(60)) else {
                throw BenchmarkError("\(left) records of \(topic) could not be read")
            }
            guard message.offset < highs[Int(message.partition)] else { continue }
            try body(message)
            left -= 1
        }
    }
}
