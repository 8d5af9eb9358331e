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

    private static let properties = [
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
            for subject in subjects {
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
        let topics = TopicNames()
        let broker = try LocalBroker(
            topics: Dictionary(topics.all.map { ($0.topic, Int(workload.partitions)) }) { first, _ in first }
        )
        defer { Self.shutDown(broker) }
        let expected = try workload.fill(topics.requests, of: broker, time: Timestamp(rawValue: 0), logger: logger)
        let work = Subject.Work(
            bootstrapServers: broker.bootstrapServers.joined(separator: ","),
            topics: topics,
            partitions: workload.partitions,
            records: workload.records,
            properties: Self.properties
        )
        var progress = try TopicProgress(of: topics.deliveries, expected: expected, on: broker, logger: logger)
        let process = try SubjectProcess(
            subject.executable,
            subject.arguments(work),
            environment: subject.environment(work)
        )
        let result: SubjectResult
        do {
            defer {
                process.stop()
                progress.close()
            }
            result = try watch(process, &progress, name: subject.name)
        }
        return (
            result, try DeliveryCheck(reading: topics.deliveries, expected: expected, on: broker, logger: logger)
        )
    }

    /// Measures from the first event that is seen to the last: start and joining the group are left out for all alike.
    private func watch(_ process: SubjectProcess, _ progress: inout TopicProgress, name: String) throws -> SubjectResult
    {
        // A question costs the broker about a quarter of a millisecond a partition.
        let pause = Double(workload.partitions) * 0.004
        let deadline = ContinuousClock.now.advanced(by: timeLimit)
        var start: (at: ContinuousClock.Instant, count: Int, sample: ProcessSample)?
        while true {
            let count = try progress.count()
            let now = ContinuousClock.now
            let sample = try process.sample()
            if let start, count >= workload.records {
                let seconds = (now - start.at) / .seconds(1)
                let measured = Double(count - start.count)
                guard measured >= Double(workload.records) / 2 else {
                    throw BenchmarkError("\(name) was done before it could be measured: use more records")
                }
                return SubjectResult(
                    name: name,
                    messagesPerSecond: measured / seconds,
                    cpuSecondsPerMillion: (sample.cpuSeconds - start.sample.cpuSeconds) / measured * 1e6,
                    peakResidentBytes: sample.peakResidentBytes
                )
            }
            if start == nil, count > 0 { start = (now, count, sample) }
            guard now < deadline else {
                throw BenchmarkError("\(name) made \(count) of \(workload.records) events in \(timeLimit)")
            }
            Thread.sleep(forTimeInterval: start == nil ? 0.005 : pause)
        }
    }

    static func shutDown(_ broker: LocalBroker) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await broker.shutDown()
            done.signal()
        }
        done.wait()
    }
}
