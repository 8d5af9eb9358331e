import Dispatch
import Kafka
import LocalBroker
import Logging
import NotificationModel

/// The embedded broker of one measurement, with every topic of Carillon.
struct BenchmarkBroker: Sendable {
    let broker: LocalBroker
    let topics = TopicNames()
    /// The number of partitions of each topic.
    let partitions: Int32
    let logger: Logger

    /// Runs the body with a broker, and shuts it down afterwards; blocking.
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
        return try body(BenchmarkBroker(broker: broker, partitions: partitions, logger: logger))
    }

    /// - Parameter fetchWait: How long the broker may delay a fetch, in milliseconds; nil for the recommended time.
    func consumer(fetchWait: Int? = nil) throws -> KafkaConsumer {
        var client = broker.clientConfiguration(clientID: "carillon-bench")
        if let fetchWait { client.properties["fetch.wait.max.ms"] = "\(fetchWait)" }
        return try KafkaConsumer(configuration: .init(client: client), logger: logger)
    }

    /// The connection settings of a measured program.
    ///
    /// - Parameter properties: librdkafka properties.
    func work(records: Int = 0, properties: [String: String]) -> Subject.Work {
        Subject.Work(
            bootstrapServers: broker.bootstrapServers.joined(separator: ","),
            topics: topics,
            partitions: partitions,
            records: records,
            properties: properties
        )
    }
}
