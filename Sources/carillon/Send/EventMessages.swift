import Kafka
import NotificationModel

/// Records for the topic `business-events`, as the HTTP API creates them: binary mode, keyed by `partitionkey`, else
/// the subject, else the source.
enum EventMessages {
    /// - Throws: The event's error, with the CloudEvents name of the attribute.
    static func message(_ event: BusinessEvent) throws(ModelError) -> OutgoingMessage {
        try event.validate()
        var headers = KafkaHeaderBuffer()
        for (name, value) in event.kafkaHeaders() { headers.append(KafkaHeaderName(name), value) }
        return OutgoingMessage(
            label: .event(id: event.id, source: event.source),
            partitionKey: event.kafkaKey,
            key: event.kafkaKey,
            value: event.kafkaValue,
            headers: headers
        )
    }

    /// An event in the JSON event format, or a record of the topic in the form of `carillon tail --json`.
    static func message(json: [UInt8]) throws(ModelError) -> OutgoingMessage {
        if let record = try ReplayedRecord(json: json) { return try message(replaying: record) }
        let events = try BusinessEvent.parse(
            httpHeaders: [("content-type", "application/cloudevents+json")],
            body: json
        )
        guard let event = events.first else { throw ModelError(.invalid, "there is no event") }
        return try message(event)
    }

    private static func message(replaying record: ReplayedRecord) throws(ModelError) -> OutgoingMessage {
        let event = try BusinessEvent(kafkaHeaders: record.headers, value: record.value)
        return OutgoingMessage(
            label: .event(id: event.id, source: event.source),
            partitionKey: record.key ?? event.kafkaKey,
            key: record.key,
            value: record.value,
            headers: record.headerBuffer,
            timestamp: record.timestamp
        )
    }
}
