import Kafka
import NotificationModel

/// The kind of a record: its CloudEvents type, and the short name of Carillon's own types.
struct RecordName: Hashable {
    /// `carillon.notification.delivered.v1`
    var type: String
    /// `delivered`; for events of other systems the type.
    var short: String

    /// Nil for a record without a type. Records of `state` have no headers; their kind follows from key and value.
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

    // MARK: - Known names

    private static let ofRequests = ["request", "removal", "tombstone"]
    private static let ofState = ["entry", "marker", "tombstone"]

    /// For completions.
    static let known = DeliveryEventName.allCases.map(\.rawValue) + ofRequests + ["entry", "marker"]

    /// The short names of the types in a topic; nil if any type is possible.
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
