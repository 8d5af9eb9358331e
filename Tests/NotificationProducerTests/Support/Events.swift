import Kafka
import NotificationModel

extension BusinessEvent {
    static func sample(
        id: String = "e1",
        source: String = "/shop",
        type: String = "com.example.order.shipped",
        subject: String? = nil,
        extensions: [String: String] = [:],
        data: String
    ) -> BusinessEvent {
        BusinessEvent(
            id: id,
            source: source,
            type: type,
            subject: subject,
            data: Array(data.utf8),
            extensions: extensions
        )
    }

    /// The record that a user's system would publish.
    var record: KafkaProducerRecord {
        KafkaProducerRecord(
            topic: ProducerHarness.topics.businessEvents,
            key: subject.map { Array($0.utf8) },
            value: kafkaValue,
            headers: kafkaHeaders().map { KafkaHeader(name: $0.name, value: $0.value) }
        )
    }
}
