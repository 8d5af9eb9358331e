import ArgumentParser
import Kafka
import NotificationModel

/// `carillon topics create`: creates what is missing.
struct TopicsCreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create the topics that are missing on a cluster.",
        discussion: """
            Topics that exist are not changed: 'carillon topics check' explains what differs. Repeating it has no effect. \
            Without --partitions a new topic gets as many as 'requests' has, if that exists, else \
            \(TopicSizes.usualPartitions).

            Examples:

              carillon topics create --bootstrap-servers kafka:9092 --partitions 24
              carillon topics create --bootstrap-servers kafka:9092 \\
                --replication-factor 1
            """
    )

    @Flag(help: "One JSON object per topic.") var json = false

    @OptionGroup var sizes: TopicSizes

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon topics create") {
            let connection = try kafka.connection()
            let plans = connection.topicPlans(replicas: sizes.replicationFactor)
            let (sizes, timeout) = (
                (partitions: sizes.partitions, replicas: sizes.replicationFactor), connection.timeout
            )
            let (outcomes, signal) = try await Interruption.watched(thread: "topics") { stop in
                try connection.withTopicCluster { cluster -> [TopicCreation.Outcome]? in
                    guard let known = try connection.asked(until: stop, { try cluster.topics(within: $0) }) else {
                        return nil
                    }
                    let creation = try TopicCreation(
                        plans,
                        partitions: sizes.partitions,
                        replicas: sizes.replicas,
                        known
                    )
                    let id = try? cluster.clusterID(within: timeout)
                    guard id.map(KafkaMockCluster.isMock(clusterID:)) != true else { throw Self.embedded(connection) }
                    // Once: a repeat after a lost answer would say that the topics existed before.
                    do throws(KafkaError) {
                        return creation.outcomes(refused: try cluster.create(creation.missing, within: timeout))
                    } catch {
                        throw Self.failure(error, connection)
                    }
                }
            }
            guard let outcomes else { throw ExitCode(ExitStatus.ended(by: signal ?? 0)) }
            for outcome in outcomes {
                if json { Terminal.write(json: outcome.json.json + [0x0A]) } else { Terminal.write(outcome.text) }
            }
            if outcomes.contains(where: \.isFailure) { throw ExitCode(ExitStatus.failed) }
        }
    }

    private static func embedded(_ connection: Connection) -> CommandFailure {
        CommandFailure(
            "\(connection.servers) is the embedded broker: there topics come with their first use",
            status: ExitStatus.failed
        )
    }

    private static func failure(_ error: KafkaError, _ connection: Connection) -> CommandFailure {
        CommandFailure(
            "\(connection.servers): \(error)",
            status: error.isRetriable ? ExitStatus.unavailable : ExitStatus.failed
        )
    }
}
