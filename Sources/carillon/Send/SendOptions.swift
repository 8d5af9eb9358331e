import ArgumentParser
import Foundation
import NotificationModel
import ServiceSupport

/// Number, rate and output of the records: the options of every `carillon send`.
struct SendOptions: ParsableArguments {
    /// Default `ce_source`.
    static let source = "/carillon/command-line"

    @Option(
        help: ArgumentHelp(
            "Number of copies to send; {n} in a text is the number of the copy, from 1.",
            valueName: "n"
        )
    )
    var count: Int?

    @Option(help: ArgumentHelp("Maximum number per second.", valueName: "per-second"))
    var rate: Double?

    @Flag(help: "Continue after an invalid line or a refused record, and report them at the end.")
    var keepGoing = false

    @Flag(help: "One JSON object on standard output for each record that the broker has acknowledged.")
    var json = false

    func validate() throws {
        guard !Validation.isLater else { return }
        if let count, !(1...1_000_000_000).contains(count) {
            throw ValidationError("--count must be from 1 to 1000000000")
        }
        try Self.validate(rate: rate)
    }

    /// Sends all messages of a source, reports the result, and ends the command with its status.
    ///
    /// - Parameters:
    ///   - topic: Selects the topic from those of the cluster.
    ///   - source: Called on the sending thread, before anything is sent.
    func send<Source: MessageSource>(
        to connection: Connection,
        topic: String,
        _ source: @escaping @Sendable () throws -> Source
    ) async throws {
        let configuration = Sender.Configuration(
            connection: connection,
            topic: topic,
            rate: rate,
            keepsGoing: keepGoing
        )
        try await Self.send(configuration, by: "carillon send", json: json) { _ in try source() }
    }

    static func validate(rate: Double?) throws {
        if let rate, !(0.001...10_000_000).contains(rate) {
            throw ValidationError("--rate must be from 0.001 to 10000000")
        }
    }

    /// The same for a command with options of its own.
    ///
    /// - Parameter source: As above, with the stop that is requested by a signal; nil when it came before anything was
    ///   found.
    static func send<Source: MessageSource>(
        _ configuration: Sender.Configuration,
        by command: String,
        json: Bool,
        _ source: @escaping @Sendable (StopSignal) throws -> Source?
    ) async throws {
        let isSilent = json && Terminal.isOutput
        let (summary, signal) = try await Interruption.watched(thread: "send") { stop -> SendSummary? in
            guard var source = try source(stop) else { return nil }
            let teller = Teller(
                by: command,
                topic: configuration.topic,
                total: source.total,
                json: json,
                hasBar: Terminal.isError && !isSilent
            )
            guard var sender = try Sender(configuration, stop: stop, output: teller.output) else {
                return nil
            }
            defer { teller.clear() }
            return sender.run(&source)
        }
        let result = summary ?? SendSummary()
        // Standard output contains only the objects.
        let status = result.status(signal: signal)
        if json {
            Terminal.writeError(result.text + "\n")
        } else {
            _ = Terminal.writeIfRead("\(result.text)\n")
        }
        if status != 0 { throw ExitCode(status) }
    }
}

/// Reports the outcome: objects or a line on standard output, problems and the progress bar on standard error.
private final class Teller {
    private let command: String
    private let topic: String?
    private let total: Int?
    private let json: Bool
    private var bar: ProgressBar?
    private var isRead = true

    init(by command: String, topic: String?, total: Int?, json: Bool, hasBar: Bool) {
        self.command = command
        self.topic = topic
        self.total = total
        self.json = json
        bar = hasBar ? ProgressBar(total: total, now: .now) : nil
    }

    var output: Sender.Output {
        Sender.Output(
            acknowledged: { [self] in acknowledged($0, $1, $2) },
            trouble: { [self] in
                clear()
                Terminal.writeError("\(command): \($0)\n")
            },
            progress: { [self] in bar?.show($0, at: .now) }
        )
    }

    func clear() {
        bar?.clear()
    }

    private func acknowledged(_ label: MessageLabel, _ partition: Int32, _ offset: Int64) {
        let topic = label.topic ?? topic ?? ""
        if json {
            let members =
                label.members + [
                    .init("topic", .string(topic)), .init("partition", .number("\(partition)")),
                    .init("offset", .number("\(offset)")),
                ]
            note { Terminal.writeIfRead(json: JSONValue.object(members).json + [0x0A]) }
        } else if total == 1 {
            clear()
            note { Terminal.writeIfRead("\(label) is at \(topic) \(partition)/\(offset)\n") }
        }
    }

    /// Sending continues even if the reader of the output is gone.
    private func note(_ write: () -> Bool) {
        if isRead { isRead = write() }
    }
}
