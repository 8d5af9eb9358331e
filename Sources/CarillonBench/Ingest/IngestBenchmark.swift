import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel

/// Business events to requests: the producer service beside the consumer service on as many records.
struct IngestBenchmark {
    var records: Int
    var partitions: Int32
    var rounds: Int
    var logger: Logger
    var report: (String) -> Void

    func run() throws -> [SubjectResult] {
        var producers: [SubjectResult] = []
        var pipelines: [SubjectResult] = []
        let pipeline = PipelineBenchmark(
            workload: .init(records: records, partitions: partitions),
            rounds: 1,
            timeLimit: .seconds(600),
            logger: logger,
            report: { _ in }
        )
        for round in 1...rounds {
            report("business events to requests, round \(round) of \(rounds): \(records) events")
            producers.append(try measure())
            pipelines += try pipeline.run([.carillon()])
        }
        return [
            SubjectResult(median: producers, name: "business_events"),
            SubjectResult(median: pipelines, name: "pipeline"),
        ]
    }

    private func measure() throws -> SubjectResult {
        let rules = try EventWorkload.writeRules()
        defer { try? FileManager.default.removeItem(at: rules) }
        return try LocalBroker.with(partitions: partitions) { broker, topics in
            var feed = try RecordFeed(topics.businessEvents, of: broker, logger: logger)
            var headers = KafkaHeaderBuffer()
            var expected = [Int](repeating: 0, count: Int(partitions))
            for index in 0..<records {
                EventWorkload.writeHeaders(of: index, into: &headers)
                let key = EventWorkload.key(of: index)
                try feed.put(
                    key,
                    EventWorkload.data(of: index, sent: 0),
                    headers,
                    partition: KafkaPartitioner.partition(forKey: key, count: partitions)
                )
                let recipient = Array("user-".utf8) + key.dropFirst("order-".utf8.count)
                expected[Int(KafkaPartitioner.partition(forKey: recipient, count: partitions))] += 1
            }
            try feed.finish()
            let process = try Subject.producer(rules: rules).start(
                Subject.Work(
                    bootstrapServers: broker.bootstrapServers.joined(separator: ","),
                    topics: topics,
                    partitions: partitions,
                    records: records,
                    properties: PipelineBenchmark.properties
                )
            )
            defer { process.stop() }
            return try TopicRate(
                topic: topics.requests,
                expected: expected,
                timeLimit: .seconds(600),
                logger: logger
            ).measure(process, name: "business_events", on: broker)
        }
    }
}
