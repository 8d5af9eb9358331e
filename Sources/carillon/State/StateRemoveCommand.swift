import ArgumentParser
import NotificationModel

/// `carillon state remove`: removes records from the changelog that the consumer service cannot read.
struct StateRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove records from the changelog that Carillon did not write.",
        discussion: """
            The consumer service refuses to start while the topic state contains a record that it cannot read, and \
            names the record. This command writes a null value under the same key to the same partition, which removes \
            the record for the service at once. It removes all of the records or none, and none that a later record \
            has replaced. Stop all consumer services before.

            Example:

              carillon state remove 3:1742 3:1743
            """
    )

    @Argument(help: ArgumentHelp("Position of each record.", valueName: "partition:offset"))
    var places: [RecordPlace]

    @Option(
        help: ArgumentHelp("Full name of the topic. Default: the topic state with its prefix.", valueName: "topic")
    )
    var topic: String?

    @Flag(help: "Also remove readable records: the service loses the notification, or its position.")
    var force = false

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        if let topic, !TopicNames.isValid(topic) {
            throw ValidationError("'\(topic)' is not a topic name: use 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon state remove") {
            let connection = try kafka.connection()
            let removal = StateRemoval(
                connection: connection,
                topic: topic ?? connection.topics.state,
                places: places,
                isForced: force
            )
            let (_, signal) = try await Interruption.watched(thread: "state") { stop in
                try removal.run(until: stop) { Terminal.write("\($0)\n") }
            }
            if let signal { throw ExitCode(ExitStatus.ended(by: signal)) }
        }
    }
}

/// A partition and an offset, as `3:1742`.
struct RecordPlace: ExpressibleByArgument, Hashable, Sendable, CustomStringConvertible {
    var partition: Int32
    var offset: Int64

    init(partition: Int32, offset: Int64) { (self.partition, self.offset) = (partition, offset) }

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), partition >= 0,
            offset >= 0
        else { return nil }
        (self.partition, self.offset) = (partition, offset)
    }

    var description: String { "\(partition):\(offset)" }
}
