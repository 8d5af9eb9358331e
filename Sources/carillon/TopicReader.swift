import Kafka
import Logging
import ServiceLifecycle

/// Reads every partition of a topic, without a group.
struct TopicReader: Service {
    /// Why a topic cannot be read.
    struct Failure: Error, CustomStringConvertible {
        var description: String
        /// EX_UNAVAILABLE for a broker that does not answer, EX_NOINPUT for a topic that is not there.
        var status: Int32
    }

    let bootstrapServers: [String]
    let topic: String
    let fromBeginning: Bool
    let limit: Int?
    let logger: Logger
    let show: @Sendable (KafkaConsumerRecord) -> Void

    init(
        bootstrapServers: [String],
        topic: String,
        fromBeginning: Bool,
        limit: Int?,
        logger: Logger,
        show: @escaping @Sendable (KafkaConsumerRecord) -> Void
    ) {
        self.bootstrapServers = bootstrapServers
        self.topic = topic
        self.fromBeginning = fromBeginning
        self.limit = limit
        self.logger = logger
        self.show = show
    }

    func run() async throws {
        var configuration = KafkaConsumerConfiguration(
            client: KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: "carillon-tail")
        )
        // The embedded broker answers a waiting fetch only when its time is up; a real one answers at once either way.
        configuration.client.properties["fetch.wait.max.ms"] = "50"
        try await check(configuration)
        let records = KafkaConsumerRecords(
            configuration: configuration,
            topics: [topic],
            start: fromBeginning ? .beginning : .end,
            logger: logger
        )
        var shown = 0
        for try await record in records.cancelOnGracefulShutdown() {
            show(record)
            shown += 1
            if shown == limit { return }
        }
    }

    /// Asks for the topic once, to say plainly why it cannot be read: reading itself would wait for the broker without a word.
    private func check(_ configuration: KafkaConsumerConfiguration) async throws {
        let servers = bootstrapServers.joined(separator: ",")
        var quiet = logger
        // What is wrong is said once, below.
        quiet.logLevel = .critical
        do {
            _ = try await KafkaThread.run(name: "tail") { [topic, quiet] in
                let consumer = try KafkaConsumer(configuration: configuration, logger: quiet)
                defer { consumer.close(within: .seconds(1)) }
                return try consumer.partitionCount(of: topic, within: .seconds(10))
            }
        } catch let error as KafkaError where error.code == .unknownTopicOrPartition || error.code == .unknownTopic {
            throw Failure(description: "there is no topic \(topic) at \(servers)", status: 66)
        } catch let error as KafkaError {
            throw Failure(description: "no answer from \(servers): \(error.reason)", status: 69)
        }
    }
}
