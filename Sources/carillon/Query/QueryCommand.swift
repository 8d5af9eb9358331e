import ArgumentParser
import Foundation
import NotificationModel
import NotificationState
import ServiceSupport

extension ListedNotification.State: ExpressibleByArgument {}

/// `carillon query`: what recipients have, over all partitions.
struct QueryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Count and list pending and delivered notifications by filters, over all instances.",
        discussion: """
            It reads the topic 'state', where each instance keeps what its recipients have, to its end, and counts what the newest \
            records say, by application, category and channel. With --recipient only one partition is read; otherwise all of them, \
            which takes a minute for some millions of records. Changes reach the topic up to 10 s later. No service is asked, and \
            nothing is committed.

            What is being sent counts as pending with --state, and has a column of its own. No record names the rule that asked \
            for a notification, so there is no filter by rule: let the rule set a category of its own, and use --category.

            Examples:

              carillon query --application shop --state pending
              carillon query --category ORDER --due-within 15m --list 20
              carillon query --recipient user-42 --list 100 --json
            """
    )

    @Option(help: ArgumentHelp("Only this recipient.", valueName: "name")) var recipient: String?
    @Option(help: ArgumentHelp("Only this application.", valueName: "name")) var application: String?
    @Option(help: ArgumentHelp("pending or delivered. Default: both.", valueName: "state"))
    var state: ListedNotification.State?
    @Option(help: ArgumentHelp("Only notifications of this category.", valueName: "identifier")) var category: String?
    @Option(help: ArgumentHelp("Only notifications whose request names this channel.", valueName: "name"))
    var channel: String?
    @Option(help: ArgumentHelp("Only pending ones that are due within a time, such as 15m.", valueName: "time"))
    var dueWithin: SpanArgument?

    @Option(help: ArgumentHelp("Also list so many of them, those that are due next first.", valueName: "n"))
    var list = 0

    @Flag(help: "One JSON object per notification, and one with the numbers.") var json = false

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        guard (0...100_000).contains(list) else { throw ValidationError("--list must be from 0 to 100000") }
        if let channel, ChannelName(rawValue: channel) == nil {
            let names = ChannelName.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("--channel must be one of \(names)")
        }
        if dueWithin != nil, state == .delivered {
            throw ValidationError("--due-within is about pending notifications, and --state delivered is not")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon query") {
            let connection = try kafka.connection()
            let filter = QueryFilter(
                state: state,
                application: application,
                recipient: recipient,
                category: category,
                channel: channel,
                dueUntil: dueWithin.map { SystemClock.now().adding(milliseconds: $0.milliseconds) }
            )
            let (result, signal) = try await Interruption.watched(thread: "query") { [list] stop in
                try Self.read(connection, filter, limit: list, until: stop)
            }
            // What was read so far says nothing.
            if let signal { throw ExitCode(ExitStatus.ended(by: signal)) }
            if json {
                Terminal.write(json: QueryReport.json(result))
            } else {
                Terminal.write(QueryReport.text(result))
            }
            if result.unreadable > 0 {
                Terminal.writeError(
                    "carillon query: \(result.unreadable) records are of a newer form, or none of Carillon: they are not counted\n"
                )
            }
            if result.isChosenFromPart {
                Terminal.writeError(
                    "carillon query: the list is chosen from \(QueryResult.maximumRows) of them; narrow it\n"
                )
            }
            guard !result.isOverflowing else {
                throw CommandFailure(
                    "more than \(QueryResult.maximumKeys) match: the numbers are too low; narrow it",
                    status: ExitStatus.failed
                )
            }
        }
    }

    /// Reads `state` to its end; blocking.
    static func read(
        _ connection: Connection,
        _ filter: QueryFilter,
        limit: Int,
        until stop: StopSignal
    ) throws(CommandFailure) -> QueryResult {
        var result = QueryResult(filter, limit: limit, zones: try? TimeZoneDatabase.system.get())
        let reader = TopicReader(
            connection: connection,
            topic: connection.topics.state,
            start: .beginning,
            follows: false,
            recipient: filter.recipient
        )
        try reader.read(until: stop) { record in
            result.take(record)
            return true
        }
        return result
    }
}
