import Foundation
import Kafka
import NotificationModel

/// Notifications to one device each that are due at one instant, in the consumer service with its store on disk; then at half the
/// rate at which it sent them.
struct PushBurstBenchmark {
    var notifications: Int
    /// Seconds of notifications at half the rate; 0 for none.
    var steadySeconds: Int
    var partitions: Int32
    var workbench: Workbench

    struct Result {
        /// Milliseconds from the instant to the `delivered` events.
        var urgent: Distribution
        var others: Distribution
        /// At half the rate, from each due time; nil without it.
        var steady: Distribution?
        var pushesPerSecond: Double

        var parts: [FigureRow] {
            func seconds(_ milliseconds: Double?) -> Double { (milliseconds ?? 0) / 1_000 }
            let last = max(seconds(urgent.maximum), seconds(others.maximum))
            var rows = [
                FigureRow(
                    "burst",
                    [
                        Figure("seconds", "s to the last", last),
                        Figure("per_second", "pushes/s", pushesPerSecond, as: .whole),
                        Figure("urgent_first_seconds", "first urgent", seconds(urgent.minimum)),
                        Figure("urgent_last_seconds", "last urgent", seconds(urgent.maximum)),
                        Figure("first_seconds", "first other", seconds(others.minimum)),
                        Figure("last_seconds", "last other", seconds(others.maximum)),
                    ]
                )
            ]
            if let steady {
                rows.append(
                    FigureRow("half_peak_ms", title: "ms late at half the rate", steady.figures(as: .whole))
                )
            }
            return rows
        }
    }

    /// - Throws: ``BenchmarkError`` when a notification is not delivered once, or `PushServer.check` fails.
    func run() throws -> Result {
        let server = try PushServer(on: workbench)
        defer { server.stop() }
        return try BenchmarkBroker.with(partitions: partitions, logger: workbench.logger) { broker in
            workbench.report("burst: \(notifications) recipients with a device over \(partitions) partitions")
            try PushBurstWorkload(recipients: notifications).register(on: broker)
            let service = try ScheduleService(of: broker, adding: server.settings(), on: workbench)
            try service.awaitAssignment()
            try service.awaitRecipients(2 * notifications)
            let lead = 15_000 + notifications / 10
            workbench.report("burst: \(notifications) at one instant, in \(lead / 1000) s")
            let burst = try deliver(0..<notifications, broker, service, server) { _ in lead }
            let last = [burst.urgent.maximum, burst.others.maximum].compactMap(\.self).max() ?? 0
            let perSecond = Double(notifications) / max(0.001, last / 1_000)
            var steady: Distribution?
            let rate = Int(perSecond / 2)
            let count = min(notifications, rate * steadySeconds)
            if count > 0 {
                workbench.report("burst: \(rate) a second for \(steadySeconds) s")
                let late = try deliver(0..<count, broker, service, server, life: 1) { lead + $0 * 1000 / rate }
                steady = Distribution(late.all)
            }
            return Result(urgent: burst.urgent, others: burst.others, steady: steady, pushesPerSecond: perSecond)
        }
    }

    private struct Lateness {
        var all: [Double] = []
        var urgent: Distribution
        var others: Distribution
    }

    /// Schedules notifications, waits until all are delivered, and reads how late.
    ///
    /// - Parameters:
    ///   - life: tells the requests of one call from those of another.
    ///   - due: milliseconds after now.
    private func deliver(
        _ range: Range<Int>,
        _ broker: BenchmarkBroker,
        _ service: ScheduleService,
        _ server: PushServer,
        life: Int = 0,
        due: (Int) -> Int
    ) throws -> Lateness {
        let before = try (server.accepted(), PushServer.unanswered(service.metrics()))
        let starts = try TopicBounds(of: broker.topics.deliveries, on: broker).highs
        let now = SystemClock.now()
        try ScheduleWorkload.publish(range, to: broker, at: now) { index in
            PushBurstWorkload.body(index, due: due(index)).replacing("-5000-8000-", with: "-5000-800\(life)-")
        }
        try service.awaitQuiet(pending: range.count)
        guard let first = range.first.map(due), SystemClock.now() < now.adding(milliseconds: Int64(first)) else {
            throw BenchmarkError("this machine is too slow: not all were scheduled before the first was due; use fewer")
        }
        try service.awaitQuiet(pending: 0)
        var isDelivered = [Bool](repeating: false, count: range.count)
        var (urgent, others): ([Double], [Double]) = ([], [])
        let delivered = Array("\(DeliveryEventName.delivered.type)".utf8)
        try TopicBounds(of: broker.topics.deliveries, on: broker).read(from: starts) { message in
            guard message.headerValue("ce_type") == delivered else { return }
            let event = try DeliveryEvent(json: message.value() ?? [], name: .delivered)
            guard let index = ScheduleWorkload.index(of: event.key.encoded), isDelivered.indices.contains(index),
                !isDelivered[index], let time = message.timestamp, let occurrence = event.occurrence
            else { throw BenchmarkError("a notification that is not due, or is delivered twice") }
            isDelivered[index] = true
            let late = Double(time - occurrence.rawValue)
            if PushWorkload.isUrgent(index) { urgent.append(late) } else { others.append(late) }
        }
        guard isDelivered.allSatisfy(\.self) else { throw BenchmarkError("some notifications were not delivered") }
        try PushServer.check(
            accepted: server.accepted() - before.0,
            unanswered: PushServer.unanswered(service.metrics()) - before.1,
            of: range.count
        )
        return Lateness(all: urgent + others, urgent: Distribution(urgent), others: Distribution(others))
    }
}
