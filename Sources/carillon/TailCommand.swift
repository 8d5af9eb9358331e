import ArgumentParser
import Foundation
import Kafka
import Logging
import NotificationModel
import ServiceLifecycle
import ServiceSupport

/// `carillon tail`: reads a topic from any broker, without a consumer group.
struct TailCommand: AsyncParsableCommand {
    /// Where reading begins.
    enum Start: String, ExpressibleByArgument, CaseIterable {
        case beginning, end
    }

    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show the records of a topic as they come.",
        discussion: """
            One line a record: time, partition/offset, key, type, and what matters of the value. It reads without a consumer \
            group and commits nothing, so it disturbs nobody. It ends with Ctrl-C, or after --count records.
            """
    )

    @Argument(
        help:
            "A topic of Carillon by its short name (requests, deliveries, dead-letters, …), or any topic by its full name."
    )
    var topic: String

    @Option(
        help: ArgumentHelp(
            "Brokers, with commas between. Without it: the variable CARILLON_KAFKA_BOOTSTRAP_SERVERS.",
            valueName: "host:port"
        )
    )
    var bootstrapServers: String?

    @Flag(help: "One JSON object a line: topic, partition, offset, timestamp, key, headers, value.")
    var json = false

    @Option(help: "Where to begin: beginning or end.")
    var from = Start.end

    @Option(help: ArgumentHelp("End after this many records.", valueName: "n"))
    var count: Int?

    func validate() throws {
        if let count, count < 1 {
            throw ValidationError("--count takes a number from 1")
        }
        guard TopicNames.isValid(topic) else {
            throw ValidationError("'\(topic)' is no topic name: use 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'")
        }
        guard !servers.isEmpty else {
            throw ValidationError("no broker: give --bootstrap-servers or set CARILLON_KAFKA_BOOTSTRAP_SERVERS")
        }
    }

    private var servers: [String] {
        let text = bootstrapServers ?? ProcessInfo.processInfo.environment["CARILLON_KAFKA_BOOTSTRAP_SERVERS"] ?? ""
        return text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// The topic's full name: a short one gets the prefix that the services use.
    private var fullName: String {
        let prefix = ProcessInfo.processInfo.environment["CARILLON_TOPICS_PREFIX"] ?? TopicNames.defaultPrefix
        return TopicNames(prefix: prefix).all.first { $0.name == topic }?.topic ?? topic
    }

    func run() async throws {
        let logger = LoggingConfiguration(level: .error, format: .text).logger(label: "carillon tail")
        let reader = TopicReader(
            bootstrapServers: servers,
            topic: fullName,
            fromBeginning: from == .beginning,
            limit: count,
            logger: logger
        ) { [json, colours = Terminal.isTerminal] record in
            if json {
                Terminal.write(RecordJSON.line(record))
            } else {
                Terminal.write(RecordLine.text(record, colours: colours))
            }
        }
        do {
            try await ServiceRunner.run([reader], shutdownTimeout: .seconds(5), logger: logger)
        } catch let error as TopicReader.Failure {
            FileHandle.standardError.write(Data("carillon tail: \(error)\n".utf8))
            throw ExitCode(error.status)
        }
    }
}
