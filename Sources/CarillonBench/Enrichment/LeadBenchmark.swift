import Foundation
import Kafka
import NotificationModel

/// Timed notifications with an image from a slow server, in the consumer service: how long after its due time each is sent.
struct LeadBenchmark {
    let notifications: Int
    let curl: Curl
    let workbench: Workbench

    private static let partitions: Int32 = 4
    /// How long the server of images takes for each.
    static let delay = Duration.seconds(1)
    /// As many as are due in a second: fewer images at a time than the service has connections to a host.
    private static let perSecond = 10
    /// Milliseconds from the publishing of the requests until the first one is due: longer than the longest lead.
    private static let ahead = 8_000
    private static let patience = Duration.seconds(120)

    /// - Parameter lead: seconds from the begin of an enrichment to the due time.
    /// - Returns: milliseconds from the due times to the times of the `delivered` events.
    /// - Throws: ``BenchmarkError`` when a notification is not delivered once with its image.
    func run(lead: Int) throws -> Distribution {
        workbench.report("lead of \(lead) s: \(notifications) notifications, images after \(Self.delay)")
        let server = try ImageServer(
            .init(bytes: ServedImages.imageBytes, delay: Self.delay),
            nil,
            curl,
            on: workbench
        )
        return try BenchmarkBroker.with(partitions: Self.partitions, logger: workbench.logger) { broker in
            let service = try ScheduleService(of: broker, adding: try settings(lead, server), on: workbench)
            try service.awaitAssignment()
            let urls = server.urls(notifications)
            try ScheduleWorkload.publish(0..<notifications, to: broker, at: SystemClock.now()) { index in
                Self.body(Pattern.digits(index, 8), image: urls[index], interval: due(index))
            }
            try awaitEvents(on: broker, service)
            return try read(from: broker)
        }
    }

    private func settings(_ lead: Int, _ server: ImageServer) throws -> [String: String] {
        let port = try FreePort.find()
        return [
            "CARILLON_ENRICHMENT_ENABLED": "true", "CARILLON_ENRICHMENT_LEAD": "\(lead)s",
            "CARILLON_MEDIA_DIRECTORY": workbench.place("media").path,
            "CARILLON_EGRESS_INTERNAL_ORIGINS": server.origin, "CARILLON_QUERIES_PORT": "\(port)",
        ]
    }

    /// Milliseconds after the timestamp of its request.
    private func due(_ index: Int) -> Int { Self.ahead + index * 1000 / Self.perSecond }

    private static func body(_ number: String, image: String, interval: Int) -> String {
        """
        {"requestId":"00000000-0000-5000-8000-0000\(number)","content":{"title":"Your order is on its way",\
        "body":"The parcel \(number) leaves our warehouse soon.","mutableContent":true,\
        "attachments":[{"identifier":"photo","url":"\(image)"}]},\
        "trigger":{"type":"timeInterval","timeInterval":\(interval / 1000).\(Pattern.digits(interval % 1000, 3))}}
        """
    }

    private func awaitEvents(on broker: BenchmarkBroker, _ service: ScheduleService) throws {
        let deadline = ContinuousClock.now + .milliseconds(due(notifications)) + Self.patience
        while true {
            _ = try service.process.sample()
            // One that says that it is scheduled, and one that says that it is delivered.
            let written = try TopicBounds(of: broker.topics.deliveries, on: broker).written
            if written >= 2 * notifications { return }
            guard ContinuousClock.now < deadline else {
                throw BenchmarkError("\(written) events of \(notifications) notifications within \(Self.patience)")
            }
            Thread.sleep(forTimeInterval: 0.5)
        }
    }

    private func read(from broker: BenchmarkBroker) throws -> Distribution {
        let delivered = Array("\(DeliveryEventName.delivered.type)".utf8)
        var late: [Int: Double] = [:]
        try TopicBounds(of: broker.topics.deliveries, on: broker).read { message in
            guard message.headerValue("ce_type") == delivered else { return }
            let event = try DeliveryEvent(json: message.value() ?? [], name: .delivered)
            guard let index = ScheduleWorkload.index(of: event.key.encoded), let due = event.occurrence,
                let sent = message.headerValue("ce_time").flatMap({ Timestamp(rfc3339: $0) })
            else { throw BenchmarkError("a delivery without its due time") }
            guard String(decoding: event.enrichment ?? [], as: UTF8.self).contains(#""outcome":"attached""#) else {
                throw BenchmarkError("a notification was delivered without its image")
            }
            guard late.updateValue(Double(sent.rawValue - due.rawValue), forKey: index) == nil else {
                throw BenchmarkError("a notification was delivered twice")
            }
        }
        guard late.count == notifications else {
            throw BenchmarkError("\(late.count) of \(notifications) notifications were delivered")
        }
        return Distribution(late.values)
    }
}
