import Foundation
import Kafka
import LocalBroker
import Logging
import NotificationModel

/// Timers that come due while many others are far away: evenly, then all at once.
struct DeviationBenchmark {
    /// From the last that is due evenly to those due at once.
    private static let gap = 5_000

    var pending: Int
    var rate: Int
    var seconds: Int
    var burst: Int
    var workload: ScheduleWorkload
    var logger: Logger
    var report: (String) -> Void

    private var spread: Int { rate * seconds }

    /// Milliseconds from the publishing of the requests until the first of them is due: they are in the store by then.
    private var lead: Int { 15_000 + (spread + burst) / 20 }

    /// - Throws: ``BenchmarkError`` when one is early, or is not delivered exactly once.
    func run() throws -> DeviationReport {
        report("deviation: \(pending) pending over \(workload.partitions) partitions")
        return try LocalBroker.with(partitions: workload.partitions) { broker, topics in
            let service = try ScheduleService(workload, on: broker, topics, logger: logger)
            try service.awaitAssignment()
            try service.fill(pending, topics)
            try service.awaitQuiet(pending: pending)
            let before = try TopicBounds(of: topics.deliveries, workload.partitions, on: broker, logger: logger)

            report("deviation: \(rate) a second for \(seconds) s, then \(burst) at once")
            let now = SystemClock.now()
            let end = pending + spread + burst
            try workload.publish(pending..<end, to: topics.requests, of: broker, at: now, logger: logger, interval: due)
            try service.awaitQuiet(pending: end)
            guard SystemClock.now() < now.adding(milliseconds: Int64(lead)) else {
                throw BenchmarkError("the machine is too slow: requests were not scheduled before the first was due")
            }
            let last = now.adding(milliseconds: Int64(due(end - 1)))
            while SystemClock.now() < last {
                Thread.sleep(forTimeInterval: 1)
                _ = try service.process.sample()
            }
            try service.awaitQuiet(pending: pending)
            let (even, atOnce) = try read(since: before.highs, broker, topics)
            return DeviationReport(
                pending: pending,
                perSecond: rate,
                seconds: seconds,
                spread: even,
                burst: atOnce
            )
        }
    }

    /// Of a request that is not far away, in milliseconds from its timestamp.
    private func due(_ index: Int) -> Int {
        let number = index - pending
        return lead + (number < spread ? number * 1000 / rate : seconds * 1000 + Self.gap)
    }

    private func read(
        since starts: [Int64],
        _ broker: LocalBroker,
        _ topics: TopicNames
    ) throws -> (DeviationReport.Lateness, DeviationReport.Lateness) {
        let ends = try TopicBounds(of: topics.deliveries, workload.partitions, on: broker, logger: logger)
        var isDelivered = [Bool](repeating: false, count: spread + burst)
        var (even, atOnce): ([Int64], [Int64]) = ([], [])
        var earliestStated = Int64.max
        let delivered = Array("\(DeliveryEventName.delivered.type)".utf8)
        try ends.read(from: starts, on: broker, logger: logger) { message in
            guard message.headerValue("ce_type") == delivered else { return }
            let event = try DeliveryEvent(json: message.value() ?? [], name: .delivered)
            guard let index = ScheduleWorkload.index(of: event.key.encoded).map({ $0 - pending }),
                isDelivered.indices.contains(index), !isDelivered[index], let handedOver = message.timestamp,
                let occurrence = event.occurrence,
                let stated = message.headerValue("ce_time").flatMap({ Timestamp(rfc3339: $0) })
            else { throw BenchmarkError("a delivery that is not due, comes twice, or does not say when it was due") }
            isDelivered[index] = true
            earliestStated = min(earliestStated, stated.rawValue - occurrence.rawValue)
            if index < spread {
                even.append(handedOver - occurrence.rawValue)
            } else {
                atOnce.append(handedOver - occurrence.rawValue)
            }
        }
        guard isDelivered.allSatisfy(\.self) else { throw BenchmarkError("some that were due were not delivered") }
        let results = (DeviationReport.Lateness(even), DeviationReport.Lateness(atOnce))
        let earliest = min(results.0.minimum, results.1.minimum, earliestStated)
        guard earliest >= 0 else { throw BenchmarkError("a timer fired \(-earliest) ms early") }
        return results
    }
}
