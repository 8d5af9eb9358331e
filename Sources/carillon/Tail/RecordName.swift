import Kafka
import NotificationModel

/// What a record is: its CloudEvents type, and the short name that Carillon's own types have.
struct RecordName: Hashable {
    /// `carillon.notification.delivered.v1`
    var type: String
    /// `delivered`; of another system's event the type.
    var short: String

    /// Nil for a record that says no type. Those of `state` have no headers; they are known by key and value.
    init?(_ record: KafkaConsumerRecord) {
        if let type = record.header("ce_type") {
            self.init(type: type)
        } else if record.header("content-type")?.lowercased().hasPrefix("application/cloudevents") == true,
            let type = record.value.flatMap({ try? JSONValue.parse($0) })?["type"]?.stringValue
        {
            self.init(type: type)
        } else if record.headers.isEmpty, let name = Self.stateName(record) {
            self.init(type: name)
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

    private static func stateName(_ record: KafkaConsumerRecord) -> String? {
        guard let value = record.value else { return "tombstone" }
        if record.key == StateMarker.key { return "marker" }
        return (try? StateEntry.head(of: value)).map { _ in "entry" }
    }

    // MARK: - Names that there are

    private static let ofRequests = ["request", "removal", "tombstone"]
    private static let ofState = ["entry", "marker", "tombstone"]

    /// For completions.
    static let known = DeliveryEventName.allCases.map(\.rawValue) + ofRequests + ["entry", "marker"]

    /// The short names of the types that a topic's records have; nil when any type can be there.
    static func known(ofTopic topic: String) -> [String]? {
        let name = TopicNames().all.first { $0.topic == topic }?.name ?? topic
        return switch name {
        case "deliveries": DeliveryEventName.allCases.map(\.rawValue)
        case "requests": ofRequests
        case "state": ofState
        default: nil
        }
    }
}
