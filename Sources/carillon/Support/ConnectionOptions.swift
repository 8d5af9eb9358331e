import ArgumentParser
import Foundation
import Kafka
import NotificationModel
import ServiceSupport

/// The connection to a cluster and the names of its topics: the options of every command that uses one.
///
/// Defaults come from the variables of the services: `CARILLON_KAFKA_BOOTSTRAP_SERVERS`, `CARILLON_KAFKA_PROPERTIES`,
/// `CARILLON_TOPICS_PREFIX` and `CARILLON_TOPICS_…`, `CARILLON_APPLICATION_DEFAULT`. Their other variables are ignored.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Brokers, separated by commas. Default: --bootstrap-file, else CARILLON_KAFKA_BOOTSTRAP_SERVERS.",
            valueName: "host:port"
        )
    )
    var bootstrapServers: String?

    @Option(
        help: ArgumentHelp(
            "A file with the brokers, as 'carillon local --bootstrap-file' writes it.",
            valueName: "file"
        ),
        completion: .file()
    )
    var bootstrapFile: String?

    @Option(
        name: [.customShort("X"), .long],
        help: ArgumentHelp(
            "Any librdkafka property; repeatable. Put passwords in CARILLON_KAFKA_PROPERTIES instead.",
            valueName: "name=value"
        )
    )
    var property: [String] = []

    @Option(
        help: ArgumentHelp(
            "Prefix of the topic names. Default: CARILLON_TOPICS_PREFIX, else 'carillon.'.",
            valueName: "prefix"
        )
    )
    var topicsPrefix: String?

    @Option(
        help: ArgumentHelp("How long to wait for the broker: seconds, or a time such as 500ms.", valueName: "time")
    )
    var timeout = SpanArgument(.seconds(10))

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (.milliseconds(100) ... .seconds(3_600)).contains(timeout.duration) else {
            throw ValidationError("--timeout must be from 100ms to 1h")
        }
        let given = (bootstrapServers ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        if let problem = SharedConfiguration.problem(ofServers: given.filter { !$0.isEmpty }) {
            throw ValidationError("--bootstrap-servers \(problem)")
        }
        // Show the name only: a value may be a password.
        for item in property where !item.contains("=") || item.hasPrefix("=") {
            throw ValidationError("--property needs name=value, not '\(item.prefix { $0 != "=" })'")
        }
    }

    /// - Parameter environment: The process environment.
    /// - Throws: `ValidationError` for wrong usage, ``CommandFailure`` when the file is missing.
    func connection(environment: [String: String] = ProcessInfo.processInfo.environment) throws -> Connection {
        var variables = environment.filter { Self.variables.contains($0.key) }
        variables["CARILLON_TOPICS_PREFIX"] = topicsPrefix ?? variables["CARILLON_TOPICS_PREFIX"]
        let servers = "CARILLON_KAFKA_BOOTSTRAP_SERVERS"
        variables[servers] = try bootstrapServers ?? bootstrapFile.map(Self.text(of:)) ?? variables[servers]
        guard !(variables[servers] ?? "").allSatisfy({ $0.isWhitespace || $0 == "," }) else {
            throw CommandFailure(
                "no broker: give --bootstrap-servers or --bootstrap-file, or set \(servers)",
                status: ExitStatus.usage
            )
        }
        do {
            var settings = try ServiceSettings(environment: variables, file: nil)
            var connection = Connection(
                bootstrapServers: SharedConfiguration.bootstrapServers(&settings),
                properties: SharedConfiguration.kafkaProperties(&settings),
                topics: SharedConfiguration.topicNames(
                    &settings,
                    [
                        "businessEvents", "requests", "signals", "devices", "tokens", "categories", "deliveries",
                        "responses", "state", "deadLetters",
                    ]
                ),
                defaultApplication: settings.string("application.default", default: "default"),
                timeout: timeout.duration
            )
            try settings.finish()
            for item in property {
                guard let equals = item.firstIndex(of: "=") else { continue }
                connection.properties[String(item[..<equals])] = String(item[item.index(after: equals)...])
            }
            return connection
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.usage)
        }
    }

    private static let variables: Set<String> = [
        "CARILLON_KAFKA_BOOTSTRAP_SERVERS", "CARILLON_KAFKA_PROPERTIES", "CARILLON_TOPICS_PREFIX",
        "CARILLON_TOPICS_BUSINESS_EVENTS", "CARILLON_TOPICS_REQUESTS", "CARILLON_TOPICS_SIGNALS",
        "CARILLON_TOPICS_DEVICES", "CARILLON_TOPICS_TOKENS", "CARILLON_TOPICS_CATEGORIES", "CARILLON_TOPICS_DELIVERIES",
        "CARILLON_TOPICS_RESPONSES", "CARILLON_TOPICS_STATE", "CARILLON_TOPICS_DEAD_LETTERS",
        "CARILLON_APPLICATION_DEFAULT",
    ]

    private static func text(of path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            throw CommandFailure(
                "--bootstrap-file: \(path) cannot be read: is the broker running?",
                status: ExitStatus.noInput
            )
        }
    }
}

/// The connection to a cluster.
struct Connection: Sendable {
    var bootstrapServers: [String]
    var properties: [String: String]
    var topics: TopicNames
    var defaultApplication: String
    /// How long to wait for an answer of the broker.
    var timeout: Duration
    /// The log of its clients.
    let log = ConnectionLog()

    /// - Parameter name: The client's name in the brokers' logs.
    func client(_ name: String) -> KafkaClientConfiguration {
        KafkaClientConfiguration(bootstrapServers: bootstrapServers, clientID: name, properties: properties)
    }

    /// For messages.
    var servers: String { bootstrapServers.joined(separator: ",") }

    /// Repeats a request, in attempts short enough for a stop request.
    ///
    /// - Returns: Nil when a stop was requested before an answer.
    /// - Throws: ``CommandFailure`` when no broker answered in time, or the broker refuses permanently.
    func asked<Answer>(
        until stop: StopSignal,
        _ question: (_ within: Duration) throws -> Answer
    ) throws(CommandFailure) -> Answer? {
        let deadline = ContinuousClock.now + timeout
        while !stop.isRequested {
            do {
                return try question(min(.milliseconds(500), max(.milliseconds(1), deadline - .now)))
            } catch let failure as CommandFailure {
                throw failure
            } catch let error as KafkaError where error.isRetriable && !Self.isOfTopic(error) {
                guard ContinuousClock.now < deadline else {
                    throw CommandFailure(
                        "no answer from \(servers) within \(DurationText.write(timeout)): \(log.last ?? error.reason)",
                        status: ExitStatus.unavailable
                    )
                }
                stop.wait(.milliseconds(50))
            } catch {
                throw CommandFailure("\(servers): \(error)", status: Self.status(of: error))
            }
        }
        return nil
    }

    private static func isOfTopic(_ error: KafkaError) -> Bool {
        error.code == .unknownTopicOrPartition || error.code == .unknownTopic
    }

    private static func status(of error: any Error) -> Int32 {
        guard let error = error as? KafkaError else { return ExitStatus.failed }
        return isOfTopic(error) ? ExitStatus.noInput : ExitStatus.failed
    }
}
