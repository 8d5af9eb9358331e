import Foundation
import NotificationModel

extension Subject {
    /// The consumer service with the channel `webhook` and its default settings.
    ///
    /// - Parameter opsPort: of its metrics; 0 for any.
    static func webhook(url: String, keysFile: String, opsPort: Int = 0) throws -> Subject {
        var subject = try carillon()
        let environment = subject.environment
        subject.environment = { work in
            var settings = environment(work)
            // As many lanes as cores.
            settings["CARILLON_CONSUMER_LANES"] = nil
            return settings.merging([
                "CARILLON_CHANNEL": "webhook", "CARILLON_WEBHOOK_URL": url, "CARILLON_WEBHOOK_INTERNAL": "true",
                "CARILLON_WEBHOOK_KEYS_FILE": keysFile, "CARILLON_OPS_PORT": "\(opsPort)",
            ]) { $1 }
        }
        return subject
    }
}

/// The whole consumer service with the channel: from requests on the embedded broker to `delivered` events.
///
/// The service owns its partitions when the requests are published, and is paused meanwhile: requests that are there when it
/// takes over a partition wait until all of them are read, which is another measurement.
struct WebhookServiceBenchmark {
    var requests: RequestWorkload
    var workbench: Workbench

    private static let patience = Duration.seconds(600)
    static let commonProperties = ["compression.type": "lz4", "fetch.wait.max.ms": "10"]

    /// - Throws: ``BenchmarkError`` when a request was not posted exactly once.
    func run(_ nginx: Nginx) throws -> ProgramRate {
        try BenchmarkBroker.with(partitions: requests.partitions, logger: workbench.logger) { broker in
            let before = try nginx.requests()
            let port = try FreePort.find()
            let keys = try ChannelBenchmark.writeKeys(on: workbench)
            let properties = Self.commonProperties
                .merging(SubjectProcess.properties(pausedFor: requests.records)) { $1 }
            let process = try Subject.webhook(url: nginx.url, keysFile: keys, opsPort: port)
                .start(broker.work(properties: properties), on: workbench)
            defer { process.stop() }
            try ServiceMetrics.wait(for: "ready", of: process, port: port, within: Self.patience) { metrics in
                metrics["carillon_assigned_partitions"] == Double(broker.partitions)
                    && metrics["carillon_outstanding_records"] == 0
            }
            process.pause()
            let expected = try requests.fill(broker)
            let rate = try TopicRate(topic: broker.topics.deliveries, expected: expected)
                .measure(process, name: "carillon", on: broker)
            // The request for the number is one of them.
            let posted = try nginx.requests() - before - 1
            guard posted == requests.records else {
                throw BenchmarkError("\(posted) requests arrived for \(requests.records) notifications")
            }
            return rate
        }
    }
}
