import Kafka
import NotificationModel

/// Business events to requests: the producer service compared with the consumer service on as many records.
struct EventsBenchmark {
    var records: Int
    var partitions: Int32
    var rounds: Int
    var workbench: Workbench

    /// - Returns: The medians of the rounds.
    func run() throws -> (producer: ProgramRate, pipeline: ProgramRate) {
        let requests = RequestWorkload(records: records, partitions: partitions)
        let pipeline = PipelineBenchmark(requests: requests, rounds: 1, workbench: workbench)
        var producers: [ProgramRate] = []
        var pipelines: [ProgramRate] = []
        for round in 1...rounds {
            workbench.report("business events to requests, round \(round) of \(rounds): \(records) events")
            producers.append(try measure())
            pipelines += try pipeline.run([.carillon()]).map(\.rate)
        }
        guard let producer = ProgramRate(medianOf: producers), let pipeline = ProgramRate(medianOf: pipelines) else {
            throw BenchmarkError("no rounds")
        }
        return (producer, pipeline)
    }

    private func measure() throws -> ProgramRate {
        try BenchmarkBroker.with(partitions: partitions, logger: workbench.logger) { broker in
            let expected = try publish(to: broker)
            let work = broker.work(properties: PipelineBenchmark.properties)
            let process = try Subject.producer().start(work, on: workbench)
            defer { process.stop() }
            return try TopicRate(topic: broker.topics.requests, expected: expected)
                .measure(process, name: "the producer service", on: broker)
        }
    }

    /// - Returns: The expected number of requests of each partition.
    private func publish(to broker: BenchmarkBroker) throws -> [Int] {
        var feed = try RecordFeed(broker.topics.businessEvents, of: broker)
        var headers = KafkaHeaderBuffer()
        var expected = [Int](repeating: 0, count: Int(partitions))
        for index in 0..<records {
            EventWorkload.writeHeaders(of: index, into: &headers)
            let key = EventWorkload.key(of: index)
            let partition = KafkaPartitioner.partition(forKey: key, count: partitions)
            try feed.put(key, EventWorkload.data(of: index, sent: 0), headers, partition: partition)
            let recipient = Array("user-".utf8) + key.dropFirst("order-".utf8.count)
            expected[Int(KafkaPartitioner.partition(forKey: recipient, count: partitions))] += 1
        }
        try feed.finish()
        return expected
    }
}
