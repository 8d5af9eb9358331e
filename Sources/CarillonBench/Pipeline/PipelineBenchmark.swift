import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel

/// Runs the subjects one after the other on the same input, each on an embedded broker of its own in this process.
struct PipelineBenchmark {
    var workload: RequestWorkload
    /// How often each runs; the median of its rates counts.
    var rounds: Int
    /// A subject that takes longer is given up.
    var timeLimit: Duration
    var logger: Logger
    var report: (String) -> Void

    static let properties = [
        // The embedded broker keeps 5 MiB a partition as it was sent, and does not wake a waiting fetch.
        "compression.type": "lz4",
        "fetch.wait.max.ms": "10",
        // Enough to read ahead of the one thread that works.
        "queued.min.messages": "1000000",
        "queued.max.messages.kbytes": "1048576",
    ]

    /// - Throws: ``BenchmarkError`` when a subject fails, or did other work than the first.
    func run(_ subjects: [Subject]) throws -> [SubjectResult] {
        var runs: [String: [SubjectResult]] = [:]
        var reference: (name: String, check: DeliveryCheck)?
        for round in 1...rounds {
            for subject in subjects where round == 1 || !subject.runsOnce {
                report("\(subject.name), round \(round) of \(rounds): \(workload.records) requests")
                let (result, check) = try measure(subject)
                runs[subject.name, default: []].append(result)
                guard let first = reference else {
                    reference = (subject.name, check)
                    continue
                }
                guard check == first.check else {
                    throw BenchmarkError("\(subject.name) made other events than \(first.name) from the same requests")
                }
            }
        }
        return subjects.map { SubjectResult(median: runs[$0.name] ?? [], name: $0.name) }
    }

    private func measure(_ subject: Subject) throws -> (SubjectResult, DeliveryCheck) {
        try LocalBroker.with(partitions: workload.partitions) { broker, topics in
            let expected = try workload.fill(topics.requests, of: broker, time: Timestamp(rawValue: 0), logger: logger)
            let rate = TopicRate(topic: topics.deliveries, expected: expected, timeLimit: timeLimit, logger: logger)
            let process = try subject.start(
                Subject.Work(
                    bootstrapServers: broker.bootstrapServers.joined(separator: ","),
                    topics: topics,
                    partitions: workload.partitions,
                    records: workload.records,
                    properties: Self.properties
                )
            )
            defer { process.stop() }
            let result = try rate.measure(process, name: subject.name, on: broker)
            // Reading all of it costs time that the next subject should have for itself.
            process.stop()
            return (
                result, try DeliveryCheck(reading: topics.deliveries, expected: expected, on: broker, logger: logger)
            )
        }
    }
}
