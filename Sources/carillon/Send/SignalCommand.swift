import ArgumentParser
import Kafka
import NotificationModel
import NotificationPublisher

/// A command that sends signals of one type to the topic `signals`.
protocol SignalCommand: AsyncParsableCommand, Sendable {
    var recipient: String { get }
    var sending: SendOptions { get }
    var kafka: ConnectionOptions { get }

    /// The signal.
    ///
    /// - Parameters:
    ///   - filled: Replaces `{n}` in a text.
    ///   - now: For an instant that is not given.
    func signal(_ filled: (String) -> String, at now: Timestamp) throws(ModelError) -> Signal
}

extension SignalCommand {
    func validate() throws {
        guard !Validation.isLater else { return }
        do throws(ModelError) {
            _ = try message(1, at: SystemClock.now())
        } catch {
            throw ValidationError("\(error.field.map { "--\(Self.option(of: $0)): " } ?? "")\(error)")
        }
    }

    func run() async throws {
        try await CommandFailure.told(by: "carillon send") {
            let connection = try kafka.connection()
            try await sending.send(to: connection, topic: connection.topics.signals) {
                NumberedMessages(count: sending.count ?? 1) { number throws(ModelError) in
                    try message(number, at: SystemClock.now())
                }
            }
        }
    }

    /// The message with this number; replaces `{n}` if there is a count.
    func message(_ number: Int, at now: Timestamp) throws(ModelError) -> OutgoingMessage {
        func filled(_ text: String) -> String { sending.count == nil ? text : Placeholder.filled(text, number) }
        let signal = try signal(filled, at: now)
        // As a reader of the record finds it.
        try Signal(signal.type, json: signal.json).checkTime(at: now)
        let id = RequestID.random()
        let record = try SignalRecord(signal, of: filled(recipient), id: id, source: SendOptions.source, time: now)
        var headers = KafkaHeaderBuffer()
        for header in record.headers { headers.append(header) }
        return OutgoingMessage(
            label: .event(id: id.description, source: SendOptions.source),
            partitionKey: record.recipient,
            key: record.key,
            value: record.value,
            headers: headers,
            timestamp: now.rawValue
        )
    }

    /// The option that gives a member: `--request-id` for `requestId`.
    private static func option(of field: String) -> String {
        switch field {
        case "actionIdentifier": "action"
        case "userText": "text"
        default: field.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
        }
    }
}
