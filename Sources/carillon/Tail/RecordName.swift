import Kafka
import NotificationModel

/// What a record is: its CloudEvents type, and the short name that Carillon's own types have.
struct RecordName: Hashable {
    /// `carillon.notification.delivered.v1`
    var type: String
    /// `delivered`; of another system's event the type.
    var short: String

    /// Nil for a record that says no type.
    init?(_ record: KafkaConsumerRecord) {
        if let type = record.header("ce_type") {
            self.init(type: type)
        } else if record.header("content-type")?.lowercased().hasPrefix("application/cloudevents") == true,
            let type = record.value.flatMap({ try? JSONValue.parse($0) })?["type"]?.stringValue
        {
            self.init(type: type)
        } else {
            return nil
        }
    }

    init(type: String) {
        self.type = type
        short = type
        for prefix in ["carillon.notification.", "carillon.signal."] where type.hasPrefix(prefix) {
            short = String(type.dropFirst(prefix.count))
            if short.hasSuffix(".v1") { short.removeLast(3) }
        }
    }

    /// For completions.
    static let known = DeliveryEventName.allCases.map(\.rawValue) + ["request", "removal"]
}
