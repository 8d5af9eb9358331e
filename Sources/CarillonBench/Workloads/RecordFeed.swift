import Kafka

/// Publishes benchmark input to one topic; blocking, on one thread.
struct RecordFeed {
    private let producer: KafkaLaneProducer
    private let topic: KafkaTopicHandle
    private var failure: KafkaError?
    /// Records of each partition so far.
    private(set) var counts: [Int]
    private var sinceReports = 0

    init(_ topic: String, of broker: BenchmarkBroker) throws {
        let client = KafkaClientConfiguration(
            bootstrapServers: broker.bootstrapServers,
            clientID: "carillon-bench",
            properties: ["compression.type": "lz4"]
        )
        producer = try KafkaLaneProducer(configuration: .init(client: client), logger: broker.logger)
        // The client refuses a record for a partition that it does not know yet.
        _ = try producer.partitionCount(of: topic, within: .seconds(60))
        self.topic = try producer.topic(topic)
        counts = [Int](repeating: 0, count: Int(broker.partitions))
    }

    /// - Parameter timestamp: milliseconds since 1970; nil for now.
    mutating func put(
        _ key: [UInt8],
        _ value: [UInt8],
        _ headers: KafkaHeaderBuffer,
        partition: Int32,
        timestamp: Int64? = nil
    ) throws {
        while true {
            do throws(KafkaError) {
                try producer.enqueue(
                    topic: topic,
                    partition: partition,
                    key: key,
                    value: value,
                    headers: headers,
                    timestamp: timestamp,
                    tag: 0
                )
                break
            } catch {
                guard error.code == .queueFull else { throw error }
                try serve(within: .milliseconds(100))
            }
        }
        counts[Int(partition)] += 1
        sinceReports += 1
        if sinceReports >= 1_000 { try serve(within: .zero) }
    }

    /// Processes acknowledgements and refusals.
    mutating func serve(within time: Duration) throws {
        sinceReports = 0
        producer.serveReports(within: time) { failure = failure ?? $0.error }
        if let failure { throw failure }
    }

    /// Waits until everything is acknowledged, and closes the producer.
    mutating func finish() throws {
        let isFlushed = producer.flush(within: .seconds(120)) { failure = failure ?? $0.error }
        producer.close(within: .seconds(1))
        if let failure { throw failure }
        guard isFlushed else { throw BenchmarkError("the input could not be published within two minutes") }
    }
}
