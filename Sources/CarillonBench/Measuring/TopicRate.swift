import Foundation
import LocalBroker
import Logging

/// Measures a program by the growth of the topic that it writes.
struct TopicRate {
    var topic: String
    /// How many records each partition will have.
    var expected: [Int]
    /// A program that takes longer is given up.
    var timeLimit: Duration
    var logger: Logger

    /// Measures from the first record that is seen to the last: start and joining a group are left out for all alike.
    func measure(_ process: SubjectProcess, name: String, on broker: LocalBroker) throws -> SubjectResult {
        var progress = try TopicProgress(of: topic, expected: expected, on: broker, logger: logger)
        defer { progress.close() }
        let total = expected.reduce(0, +)
        // A question costs the broker about a quarter of a millisecond a partition.
        let pause = Double(expected.count) * 0.004
        let deadline = ContinuousClock.now.advanced(by: timeLimit)
        var start: (at: ContinuousClock.Instant, count: Int, sample: ProcessSample)?
        while true {
            let count = try progress.count()
            let now = ContinuousClock.now
            let sample = try process.sample()
            if let start, count >= total {
                let measured = Double(count - start.count)
                guard measured >= Double(total) / 2 else { break }
                return SubjectResult(
                    name: name,
                    messagesPerSecond: measured / ((now - start.at) / .seconds(1)),
                    cpuSecondsPerMillion: (sample.cpuSeconds - start.sample.cpuSeconds) / measured * 1e6,
                    peakResidentBytes: sample.peakResidentBytes
                )
            }
            if start == nil, count > 0 { start = (now, count, sample) }
            guard now < deadline else {
                throw BenchmarkError("\(name) made \(count) of \(total) records in \(timeLimit)")
            }
            Thread.sleep(forTimeInterval: start == nil ? 0.005 : pause)
        }
        throw BenchmarkError("\(name) was done before it could be measured: use more records")
    }
}
