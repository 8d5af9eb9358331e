import Foundation
import Kafka

/// The measured figures of one program.
struct ProgramRate: Sendable {
    var messagesPerSecond: Double
    /// User and system time of all its threads.
    var cpuSecondsPerMillion: Double
    var peakResidentBytes: Double
}

extension ProgramRate {
    /// The median of each figure; nil without runs.
    init?(medianOf runs: [ProgramRate]) {
        func median(_ figure: (ProgramRate) -> Double) -> Double? { Distribution(runs.map(figure)).median }
        guard let rate = median(\.messagesPerSecond), let cpu = median(\.cpuSecondsPerMillion),
            let peak = median(\.peakResidentBytes)
        else { return nil }
        self.init(messagesPerSecond: rate, cpuSecondsPerMillion: cpu, peakResidentBytes: peak)
    }

    var figures: [Figure] {
        [
            Figure("messages_per_second", "messages/s", messagesPerSecond, as: .whole),
            Figure("cpu_seconds_per_million", "CPU s/million", cpuSecondsPerMillion),
            Figure("peak_resident_bytes", "peak MiB", peakResidentBytes, as: .mebibytes),
        ]
    }
}

/// Measures a program by the growth of the topic that it writes.
struct TopicRate {
    var topic: String
    /// The expected number of records of each partition.
    var expected: [Int]
    /// Where they begin; nil for an empty topic.
    var starts: [Int64]?

    /// A program that takes longer has failed.
    private static let timeLimit = Duration.seconds(600)

    /// Measures from the first visible record to the last, without start-up and joining the group. Resumes a program that
    /// is paused.
    func measure(_ process: SubjectProcess, name: String, on broker: BenchmarkBroker) throws -> ProgramRate {
        let consumer = try broker.consumer()
        defer { consumer.close(within: .seconds(2)) }
        var counts = [Int](repeating: 0, count: expected.count)
        let total = expected.reduce(0, +)
        // A request costs the broker about a quarter of a millisecond per partition.
        let pause = Double(expected.count) * 0.004
        let deadline = ContinuousClock.now.advanced(by: Self.timeLimit)
        var start: (at: ContinuousClock.Instant, count: Int, sample: ProcessSample)?
        // Connected, so that no record is missed at the beginning.
        try update(&counts, consumer)
        process.resume()
        while true {
            try update(&counts, consumer)
            let count = counts.reduce(0, +)
            let now = ContinuousClock.now
            let sample = try process.sample()
            if let start, count >= total {
                let measured = Double(count - start.count)
                guard measured >= Double(total) / 2 else { break }
                return ProgramRate(
                    messagesPerSecond: measured / ((now - start.at) / .seconds(1)),
                    cpuSecondsPerMillion: (sample.cpuSeconds - start.sample.cpuSeconds) / measured * 1e6,
                    peakResidentBytes: Double(sample.peakResidentBytes)
                )
            }
            if start == nil, count > 0 { start = (now, count, sample) }
            guard now < deadline else {
                throw BenchmarkError("\(name) wrote \(count) of \(total) records in \(Self.timeLimit)")
            }
            Thread.sleep(forTimeInterval: start == nil ? 0.005 : pause)
        }
        throw BenchmarkError("\(name) finished before it could be measured: use more --records")
    }

    /// Updates the numbers of records, except for complete partitions.
    private func update(_ counts: inout [Int], _ consumer: KafkaConsumer) throws {
        for partition in expected.indices where counts[partition] < expected[partition] {
            let place = KafkaTopicPartition(topic: topic, partition: Int32(partition))
            let end = try consumer.watermarks(of: place, within: .seconds(60)).high
            counts[partition] = Int(end - (starts?[partition] ?? 0))
        }
    }
}
