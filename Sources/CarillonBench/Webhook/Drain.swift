import Foundation
import Kafka
import NotificationChannels
import NotificationModel
import ServiceSupport

/// Notifications that wait while the endpoint refuses them, and then while it is away, until it works again.
struct DrainBenchmark {
    var requests: RequestWorkload
    /// Seconds that it refuses at least, and seconds that it is away.
    var outage: Int
    var workbench: Workbench

    private static let patience = Duration.seconds(900)

    /// How notifications arrived, by the ids of their events.
    struct Tally: Equatable {
        var accepted = 0
        var repeated = 0

        /// - Parameter lines: of all requests; those that were refused do not count.
        init(_ lines: some Sequence<Nginx.Line>) {
            var seen: Set<Substring> = []
            for line in lines where line.status == 204 && !line.id.isEmpty {
                if seen.insert(line.id).inserted { accepted += 1 } else { repeated += 1 }
            }
        }
    }

    struct Result {
        var notifications: Int
        var tally: Tally
        /// Requests and failed connections, until the endpoint works again.
        var requestsDuringOutage: Int
        var outageSeconds: Double
        /// From when the endpoint works again to the last event.
        var seconds: Double

        var row: FigureRow {
            FigureRow(
                "drain",
                [
                    Figure("notifications", "notifications", Double(notifications), as: .whole),
                    Figure("lost", "lost", Double(notifications - tally.accepted), as: .whole),
                    Figure("repeated", "repeated", Double(tally.repeated), as: .whole),
                    Figure("outage_seconds", "s of outage", outageSeconds, as: .whole),
                    Figure("outage_requests", "requests during it", Double(requestsDuringOutage), as: .whole),
                    Figure("seconds", "s until all delivered", seconds),
                ]
            )
        }
    }

    /// The requests that a circuit breaker allows during an outage: those in progress when it opens, the failures that
    /// open it, and one test after each pause, of which none is shorter than the first.
    static func mostRequests(in seconds: Double) -> Int {
        let webhook = WebhookConfiguration()
        let tests = Int(seconds / (webhook.breakerFirstPause / .seconds(1))) + 1
        return webhook.connections + webhook.breakerFailures + tests
    }

    /// - Throws: ``BenchmarkError`` when a notification is lost or has several events, or the endpoint got more
    ///   requests during the outage than the circuit breaker allows.
    func run() throws -> Result {
        let nginx = try Nginx(.logging, on: workbench)
        defer { nginx.stop() }
        return try BenchmarkBroker.with(partitions: requests.partitions, logger: workbench.logger) { broker in
            _ = try requests.fill(broker)
            try nginx.refuse(true)
            let port = try FreePort.find()
            let keys = try ChannelBenchmark.writeKeys(on: workbench)
            let process = try Subject.webhook(url: nginx.url, keysFile: keys, opsPort: port)
                .start(broker.work(properties: WebhookServiceBenchmark.commonProperties), on: workbench)
            defer { process.stop() }
            let metrics = Metrics(port: port, process: process)

            workbench.report("drain: \(requests.records) notifications wait for an endpoint that refuses them")
            try metrics.wait("have its first request refused") { $0["carillon_webhook_requests_total"] ?? 0 > 0 }
            let begin = ContinuousClock.now
            try metrics.wait("read all requests") { [count = Double(requests.records)] metrics in
                // Each has failed once at least: posted, or refused by the circuit breaker.
                metrics["carillon_requests_total"] == count && metrics["carillon_outstanding_sends"] == 0
            }
            let rest = Double(outage) - (.now - begin) / .seconds(1)
            if rest > 0 { Thread.sleep(forTimeInterval: rest) }
            workbench.report("drain: the endpoint is away for \(outage) s")
            nginx.stop()
            Thread.sleep(forTimeInterval: Double(outage))
            let duringOutage = Int(try metrics.read()["carillon_webhook_requests_total"] ?? 0)
            let outageSeconds = (.now - begin) / .seconds(1)

            workbench.report("drain: the endpoint works again")
            try nginx.refuse(false)
            try nginx.restart()
            let works = ContinuousClock.now
            try awaitEvents(on: broker, process)
            let seconds = (.now - works) / .seconds(1)
            process.stop()
            try check(broker)
            let most = Self.mostRequests(in: outageSeconds)
            guard duringOutage <= most else {
                throw BenchmarkError("\(duringOutage) requests in \(outageSeconds) s of outage, instead of \(most)")
            }
            return Result(
                notifications: requests.records,
                tally: Tally(try nginx.log()),
                requestsDuringOutage: duringOutage,
                outageSeconds: outageSeconds,
                seconds: seconds
            )
        }
    }

    private struct Metrics {
        var port: Int
        var process: SubjectProcess

        func read() throws -> ServiceMetrics {
            _ = try process.sample()
            return try ServiceMetrics(port: port)
        }

        /// Two equal readings: some metrics are up to half a second old.
        func wait(_ what: String, until isSo: (ServiceMetrics) -> Bool) throws {
            let deadline = ContinuousClock.now + DrainBenchmark.patience
            var seen = 0
            while seen < 2 {
                _ = try process.sample()
                // There is no answer until it listens.
                seen = (try? read()).map(isSo) == true ? seen + 1 : 0
                guard ContinuousClock.now < deadline else {
                    throw BenchmarkError("the service did not \(what) within \(DrainBenchmark.patience)")
                }
                Thread.sleep(forTimeInterval: 0.6)
            }
        }
    }

    private func awaitEvents(on broker: BenchmarkBroker, _ process: SubjectProcess) throws {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            _ = try process.sample()
            let written = try TopicBounds(of: broker.topics.deliveries, on: broker).written
            if written >= requests.records { return }
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("\(written) of \(requests.records) are delivered after \(Self.patience)")
            }
            Thread.sleep(forTimeInterval: 0.3)
        }
    }

    /// Every notification has one event, which says that it is delivered.
    private func check(_ broker: BenchmarkBroker) throws {
        var keys: Set<[UInt8]> = []
        let delivered = Array("\(DeliveryEventName.delivered.type)".utf8)
        try TopicBounds(of: broker.topics.deliveries, on: broker).read { message in
            guard message.headerValue("ce_type") == delivered, keys.insert(message.key() ?? []).inserted else {
                throw BenchmarkError("a second event of a notification, or one that it is not delivered")
            }
        }
        guard keys.count == requests.records else {
            throw BenchmarkError("\(keys.count) of \(requests.records) notifications have an event")
        }
    }
}
