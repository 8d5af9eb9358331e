import Foundation
import Kafka
import NotificationModel

/// Recipients with one Apple device each, and their timed notifications. Tokens and ids are counters.
struct PushBurstWorkload: Sendable {
    /// Of the keys of ``ScheduleWorkload``.
    var recipients: Int

    /// Publishes the registrations; blocking.
    ///
    /// - Throws: ``BenchmarkError`` when the embedded broker has not kept all of them.
    func register(on broker: BenchmarkBroker) throws {
        let headers = KafkaHeaderBuffer()
        var feed = try RecordFeed(broker.topics.devices, of: broker)
        for index in 0..<recipients {
            let number = Pattern.digits(index, 8)
            let key = try NotificationKey(application: "shop", recipient: "user-\(number)", identifier: "phone")
            try feed.put(
                key.encoded,
                Array(
                    """
                    {"platform":"apns","token":"\(PushServer.token(index))","bundleIdentifier":"\(PushServer.bundle)",\
                    "authorizationStatus":"authorized"}
                    """.utf8
                ),
                headers,
                partition: key.withRecipientBytes { KafkaPartitioner.partition(forKey: $0, count: broker.partitions) }
            )
        }
        try feed.finish()
        try TopicBounds(of: broker.topics.devices, on: broker).requireAll()
    }

    /// A request of the recipient with this number.
    ///
    /// - Parameter due: milliseconds after the record's timestamp; nil for now.
    static func body(_ index: Int, due: Int?) -> String {
        let trigger = due.map { due in
            #","trigger":{"type":"timeInterval","timeInterval":\#(due / 1000).\#(Pattern.digits(due % 1000, 3))}"#
        }
        return """
            {"requestId":"00000000-0000-5000-8000-0000\(Pattern.digits(index, 8))",\
            "content":\(String(decoding: PushWorkload.content(index), as: UTF8.self))\(trigger ?? "")}
            """
    }
}

/// The whole consumer service with the channel: from requests on the embedded broker to `delivered` events.
struct PushServiceBenchmark {
    var requests: Int
    var partitions: Int32
    var workbench: Workbench

    private static let patience = Duration.seconds(600)

    /// - Throws: ``BenchmarkError`` when `PushServer.check` fails.
    func run(_ server: PushServer) throws -> ProgramRate {
        workbench.report("the consumer service: \(requests) requests")
        return try BenchmarkBroker.with(partitions: partitions, logger: workbench.logger) { broker in
            let before = try server.accepted()
            try PushBurstWorkload(recipients: requests).register(on: broker)
            let port = try FreePort.find()
            let settings = try server.settings()
            let properties = ["compression.type": "lz4", "fetch.wait.max.ms": "10"]
                .merging(SubjectProcess.properties(pausedFor: requests)) { $1 }
            let process = try Subject.carillon()
                .adding { _ in settings.merging(["CARILLON_OPS_PORT": "\(port)"]) { $1 } }
                .start(broker.work(properties: properties), on: workbench)
            defer { process.stop() }
            let known = Double(2 * requests)
            try ServiceMetrics.wait(for: "ready", of: process, port: port, within: Self.patience) { metrics in
                metrics["carillon_assigned_partitions"] == Double(broker.partitions)
                    && metrics["carillon_center_recipients"] == known && metrics["carillon_outstanding_records"] == 0
            }
            let starts = try TopicBounds(of: broker.topics.deliveries, on: broker).highs
            process.pause()
            try ScheduleWorkload.publish(0..<requests, to: broker, at: SystemClock.now()) {
                PushBurstWorkload.body($0, due: nil)
            }
            try TopicBounds(of: broker.topics.requests, on: broker).requireAll()
            let expected = try TopicBounds(of: broker.topics.requests, on: broker).highs.map(Int.init)
            let rate = try TopicRate(topic: broker.topics.deliveries, expected: expected, starts: starts)
                .measure(process, name: "carillon", on: broker)
            try PushServer.check(
                accepted: server.accepted() - before,
                unanswered: PushServer.unanswered(ServiceMetrics(port: port)),
                of: requests
            )
            return rate
        }
    }
}
