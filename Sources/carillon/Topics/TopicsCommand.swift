import ArgumentParser
import Kafka
import NotificationConsumer
import NotificationModel
import ServiceSupport

/// `carillon topics`: the topics of Carillon on a cluster.
struct TopicsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "topics",
        abstract: "Print, check and create the topics on a cluster.",
        subcommands: [TopicsPrintCommand.self, TopicsCheckCommand.self, TopicsCreateCommand.self]
    )
}

/// How many partitions and replicas topics get.
struct TopicSizes: ParsableArguments {
    static let usualPartitions = 24

    @Option(
        help: ArgumentHelp("Partitions of each topic. Default: \(usualPartitions).", valueName: "n")
    )
    var partitions: Int?

    @Option(help: ArgumentHelp("Replicas of each partition.", valueName: "n"))
    var replicationFactor = 3

    func validate() throws {
        guard !Validation.isLater else { return }
        if let partitions, !(1...10_000).contains(partitions) {
            throw ValidationError("--partitions must be from 1 to 10000")
        }
        guard (1...100).contains(replicationFactor) else {
            throw ValidationError("--replication-factor must be from 1 to 100")
        }
    }
}

extension Connection {
    /// The plans of the topics, with the sizes that the properties of the clients give.
    func topicPlans(replicas: Int = 3, deletionsKept: Int64? = nil) -> [TopicPlan] {
        let producer = KafkaProducerConfiguration(client: client("carillon-topics"))
        let usual = StoreConfiguration().deletionsKept.milliseconds
        return TopicPlan.all(
            topics,
            replicas: replicas,
            recordBytes: producer.maximumRecordBytes,
            deletionsKept: deletionsKept ?? usual
        )
    }

    /// Asks a cluster for its topics; blocking.
    ///
    /// - Throws: ``CommandFailure`` when the properties cannot be used, and what the body throws.
    func withTopicCluster<Result>(_ body: (KafkaAdmin) throws -> Result) throws -> Result {
        let cluster: KafkaAdmin
        do throws(KafkaError) {
            cluster = try KafkaAdmin(configuration: client("carillon-topics"), logger: log.logger("carillon topics"))
        } catch {
            throw CommandFailure(error.reason, status: ExitStatus.usage)
        }
        defer { cluster.close(within: .seconds(1)) }
        return try body(cluster)
    }
}
