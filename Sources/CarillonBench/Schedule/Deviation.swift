import ArgumentParser
import Foundation
import Kafka
import NotificationModel

/// `carillon-bench deviation`.
struct DeviationCommand: BenchmarkCommand {
    static let configuration = CommandConfiguration(
        commandName: "deviation",
        abstract: "How late timers fire, with many others pending.",
        discussion: """
            In addition to timers due in weeks, some are due evenly each second, and at the end many at one instant. \
            Lateness is the timestamp of the event's record, which is the service's clock as it hands the event over, \
            less the instant at which it was due. One that is early fails the run, by that clock or by the event's \
            `ce_time`.
            """
    )

    @Option(help: "Number of timers due in weeks.")
    var pending = 1_000_000
    @Option(help: "Number of timers due each second.")
    var rate = 10_000
    @Option(help: "Seconds with such timers.")
    var seconds = 30
    @Option(help: "Number of timers due at one instant.")
    var burst = 50_000
    @Option(help: "Partitions of the topics; the embedded broker keeps 5 MiB of each.")
    var partitions: Int32 = 64
    @OptionGroup var common: CommonOptions

    func validate() throws {
        try requireRange("--pending", pending, 1...50_000_000)
        try requireRange("--rate", rate, 1...1_000_000)
        try requireRange("--seconds", seconds, 1...600)
        try requireRange("--burst", burst, 1...10_000_000)
        try requireRange("--partitions", partitions, 1...1_000)
    }

    func measure(on workbench: Workbench) throws -> Report {
        let benchmark = DeviationBenchmark(
            pending: pending,
            rate: rate,
            seconds: seconds,
            burst: burst,
            partitions: partitions,
            workbench: workbench
        )
        let (spread, burst) = try benchmark.run()
        let workload = Workload(
            name:
                "\(pending) pending over \(partitions) partitions, then \(rate) due each second for \(seconds) s, then "
                + "\(self.burst) at once\(Programs.build)",
            figures: [
                Figure("pending", given: pending), Figure("partitions", given: partitions),
                Figure("per_second", given: rate), Figure("seconds", given: seconds),
            ],
            parts: [
                FigureRow("spread_ms", title: "ms late, due evenly", spread.figures(as: .whole)),
                FigureRow("burst_ms", title: "ms late, due at one instant", burst.figures(as: .whole)),
            ]
        )
        return Report(benchmark: "deviation", workloads: [workload])
    }
}

/// Timers that become due while many others are pending: evenly, then all at once.
struct DeviationBenchmark {
    /// Milliseconds from the last evenly due timer to those due at once.
    private static let gap = 5_000

    var pending: Int
    var rate: Int
    var seconds: Int
    var burst: Int
    var partitions: Int32
    var workbench: Workbench

    private var spread: Int { rate * seconds }

    /// Milliseconds from the publishing of the requests until the first one is due; by then they are in the store.
    private var lead: Int { 15_000 + (spread + burst) / 20 }

    /// - Returns: The lateness in milliseconds of the evenly due timers, and of those due at once.
    /// - Throws: ``BenchmarkError`` when a timer fires early, or not exactly once.
    func run() throws -> (spread: Distribution, burst: Distribution) {
        workbench.report("deviation: \(pending) pending over \(partitions) partitions")
        return try BenchmarkBroker.with(partitions: partitions, logger: workbench.logger) { broker in
            let service = try ScheduleService(of: broker, filling: pending, on: workbench)
            try service.awaitAssignment()
            try service.fill(pending)
            try service.awaitQuiet(pending: pending)
            let before = try TopicBounds(of: broker.topics.deliveries, on: broker)

            workbench.report("deviation: \(rate) a second for \(seconds) s, then \(burst) at once")
            let now = SystemClock.now()
            let end = pending + spread + burst
            try ScheduleWorkload.publish(pending..<end, to: broker, at: now, interval: due)
            try service.awaitQuiet(pending: end)
            guard SystemClock.now() < now.adding(milliseconds: Int64(lead)) else {
                throw BenchmarkError(
                    "this machine is too slow: requests were not scheduled before the first was due; use fewer"
                )
            }
            let last = now.adding(milliseconds: Int64(due(end - 1)))
            while SystemClock.now() < last {
                Thread.sleep(forTimeInterval: 1)
                _ = try service.process.sample()
            }
            try service.awaitQuiet(pending: pending)
            return try read(since: before.highs, on: broker)
        }
    }

    /// The due time of a near request, in milliseconds after its timestamp.
    private func due(_ index: Int) -> Int {
        let number = index - pending
        return lead + (number < spread ? number * 1000 / rate : seconds * 1000 + Self.gap)
    }

    private func read(
        since starts: [Int64],
        on broker: BenchmarkBroker
    ) throws -> (spread: Distribution, burst: Distribution) {
        var isDelivered = [Bool](repeating: false, count: spread + burst)
        var (even, atOnce): ([Int64], [Int64]) = ([], [])
        var earliest = Int64.max
        let delivered = Array("\(DeliveryEventName.delivered.type)".utf8)
        try TopicBounds(of: broker.topics.deliveries, on: broker).read(from: starts) { message in
            guard message.headerValue("ce_type") == delivered else { return }
            let event = try DeliveryEvent(json: message.value() ?? [], name: .delivered)
            guard let index = ScheduleWorkload.index(of: event.key.encoded).map({ $0 - pending }),
                isDelivered.indices.contains(index), !isDelivered[index], let handedOver = message.timestamp,
                let occurrence = event.occurrence,
                let stated = message.headerValue("ce_time").flatMap({ Timestamp(rfc3339: $0) })
            else { throw BenchmarkError("a delivery that is not due, repeats, or has no due time") }
            isDelivered[index] = true
            let late = handedOver - occurrence.rawValue
            earliest = min(earliest, late, stated.rawValue - occurrence.rawValue)
            if index < spread { even.append(late) } else { atOnce.append(late) }
        }
        guard isDelivered.allSatisfy(\.self) else { throw BenchmarkError("some due notifications were not delivered") }
        guard earliest >= 0 else { throw BenchmarkError("a timer fired \(-earliest) ms early") }
        return (Distribution(even.map(Double.init)), Distribution(atOnce.map(Double.init)))
    }
}
