import ArgumentParser
import Foundation
import NotificationModel

/// `carillon send event`.
struct SendEvent: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "event",
        abstract: "Send a business event (CloudEvents 1.0), or many from a file.",
        discussion: """
            Examples:

              carillon send event --type com.example.order.shipped --source /shop \\
                --subject order-1001 --data '{"customer":"ana","order":"1001"}'
              carillon send event --type com.example.match.minute --subject match-7 \\
                --data '{"minute":{n}}' --count 90 --rate 1
              carillon send event --file events.jsonl

            A file contains structured CloudEvents: one in JSON, JSON Lines, or an array. They are sent in binary \
            mode. The key is the extension partitionkey, else the subject, else the source, as with the HTTP API: \
            events with the same key take effect in order.

            A line of 'carillon tail business-events --json' is published unchanged: key, value, headers and timestamp.
            """
    )

    @Option(help: ArgumentHelp("Type of the event, such as com.example.order.shipped.", valueName: "name"))
    var type: String?

    @Option(help: ArgumentHelp("Producer of the event. Default: \(SendOptions.source)", valueName: "uri"))
    var source: String?

    @Option(help: ArgumentHelp("Subject, and the record's key unless it has a partitionkey.", valueName: "name"))
    var subject: String?

    @Option(help: ArgumentHelp("Id, unique for its source. Random if not given.", valueName: "id"))
    var id: String?

    @Option(help: ArgumentHelp("Time of the event, in RFC 3339. Now if not given.", valueName: "instant"))
    var time: Timestamp?

    @Option(help: ArgumentHelp("The data, in JSON.", valueName: "json"))
    var data: String?

    @Option(
        name: .customLong("extension"),
        help: ArgumentHelp("An extension attribute; repeatable.", valueName: "name=value")
    )
    var extensions: [String] = []

    @Option(
        help: ArgumentHelp("CloudEvents in JSON instead of the options; - is standard input.", valueName: "file"),
        completion: .file(extensions: ["json", "jsonl"])
    )
    var file: String?

    @OptionGroup(title: "How much") var sending: SendOptions
    @OptionGroup(title: "Kafka") var kafka: ConnectionOptions

    func validate() throws {
        guard !Validation.isLater else { return }
        guard file == nil else {
            let given = [type, source, subject, id, data].contains { $0 != nil } || time != nil || !extensions.isEmpty
            guard !given else {
                throw ValidationError("--file contains complete events: give the file or the options, not both")
            }
            return
        }
        guard type != nil else { throw ValidationError("an event needs --type, or a --file") }
        for item in extensions where !item.contains("=") {
            throw ValidationError("--extension needs name=value, not '\(item)'")
        }
        if let id, sending.count ?? 1 > 1, !Placeholder.isIn(id) {
            throw ValidationError("--id is the same in every copy: add {n} to it")
        }
        do throws(ModelError) {
            _ = try message(1)
        } catch {
            let options = ["type", "source", "subject", "id", "time", "data"]
            let option = error.field.map { options.contains($0) ? "--\($0): " : "--extension: " } ?? ""
            throw ValidationError("\(option)\(error)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon send") {
            let connection = try kafka.connection()
            if let file {
                try await sending.send(to: connection, topic: connection.topics.businessEvents) {
                    ReadMessages(
                        try JSONInput(path: file),
                        copies: sending.count,
                        make: EventMessages.message(json:)
                    )
                }
            } else {
                try await sending.send(to: connection, topic: connection.topics.businessEvents) {
                    NumberedMessages(count: sending.count ?? 1, make: message)
                }
            }
        }
    }

    /// The message with this number; replaces `{n}` if there is a count.
    private func message(_ number: Int) throws(ModelError) -> OutgoingMessage {
        func filled(_ text: String) -> String { sending.count == nil ? text : Placeholder.filled(text, number) }
        var bytes: [UInt8] = []
        if let data {
            bytes = Array(filled(data).utf8)
            do throws(ModelError) {
                _ = try JSONValue.parse(bytes)
            } catch {
                throw ModelError(error.reason, field: "data", error.detail)
            }
        }
        var attributes: [String: String] = [:]
        for item in extensions {
            guard let equals = item.firstIndex(of: "=") else { continue }
            attributes[String(item[..<equals])] = filled(String(item[item.index(after: equals)...]))
        }
        return try EventMessages.message(
            BusinessEvent(
                id: id.map(filled) ?? RequestID.random().description,
                source: filled(source ?? SendOptions.source),
                type: filled(type ?? ""),
                subject: subject.map(filled),
                time: time ?? SystemClock.now(),
                dataContentType: data == nil ? nil : "application/json",
                data: bytes,
                extensions: attributes
            )
        )
    }
}
