import Kafka
import NotificationModel

/// A dead letter, and the record that it was.
struct StoredDeadLetter: Sendable {
    var place: RecordPlace
    /// When it became a dead letter, in milliseconds since 1970.
    var timestamp: Int64?
    var note: DeadLetterNote
    /// The original: its key, value and headers without those of the dead letter, and its timestamp.
    var record: TailLine

    /// Nil for a record that is not a dead letter.
    init?(_ record: KafkaConsumerRecord) {
        guard let note = DeadLetterNote(record) else { return nil }
        (self.note, timestamp) = (note, record.timestamp)
        place = RecordPlace(partition: record.partition, offset: record.offset)
        self.record = TailLine(
            key: record.key,
            value: record.value,
            headers: DeadLetter.originalHeaders(record.headers.map { ($0.name, $0.value) }),
            timestamp: note.timestamp?.rawValue
        )
    }

    /// Reads a line of `carillon tail dead-letters --json`.
    init(json: [UInt8]) throws(ModelError) {
        guard let line = try TailLine(json: json, takesDeadLetters: true), let place = line.place else {
            throw ModelError(.invalid, "is no line of 'carillon tail dead-letters --json'")
        }
        let record = KafkaConsumerRecord(
            topic: "",
            partition: place.partition,
            offset: place.offset,
            timestamp: line.timestamp,
            key: line.key,
            value: line.value,
            headers: line.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        )
        guard let letter = StoredDeadLetter(record) else {
            throw ModelError(.invalid, field: "headers.\(DeadLetter.reasonHeader)", "is missing")
        }
        self = letter
    }

    /// The record to publish again: unchanged, to the topic that it came from. It must be valid now, or it would only be a
    /// dead letter again.
    ///
    /// - Throws: What is still wrong with it.
    func message(to topics: TopicNames) throws(ModelError) -> OutgoingMessage {
        guard let topic = note.topic else {
            throw ModelError(.invalid, field: "kafka_dlt-original-topic", "is missing: where it came from is not known")
        }
        if let omitted = note.omitted {
            let origin = "\(topic) \(note.partition ?? 0)/\(note.offset ?? 0)"
            throw ModelError(
                .invalid,
                field: DeadLetter.omittedHeader,
                "the dead letter lacks \(omitted) bytes: send the original, at \(origin), while its topic has it"
            )
        }
        var message = try message(topic, topics)
        message.label = .deadLetter(place, topic: topic)
        message.topic = topic
        return message
    }

    private func message(_ topic: String, _ topics: TopicNames) throws(ModelError) -> OutgoingMessage {
        switch topic {
        case topics.requests: return try RequestMessages(source: SendOptions.source).message(copying: record)
        case topics.businessEvents:
            let message = try EventMessages.message(copying: record)
            try BusinessEvent(kafkaHeaders: record.headers, value: record.value).checkTypeIsFree()
            return message
        case topics.responses:
            _ = try BusinessEvent(kafkaHeaders: record.headers, value: record.value)
            return copy(try NotificationKey(encoded: try key()).recipientBytes)
        case topics.signals:
            let recipient = try SignalKey.recipient(of: try key())
            let name = record.headers.last { $0.name == SignalType.header }?.value
            guard let type = name.flatMap({ $0.withUnsafeBytes { SignalType(eventType: $0) } }) else {
                throw ModelError(.unsupportedForm, field: SignalType.header, "is no type of a signal")
            }
            guard let value = record.value else { throw ModelError(.invalid, "the record has no value") }
            _ = try Signal(type, json: value)
            return copy(Array(recipient.utf8))
        case topics.devices:
            let key = try NotificationKey(encoded: try key())
            guard !key.isWholeRecipient else { throw ModelError(.invalid, field: "key", "the key names no device") }
            if let value = record.value { _ = try DeviceRegistration(json: value) }
            return copy(key.recipientBytes)
        default:
            throw ModelError(
                .invalid,
                field: "kafka_dlt-original-topic",
                "\(topic) is none of the topics whose records can be sent: are the names of topics those of the services?"
            )
        }
    }

    private func key() throws(ModelError) -> [UInt8] {
        guard let key = record.key else { throw ModelError(.invalid, field: "key", "is missing") }
        return key
    }

    /// - Parameter partitionKey: The input of the partition rule.
    private func copy(_ partitionKey: [UInt8]) -> OutgoingMessage {
        OutgoingMessage(
            label: .deadLetter(place, topic: ""),
            partitionKey: partitionKey,
            key: record.key,
            value: record.value,
            headers: record.headerBuffer,
            timestamp: record.timestamp
        )
    }
}
