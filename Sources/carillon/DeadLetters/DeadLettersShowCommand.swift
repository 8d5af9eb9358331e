import ArgumentParser
import Foundation
import Kafka
import NotificationModel
import ServiceSupport

/// `carillon dead-letters show`.
struct DeadLettersShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show dead letters in full, and whether their records could be sent again.",
        discussion: """
            Example:

              carillon dead-letters show 3:17
            """
    )

    @Argument(help: ArgumentHelp("Position of each dead letter, as 'list' shows it.", valueName: "partition:offset"))
    var places: [RecordPlace]

    @Flag(help: "One JSON object per line, as 'carillon tail --json'.")
    var json = false

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon dead-letters show") {
            let connection = try kafka.connection()
            let filter = DeadLetterFilter(places: Set(places))
            let (missing, signal) = try await Interruption.watched(thread: "dead-letters") { [json] stop in
                var missing = filter.places
                try filter.reader(connection).read(until: stop) { record in
                    guard let letter = StoredDeadLetter(record), filter.takes(letter) else { return true }
                    missing.remove(letter.place)
                    if json {
                        Terminal.write(json: RecordJSON.line(record))
                    } else {
                        Terminal.write(Self.text(letter, sendingTo: connection.topics) + "\n")
                    }
                    return !missing.isEmpty
                }
                return missing
            }
            if let signal { throw ExitCode(ExitStatus.ended(by: signal)) }
            guard missing.isEmpty else {
                let list = missing.map(\.description).sorted().joined(separator: ", ")
                throw CommandFailure(
                    "\(connection.topics.deadLetters) has no dead letter at \(list), or not any more",
                    status: ExitStatus.noInput
                )
            }
        }
    }

    /// Everything that is known of a dead letter.
    static func text(_ letter: StoredDeadLetter, sendingTo topics: TopicNames) -> String {
        var lines = ["dead letter \(letter.place)"]
        func line(_ name: String, _ text: String?) {
            guard let text else { return }
            lines.append("  \(name):" + String(repeating: " ", count: max(1, 10 - name.count)) + RecordText.safe(text))
        }
        let note = letter.note
        line("since", letter.timestamp.map { Timestamp(rawValue: $0).rfc3339 })
        line("reason", note.reason)
        line("field", note.field)
        line("detail", note.detail)
        line("omitted", note.omitted)
        let origin = note.partition.flatMap { partition in note.offset.map { " \(partition)/\($0)" } } ?? ""
        line("from", note.topic.map { "\($0)\(origin)" })
        line("written", note.timestamp?.rfc3339)
        line("key", letter.record.key.map(Self.text) ?? "(none)")
        for header in letter.record.headers {
            line("header", "\(header.name): \(header.value.map(Self.text) ?? "(null)")")
        }
        line("value", letter.record.value.map(Self.text) ?? "(no value: a tombstone)")
        do throws(ModelError) {
            let message = try letter.message(to: topics)
            line("send", "it can be sent to \(message.topic ?? "") again")
        } catch {
            line("send", "it cannot be sent again: \(error)")
        }
        return lines.joined(separator: "\n")
    }

    private static func text(_ bytes: [UInt8]) -> String {
        RecordText.readable(bytes) ?? "base64 \(Data(bytes).base64EncodedString())"
    }
}
