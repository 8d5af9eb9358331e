import Kafka

/// The first and last offsets of a topic's partitions, and the records in between.
struct TopicBounds {
    let topic: String
    let lows: [Int64]
    let highs: [Int64]
    private static let patience = Duration.seconds(60)
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
        let consumer = try broker.consumer(tellsEnd: true)
        defer { consumer.close(within: .seconds(2)) }
        var places: [KafkaTopicPartition: Int64] = [:]
        for (partition, start) in starts.enumerated() where start < highs[partition] {
            places[KafkaTopicPartition(topic: topic, partition: Int32(partition))] = start
        }
        try consumer.assign(places)
        // Transactions leave markers between the records, which take offsets, too.
        var open = Set(places.keys)
        var heard = ContinuousClock.now
        while !open.isEmpty {
            guard let message = try consumer.poll(within: .seconds(1)) else {
                open = open.filter { place in (consumer.endPosition(of: place) ?? -1) < high(of: place) }
                guard ContinuousClock.now - heard < Self.patience else {
                    throw BenchmarkError("\(open.count) partitions of \(topic) could not be read to their ends")
                }
                continue
            }
            heard = .now
            let place = KafkaTopicPartition(topic: topic, partition: message.partition)
            if message.offset < high(of: place) { try body(message) }
            if message.offset + 1 >= high(of: place) { open.remove(place) }
        }
    }

    private func high(of place: KafkaTopicPartition) -> Int64 { highs[Int(place.partition)] }
}
