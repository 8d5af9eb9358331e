import ArgumentParser
import Foundation
import NotificationModel
import ServiceSupport

/// `carillon dead-letters list`.
struct DeadLettersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List dead letters, a line each, and their number by reason.",
        discussion: """
            A line has the dead letter's position, the time when it became one, its key, the reason with the position of \
            the record, and a summary of the value.

            Examples:

              carillon dead-letters list --reason no-rule --since 1d
              carillon dead-letters list --topic requests --json > letters.jsonl
            """
    )

    @OptionGroup(title: "Which") var which: DeadLetterFilterOptions

    @Flag(help: "One JSON object per line, which 'carillon dead-letters send --file' reads.")
    var json = false

    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func run() async throws {
        try await CommandFailure.told(by: "carillon dead-letters list") {
            let connection = try kafka.connection()
            let filter = which.filter(connection.topics, at: SystemClock.now())
            let (counts, signal) = try await Interruption.watched(thread: "dead-letters") { [json] stop in
                var counts: [String: Int] = [:]
                try filter.reader(connection).read(until: stop) { record in
                    guard let letter = StoredDeadLetter(record), filter.takes(letter) else { return true }
                    counts[letter.note.reason, default: 0] += 1
                    if json {
                        Terminal.write(json: RecordJSON.line(record))
                    } else {
                        Terminal.write("\(Self.line(letter))\n")
                    }
                    return true
                }
                return counts
            }
            Terminal.writeError(Self.summary(counts) + "\n")
            if let signal { throw ExitCode(ExitStatus.ended(by: signal)) }
        }
    }

    /// `3:17  2026-11-21T09:00:00.000Z  shop/ana/order-1  invalid at content from carillon.requests 3/9: …  {"a":1}`
    static func line(_ letter: StoredDeadLetter) -> String {
        let key = letter.record.key.map { RecordText.safe(String(decoding: $0, as: UTF8.self)) } ?? "-"
        return [
            "\(letter.place)", letter.timestamp.map { Timestamp(rawValue: $0).rfc3339 } ?? "-", key, letter.note.text,
            letter.record.value.map { RecordLine.summary(of: $0) } ?? "(no value: a tombstone)",
        ].joined(separator: "  ")
    }

    /// `12 dead letters: 10 no-rule, 2 invalid`
    static func summary(_ counts: [String: Int]) -> String {
        let all = counts.values.reduce(0, +)
        guard all > 0 else { return "no dead letters" }
        let reasons = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\(SendSummary.grouped($0.value)) \(RecordText.safe($0.key))" }
        return "\(SendSummary.grouped(all)) dead letter\(all == 1 ? "" : "s"): \(reasons.joined(separator: ", "))"
    }
}
