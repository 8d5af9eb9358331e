import Foundation
import Kafka
import NotificationModel

/// Timers that become due evenly while an instance joins, and while each one is restarted after the other.
struct ChangesBenchmark {
    /// Milliseconds from the publishing of the requests until the first one is due.
    private static let lead = 15_000
    /// Milliseconds after a change in which its consequences still count.
    private static let tail = 5_000
    private static let properties = ["fetch.wait.max.ms": "10"]
    private static let patience = Duration.seconds(120)

    var instances: Int
    var rate: Int
    var seconds: Int
    var partitions: Int32
    /// Of a cluster; nil for the embedded broker.
    var servers: String?
    var workbench: Workbench

    /// What was changed, and when, in milliseconds since 1970.
    private struct Change {
        var name: String
        var title: String
        var begin: Int64
        var end: Int64
    }

    /// - Returns: the lateness without a change, while an instance joins, and while all are restarted.
    /// - Throws: ``BenchmarkError`` when a timer is early or lost, or the changes take longer than there are timers.
    func run() throws -> [FigureRow] {
        try BenchmarkBroker.with(partitions: partitions, at: servers, on: workbench) { broker in
            var running = try (1..<instances).map { _ in try ServiceInstance(of: broker, Self.properties, on: workbench)
            }
            defer { running.forEach { $0.stop() } }
            try ServiceInstance.awaitAll(running, partitions, "all partitions are assigned")
            let published = SystemClock.now()
            workbench.report("changes: \(rate) a second for \(seconds) s, \(instances - 1) instances")
            try ScheduleWorkload.publish(0..<rate * seconds, to: broker, at: published) { Self.lead + $0 * 1000 / rate }
            let first = published.rawValue + Int64(Self.lead)
            wait(until: first + 10_000)

            workbench.report("changes: another instance joins")
            var changes: [Change] = []
            let joins = SystemClock.now().rawValue
            running.append(try ServiceInstance(of: broker, Self.properties, on: workbench))
            try ServiceInstance.awaitAll(running, partitions, "the new instance has partitions")
            changes.append(
                Change(
                    name: "join_ms",
                    title: "ms late, an instance joins",
                    begin: joins,
                    end: SystemClock.now().rawValue
                )
            )
            wait(until: SystemClock.now().rawValue + 10_000)

            workbench.report("changes: a rolling restart")
            let restarts = SystemClock.now().rawValue
            for instance in running {
                try instance.restart()
                try ServiceInstance.awaitAll(running, partitions, "the instance is back")
            }
            changes.append(
                Change(
                    name: "restart_ms",
                    title: "ms late, all are restarted",
                    begin: restarts,
                    end: SystemClock.now().rawValue
                )
            )
            let last = first + Int64(seconds) * 1000
            guard changes.allSatisfy({ $0.end + Int64(Self.tail) < last }) else {
                throw BenchmarkError("the changes took longer than there were timers: use more --seconds")
            }
            wait(until: last + 2_000)
            let late = try lateness(of: broker, alive: running)
            return try rows(late, changes, first: first)
        }
    }

    private func wait(until time: Int64) {
        Thread.sleep(forTimeInterval: max(0, Double(time - SystemClock.now().rawValue) / 1000))
    }

    /// - Returns: the lateness of each timer, in milliseconds, by its index. What was delivered again counts once.
    private func lateness(of broker: BenchmarkBroker, alive: [ServiceInstance]) throws -> [Int64] {
        let total = rate * seconds
        var late = [Int64?](repeating: nil, count: total)
        let delivered = Array("\(DeliveryEventName.delivered.type)".utf8)
        let deadline = ContinuousClock.now.advanced(by: Self.patience)
        while late.contains(nil) {
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("\(late.count { $0 == nil }) of \(total) timers were not delivered")
            }
            for instance in alive { _ = try instance.process.sample() }
            Thread.sleep(forTimeInterval: 1)
            try TopicBounds(of: broker.topics.deliveries, on: broker).read { message in
                guard message.headerValue("ce_type") == delivered else { return }
                let event = try DeliveryEvent(json: message.value() ?? [], name: .delivered)
                guard let index = ScheduleWorkload.index(of: event.key.encoded), late.indices.contains(index),
                    let handedOver = message.timestamp, let due = event.occurrence
                else { throw BenchmarkError("a delivery that is not due") }
                late[index] = min(late[index] ?? .max, handedOver - due.rawValue)
            }
        }
        let found = late.compactMap(\.self)
        guard let earliest = found.min(), earliest >= 0 else { throw BenchmarkError("a timer fired early") }
        return found
    }

    private func rows(_ late: [Int64], _ changes: [Change], first: Int64) throws -> [FigureRow] {
        func due(_ index: Int) -> Int64 { first + Int64(index * 1000 / rate) }
        func isWithin(_ change: Change, _ index: Int) -> Bool {
            (change.begin...change.end + Int64(Self.tail)).contains(due(index))
        }
        func figures(_ indices: [Int]) -> [Figure] {
            Distribution(indices.map { Double(late[$0]) }).figures(as: .whole)
        }
        let calm = late.indices.filter { index in !changes.contains { isWithin($0, index) } }
        return [FigureRow("calm_ms", title: "ms late, nothing changes", figures(calm))]
            + changes.map { change in
                let seconds = Figure("seconds", "s", Double(change.end - change.begin) / 1000)
                return FigureRow(
                    change.name,
                    title: change.title,
                    [seconds] + figures(late.indices.filter { isWithin(change, $0) })
                )
            }
    }
}
