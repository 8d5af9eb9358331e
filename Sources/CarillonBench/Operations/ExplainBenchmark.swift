import Foundation
import Kafka
import NotificationModel

/// `carillon explain` on topics with many notifications, each requested and delivered once.
struct ExplainBenchmark {
    /// The embedded broker keeps 5 MiB of each partition.
    private static let recordsOfPartition = 25_000
    private static let rounds = 7

    var records: Int
    /// With a cluster.
    var clusterPartitions: Int32
    /// Of a cluster; nil for the embedded broker.
    var servers: String?
    var workbench: Workbench

    var partitions: Int32 {
        servers == nil ? Int32(max(1, records / Self.recordsOfPartition)) : clusterPartitions
    }

    /// - Throws: ``BenchmarkError`` when the broker has dropped records, or a notification is not explained.
    func run() throws -> FigureRow {
        let requests = RequestWorkload(distinct: records, partitions: partitions)
        workbench.report("explain: \(requests.name)")
        return try BenchmarkBroker.with(partitions: partitions, at: servers, on: workbench) { broker in
            let expected = try requests.fill(broker)
            let service = try Subject.carillon().start(
                broker.work(properties: PipelineBenchmark.properties),
                on: workbench
            )
            defer { service.stop() }
            _ = try TopicRate(topic: broker.topics.deliveries, expected: expected)
                .measure(service, name: "carillon", on: broker)
            service.stop()
            for topic in [broker.topics.requests, broker.topics.deliveries] {
                try TopicBounds(of: topic, on: broker).requireAll()
            }
            let program = try Programs.executable("carillon")
            var seconds: [Double] = []
            for round in 0..<Self.rounds {
                let key = try requests.key(of: records * round / Self.rounds)
                let start = ContinuousClock.now
                let (output, status) = try workbench.run(
                    program,
                    [
                        "explain", key.recipient, key.identifier, "--application", key.application,
                        "--bootstrap-servers", broker.bootstrapServers.joined(separator: ","), "--topics-prefix",
                        broker.topicsPrefix, "--json",
                    ]
                )
                seconds.append((ContinuousClock.now - start) / .seconds(1))
                guard status == 0,
                    String(decoding: output, as: UTF8.self).contains("carillon.notification.delivered.v1")
                else { throw BenchmarkError("a notification was not explained: status \(status)") }
            }
            return FigureRow(
                "explain_seconds",
                title: "s of carillon explain",
                Distribution(seconds).figures(as: .decimals)
            )
        }
    }
}
