import ArgumentParser
import Foundation

/// `carillon topics print`: the topics as commands, JSON or Kubernetes resources; connects to nothing.
struct TopicsPrintCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "print",
        abstract: "Print the topics and their settings, for whoever creates them.",
        discussion: """
            As commands of kafka-topics.sh, as JSON, or as KafkaTopic resources of Strimzi. It connects to no broker; \
            without one the commands name localhost:9092.

            Examples:

              carillon topics print --bootstrap-servers kafka:9092 --partitions 24 | sh
              carillon topics print --format json --topics-prefix shop.
              carillon topics print --format strimzi --cluster production
            """
    )

    private static let usual = ["CARILLON_KAFKA_BOOTSTRAP_SERVERS": "localhost:9092"]

    @Option(help: ArgumentHelp("commands, json or strimzi.", valueName: "format")) var format = TopicFormat.commands

    @Option(
        help: ArgumentHelp("With strimzi: the name of the Kafka resource of the cluster.", valueName: "name")
    )
    var cluster = "my-cluster"

    @OptionGroup var sizes: TopicSizes

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        guard TopicFormat.isResourceName(cluster) else {
            throw ValidationError("--cluster must be a name of Kubernetes: a-z, 0-9, '-' and '.'")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon topics print") {
            // Only the commands name the brokers.
            let environment = ProcessInfo.processInfo.environment
            let connection = try kafka.connection(environment: Self.usual.merging(environment) { $1 })
            let text = format.text(
                connection.topicPlans(replicas: sizes.replicationFactor),
                partitions: sizes.partitions ?? TopicSizes.usualPartitions,
                replicas: sizes.replicationFactor,
                servers: connection.servers,
                cluster: cluster
            )
            Terminal.write(text)
        }
    }
}
