import ArgumentParser
import Foundation
import NotificationModel
import ServiceSupport

/// `carillon dead-letters send`.
struct DeadLettersSendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send the records of dead letters to their topics again.",
        discussion: """
            Each record has the key, the value, the headers and the timestamp that it had, without the headers of the dead \
            letter. What is still invalid is not sent. The dead letters stay where they are. What was processed \
            meanwhile, or is sent twice, is dropped as a duplicate, like every repeat.

            Examples:

              carillon dead-letters send --reason no-rule --since 1d --dry-run
              carillon dead-letters send --reason no-rule --since 1d --rate 100 --keep-going
              carillon dead-letters send 3:17 3:18
              carillon tail dead-letters --no-follow --json |
                jq -c 'select(.headers.ce_type == "order")' |
                carillon dead-letters send --file -
            """
    )

    @Argument(help: ArgumentHelp("Position of each dead letter, as 'list' shows it.", valueName: "partition:offset"))
    var places: [RecordPlace] = []

    @OptionGroup(title: "Which") var which: DeadLetterFilterOptions

    @Flag(help: "All dead letters.")
    var all = false

    @Option(
        help: ArgumentHelp(
            "Lines of 'carillon tail dead-letters --json' or 'list --json' instead; - is standard input.",
            valueName: "file"
        ),
        completion: .file(extensions: ["jsonl"])
    )
    var file: String?

    @Flag(help: "Only show what would be sent, and what would not.")
    var dryRun = false

    @Option(help: ArgumentHelp("Maximum number per second.", valueName: "per-second"))
    var rate: Double?

    @Flag(help: "Continue after a record that is still invalid or is refused, and report them at the end.")
    var keepGoing = false

    @Flag(help: "One JSON object on standard output for each record that the broker has acknowledged.")
    var json = false

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        try SendOptions.validate(rate: rate)
        let given = [!places.isEmpty, which.isGiven, all, file != nil].count { $0 }
        guard given == 1 else {
            throw ValidationError(
                given == 0
                    ? "say which: positions, --reason, --topic, --since, --until, --file, or --all"
                    : "positions, filters, --all and --file exclude each other"
            )
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon dead-letters send") {
            let connection = try kafka.connection()
            if let file {
                try await send(connection) { _ in
                    ReadMessages(try JSONInput(path: file), copies: nil) { json throws(ModelError) in
                        try StoredDeadLetter(json: json).message(to: connection.topics)
                    }
                }
                return
            }
            var filter = which.filter(connection.topics, at: SystemClock.now())
            filter.places = Set(places)
            try await send(connection) { [filter] stop in
                try filter.reader(connection).cursor(until: stop).map { cursor in
                    DeadLetterMessages(cursor, filter, connection.topics)
                }
            }
        }
    }

    /// - Parameter source: Called on the sending thread; nil when a stop was requested before an answer.
    private func send<Source: MessageSource>(
        _ connection: Connection,
        _ source: @escaping @Sendable (StopSignal) throws -> Source?
    ) async throws {
        guard dryRun else {
            var configuration = Sender.Configuration(connection: connection)
            (configuration.rate, configuration.keepsGoing) = (rate, keepGoing)
            return try await SendOptions.send(configuration, by: "carillon dead-letters send", json: json, source)
        }
        let (run, signal) = try await Interruption.watched(thread: "dead-letters") { stop in
            var run = DryRun()
            guard var source = try source(stop) else { return run }
            try run.run(&source, until: { stop.isRequested }) { message in
                Terminal.write("\(message.label) to \(message.topic ?? ""), key \(Self.key(of: message))\n")
            } trouble: {
                Terminal.writeError("carillon dead-letters send: \($0)\n")
            }
            return run
        }
        Terminal.write("\(run.text)\n")
        let status = run.summary.status(signal: signal)
        if status != 0 { throw ExitCode(status) }
    }

    private static func key(of message: OutgoingMessage) -> String {
        message.key.map { String(decoding: $0, as: UTF8.self) } ?? "(none)"
    }
}
