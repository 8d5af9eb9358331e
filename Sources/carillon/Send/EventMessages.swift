import Kafka
import NotificationModel

/// Records for the topic `business-events`, as the HTTP API creates them: binary mode, keyed by `partitionkey`, else
/// the subject, else the source.
enum EventMessages {
    /// - Throws: The event's error, with the CloudEvents name of the attribute.
    static func message(_ event: BusinessEvent) throws(ModelError) -> OutgoingMessage {
        try event.validate()
        var headers = KafkaHeaderBuffer()
        for (name, value) in event.kafkaHeaders() { headers.append(KafkaHeader(name: name, value: value)) }
        return OutgoingMessage(
            label: .event(id: event.id, source: event.source),
            partitionKey: event.kafkaKey,
            key: event.kafkaKey,
            value: event.kafkaValue,
            headers: headers
        )
    }

    /// An event in the JSON event format, or a line of `carillon tail --json`.
    static func message(json: [UInt8]) throws(ModelError) -> OutgoingMessage {
        if let line = try TailLine(json: json) { return try message(copying: line) }
        let events = try BusinessEvent.parse(
            httpHeaders: [("content-type", "application/cloudevents+json")],
            body: json
        )
        guard let event = events.first else { throw ModelError(.invalid, "there is no event") }
        return try message(event)
    }

    static func message(copying line: TailLine) throws(ModelError) -> OutgoingMessage {
        let event = try BusinessEvent(kafkaHeaders: line.headers, value: line.value)
        return OutgoingMessage(
            label: .event(id: event.id, source: event.source),
            partitionKey: line.key ?? event.kafkaKey,
            key: line.key,
            value: line.value,
            headers: line.headerBuffer,
            timestamp: line.timestamp
        )
    }
}
