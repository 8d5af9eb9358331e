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
struct WebhookServiceBenchmark {
    var requests: RequestWorkload
    var workbench: Workbench

    static let properties = ["compression.type": "lz4", "fetch.wait.max.ms": "10"]

    /// - Throws: ``BenchmarkError`` when a request was not posted exactly once.
    func run(_ nginx: Nginx) throws -> ProgramRate {
        try BenchmarkBroker.with(partitions: requests.partitions, logger: workbench.logger) { broker in
            let expected = try requests.fill(broker)
            let before = try nginx.requests()
            let process = try Subject.webhook(url: nginx.url, keysFile: ChannelBenchmark.writeKeys(on: workbench))
                .start(broker.work(properties: Self.properties), on: workbench)
            defer { process.stop() }
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
