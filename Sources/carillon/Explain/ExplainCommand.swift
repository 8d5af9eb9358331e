import ArgumentParser
import Foundation
import NotificationModel
import ServiceSupport

/// `carillon explain`: what became of one notification.
struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Tell the whole life of one notification, in order and in words.",
        discussion: """
            It reads what the topics still have of the notification: its requests and removals, what each delivery event \
            says of it, what each device answered and the person did, and its dead letters; where an event has a reason, it says \
            what the reason means. Then it says what the consumer service keeps of it now, and what retention has taken away. \
            Of topics that are partitioned by the recipient only one partition is read. No service is asked, and nothing is \
            committed.

            Examples:

              carillon explain user-42 order-1001
              carillon explain user-42 order-1001 --application shop --since 7d --json
              carillon explain user-42 order-1001 --at 2026-11-21T09:00:00Z
              carillon explain user-42 order-1001 --follow
              carillon explain user-42 order-1001 --html order-1001.html
            """
    )

    @Argument(help: "The recipient.") var recipient: String
    @Argument(help: "The notification's identifier.") var identifier: String

    @Option(help: ArgumentHelp("Default: CARILLON_APPLICATION_DEFAULT, else 'default'.", valueName: "name"))
    var application: String?

    @Option(
        help: ArgumentHelp(
            "Read records since a time: RFC 3339, or how long ago, such as 7d. Default: all that the topics have.",
            valueName: "instant"
        )
    )
    var since: MomentArgument?

    @Option(help: ArgumentHelp("Tell its life as it was known at a time.", valueName: "instant"))
    var at: MomentArgument?

    @Flag(help: "Go on with what happens from now.")
    var follow = false

    @Flag(
        help: "One JSON object per line, in the same order: what, why, and the record as 'carillon tail --json' has it."
    )
    var json = false

    @Option(
        help: ArgumentHelp("Write it to a file instead: one HTML page that loads and runs nothing.", valueName: "file"),
        completion: .file()
    )
    var html: String?

    @Option(help: ArgumentHelp("Colours: auto means only on a terminal, unless NO_COLOR is set.", valueName: "when"))
    var color = ColorChoice.auto

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        guard !(follow && at != nil) else { throw ValidationError("--follow and --at exclude each other") }
        guard html == nil || !follow && !json else {
            throw ValidationError("--html excludes --follow and --json: it is written once")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon explain") {
            let connection = try kafka.connection()
            let key = try key(of: application ?? connection.defaultApplication)
            let now = SystemClock.now()
            let reader = LifeReader(
                connection: connection,
                key: key,
                since: since?.before(now),
                until: at?.before(now),
                follows: follow
            )
            let environment = ProcessInfo.processInfo.environment
            let colours = color.isOn(environment: environment, isTerminal: Terminal.isOutput)
            let file = html
            let (found, signal) = try await Interruption.watched(thread: "explain") { [json] stop in
                var page = file.map { _ in LifePage(key, made: now) }
                let isFound = try reader.read(until: stop) { part in
                    if page != nil {
                        page?.add(part)
                    } else if json {
                        Terminal.write(json: LifeJSON.line(part))
                    } else {
                        Terminal.write(painted: LifeText.text(part, colours: colours))
                    }
                }
                return (isFound: isFound, page: page)
            }
            let isFound = found.isFound
            if isFound, signal == nil, let file, let page = found.page { try write(page, to: file) }
            if let signal, !(follow && signal == SIGTERM) { throw ExitCode(ExitStatus.ended(by: signal)) }
            guard isFound || signal != nil else {
                throw CommandFailure(
                    "the topics at \(connection.servers) have nothing of \(String(decoding: key.encoded, as: UTF8.self)), or "
                        + "not any more: check recipient, identifier and --application",
                    status: ExitStatus.noInput
                )
            }
        }
    }

    private func write(_ page: LifePage, to file: String) throws {
        do {
            try Data(page.html.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        } catch {
            throw CommandFailure("\(file) cannot be written: \(error.localizedDescription)", status: ExitStatus.failed)
        }
    }

    private func key(of application: String) throws -> NotificationKey {
        do throws(ModelError) {
            return try NotificationKey(application: application, recipient: recipient, identifier: identifier)
        } catch {
            throw CommandFailure("\(error.field ?? "the key"): \(error.detail)", status: ExitStatus.usage)
        }
    }
}
