import ArgumentParser
import LocalBroker
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport

/// `carillon broker`: only the embedded broker, with Carillon's topics.
struct BrokerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "broker",
        abstract: "Run the embedded broker for development and tests.",
        discussion: """
            It speaks the Kafka protocol to any client on this machine, on a free port. It is not Kafka: everything is \
            in memory and lost when it ends, a partition keeps its latest 5 MiB, and transactions isolate nothing. A topic \
            that a client asks for and that does not exist is created, with 4 partitions. A member that joins a group again \
            waits until its former session ends: the services use sessions of 6 s here, other clients should set \
            session.timeout.ms.

            Example:

              carillon broker --bootstrap-file bootstrap &
              kcat -b "$(cat bootstrap)" -L
            """
    )

    @Option(help: ArgumentHelp("Partitions of each of Carillon's topics.", valueName: "n"))
    var topicsPartitions = 8

    @Option(
        help: ArgumentHelp("Write the bootstrap servers to this file while the broker runs.", valueName: "file"),
        completion: .file()
    )
    var bootstrapFile: String?

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (1...1_000).contains(topicsPartitions) else {
            throw ValidationError("--topics-partitions must be from 1 to 1000")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon broker") { try await serve() }
    }

    private func serve() async throws {
        let logging = LoggingConfiguration()
        bootstrapLogging(logging)
        let logger = Logger(label: "carillon broker")
        let file = try bootstrapFile.map(BootstrapFile.init(path:))
        let topics = TopicNames()
        let broker = try LocalBroker.withCarillonTopics(topics, partitions: topicsPartitions)
        let servers = broker.bootstrapServers.joined(separator: ",")
        let ready = ReadyAnnouncer(health: Health(), file: file, bootstrapServers: servers) { servers }
        let service = BrokerService(broker: broker, topics: topics, logger: logger)
        try await ServiceRunner.run([service, ready], shutdownTimeout: .seconds(5), logger: logger)
    }
}
