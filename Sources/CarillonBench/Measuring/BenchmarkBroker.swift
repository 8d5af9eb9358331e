import Dispatch
import Kafka
import LocalBroker
import Logging
import NotificationModel

/// The broker of one measurement, with every topic of Carillon: the embedded one, or a cluster.
struct BenchmarkBroker: Sendable {
    let bootstrapServers: [String]
    let topicsPrefix: String
    /// The number of partitions of each topic.
    let partitions: Int32
    let logger: Logger

    var topics: TopicNames { TopicNames(prefix: topicsPrefix) }

    private init(_ bootstrapServers: [String], _ prefix: String, _ partitions: Int32, _ logger: Logger) {
        (self.bootstrapServers, topicsPrefix, self.partitions, self.logger) = (
            bootstrapServers, prefix, partitions, logger
        )
    }

    /// Runs the body with new topics of a cluster, which stay; blocking.
    ///
    /// - Parameter servers: its brokers, separated by commas; nil for the embedded broker.
    /// - Throws: ``BenchmarkError`` when the topics cannot be created.
    static func with<Result>(
        partitions: Int32,
        at servers: String?,
        on workbench: Workbench,
        _ body: (BenchmarkBroker) throws -> Result
    ) throws -> Result {
        guard let servers else { return try with(partitions: partitions, logger: workbench.logger, body) }
        let prefix = "carillon-bench-\(UInt32.random(in: .min ... .max))."
        let (output, status) = try workbench.run(
            try Programs.executable("carillon"),
            [
                "topics", "create", "--bootstrap-servers", servers, "--topics-prefix", prefix,
                "--partitions", "\(partitions)", "--replication-factor", "1",
            ]
        )
        guard status == 0 else {
            throw BenchmarkError("topics were not created at \(servers): \(String(decoding: output, as: UTF8.self))")
        }
        return try body(
            BenchmarkBroker(servers.split(separator: ",").map(String.init), prefix, partitions, workbench.logger)
        )
    }

    /// Runs the body with an embedded broker, and shuts it down afterwards; blocking.
    static func with<Result>(
        partitions: Int32,
        logger: Logger,
        _ body: (BenchmarkBroker) throws -> Result
    ) throws -> Result {
        let names = TopicNames().all.map { ($0.topic, Int(partitions)) }
        let broker = try LocalBroker(topics: Dictionary(names) { first, _ in first })
        defer {
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                await broker.shutDown()
                isDone.signal()
            }
            isDone.wait()
        }
        return try body(BenchmarkBroker(broker.bootstrapServers, TopicNames.defaultPrefix, partitions, logger))
    }

    /// - Parameters:
    ///   - fetchWait: how long the broker may delay a fetch, in milliseconds; nil for the recommended time.
    ///   - tellsEnd: whether it knows when it has reached the end of a partition.
    func consumer(fetchWait: Int? = nil, tellsEnd: Bool = false) throws -> KafkaConsumer {
        var client = KafkaClientConfiguration(
            bootstrapServers: bootstrapServers,
            clientID: "carillon-bench",
            properties: LocalBroker.recommendedConsumerProperties
        )
        if let fetchWait { client.properties["fetch.wait.max.ms"] = "\(fetchWait)" }
        var configuration = KafkaConsumerConfiguration(client: client)
        configuration.tellsEnd = tellsEnd
        return try KafkaConsumer(configuration: configuration, logger: logger)
    }

    /// The connection settings of a measured program.
    ///
    /// - Parameter properties: librdkafka properties.
    func work(records: Int = 0, properties: [String: String]) -> Subject.Work {
        Subject.Work(
            bootstrapServers: bootstrapServers.joined(separator: ","),
            topicsPrefix: topicsPrefix,
            partitions: partitions,
            records: records,
            properties: properties
        )
    }
}
