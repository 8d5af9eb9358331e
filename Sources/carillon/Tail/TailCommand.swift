import ArgumentParser
import Foundation
import NotificationModel
import ServiceSupport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// `carillon tail`: reads a topic from any broker, without a consumer group.
struct TailCommand: AsyncParsableCommand {
    /// The start position.
    enum Start: String, ExpressibleByArgument, CaseIterable {
        case beginning, end
    }

    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show the records of a topic as they arrive.",
        discussion: """
            One line per record: time in UTC, of another day with its date, partition/offset, key, type, and a summary of \
            the value. It reads without a \
            consumer group and commits nothing, so it affects no other reader. It ends with Ctrl-C, after --count \
            records, or with --no-follow at the current end of the topic.

            Examples:

              carillon tail deliveries --recipient user-42 --since 15m
              carillon tail deliveries --type delivered --type expired --no-follow --json
              carillon tail dead-letters --from beginning

            With --json, a line contains the complete record: 'carillon send notification --file -' and 'carillon send \
            event --file -' read such lines and publish the records again.
            """
    )

    @Argument(
        help: ArgumentHelp(
            "A topic of Carillon by its short name (requests, deliveries, dead-letters, …), or any by its full name.",
            valueName: "topic"
        ),
        completion: .list(TopicNames().all.map(\.name))
    )
    var topic: String

    @Option(help: ArgumentHelp("Only records of this recipient.", valueName: "name"))
    var recipient: String?

    @Option(help: ArgumentHelp("Only records with this identifier.", valueName: "name"))
    var identifier: String?

    @Option(
        help: ArgumentHelp(
            "Only records of this type, in full or by its short name (delivered, removal, …); repeatable.",
            valueName: "name"
        ),
        completion: .list(RecordName.known)
    )
    var type: [String] = []

    @Option(help: ArgumentHelp("Start position. Default: end, with --no-follow beginning.", valueName: "where"))
    var from: Start?

    @Option(
        help: ArgumentHelp(
            "Start at a time: RFC 3339, or how long ago, such as 15m.",
            valueName: "instant"
        )
    )
    var since: MomentArgument?

    @Flag(inversion: .prefixedNo, help: "Wait for more at the end of the topic.")
    var follow = true

    @Option(help: ArgumentHelp("Stop after this number of shown records.", valueName: "n"))
    var count: Int?

    @Flag(help: "One JSON object per line: topic, partition, offset, timestamp, key, headers, value.")
    var json = false

    @Option(
        help: ArgumentHelp("Colours: auto means only on a terminal, unless NO_COLOR is set.", valueName: "when")
    )
    var color = ColorChoice.auto

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        if let count, count < 1 {
            throw ValidationError("--count must be at least 1")
        }
        guard TopicNames.isValid(topic) else {
            throw ValidationError("'\(topic)' is not a topic name: use 1 to 249 of a-z, A-Z, 0-9, '.', '_' and '-'")
        }
        guard since == nil || from == nil else {
            throw ValidationError("--since and --from exclude each other")
        }
        if let known = RecordName.known(ofTopic: topic) {
            for type in type where !known.contains(RecordName(type: type).short) {
                throw ValidationError(Self.unknown(type, among: known, of: topic))
            }
        }
    }

    private static func unknown(_ type: String, among known: [String], of topic: String) -> String {
        let near = Spelling.nearest(to: type, among: known).map { "; did you mean '\($0)'?" } ?? "."
        return "--type: no record of \(topic) has the type '\(type)'\(near) The types: \(known.joined(separator: ", "))"
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon tail") {
            let since = since?.before(SystemClock.now())
            let reader = try reader(since: since)
            let filter = RecordFilter(recipient: recipient, identifier: identifier, types: Set(type), since: since)
            let environment = ProcessInfo.processInfo.environment
            let colours = color.isOn(environment: environment, isTerminal: Terminal.isOutput)
            let (_, signal) = try await Interruption.watched(thread: "tail") { [json, count] stop in
                var shown = 0
                try reader.read(until: stop) { record in
                    guard filter.takes(record) else { return true }
                    if json {
                        Terminal.write(json: RecordJSON.line(record))
                    } else {
                        Terminal.write(painted: RecordLine.text(record, colours: colours))
                    }
                    shown += 1
                    return shown != count
                }
            }
            // With --follow a supervisor's SIGTERM is the regular end.
            if let signal, !(follow && signal == SIGTERM) { throw ExitCode(ExitStatus.ended(by: signal)) }
        }
    }

    private func reader(since: Timestamp?) throws -> TopicReader {
        let connection = try kafka.connection()
        var start = TopicReader.Start.end
        if let since {
            start = .since(since)
        } else if from ?? (follow ? .end : .beginning) == .beginning {
            start = .beginning
        }
        return TopicReader(
            connection: connection,
            // A short name gets the prefix of the services.
            topic: connection.topics.all.first { $0.name == topic }?.topic ?? topic,
            start: start,
            follows: follow
        )
    }
}
