import Kafka
import NotificationModel
import NotificationState

/// The kind of a record: its CloudEvents type, and the short name of Carillon's own types.
struct RecordName: Hashable {
    /// `carillon.notification.delivered.v1`
    var type: String
    /// `delivered`, `device.registered`; for events of other systems the type.
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
        let prefixes = [
            ("carillon.notification.", ""), ("carillon.signal.", ""), ("carillon.device.", "device."),
            ("carillon.channel.", "channel."),
        ]
        for (prefix, own) in prefixes where type.hasPrefix(prefix) {
            short = own + type.dropFirst(prefix.count)
            if short.hasSuffix(".v1") { short.removeLast(3) }
        }
    }

    private static func stateName(_ record: KafkaConsumerRecord) -> String? {
        guard let value = record.value else { return "tombstone" }
        if record.key == StateMarker.key { return "marker" }
        return (try? StateEntry.head(of: value)).map { _ in "entry" }
    }

    // MARK: - Known names

    private static let ofDeliveries =
        DeliveryEventName.allCases.map(\.rawValue) + DeviceEvent.Name.allCases.map { "device.\($0.rawValue)" }
        + ChannelEvent.Name.allCases.map { "channel.\($0.rawValue)" }
    private static let ofSignals = SignalType.allCases.map(\.rawValue)
    private static let ofRequests = ["request", "removal", "tombstone"]
    private static let ofState = ["entry", "marker", "tombstone"]

    /// For completions.
    static let known = ofDeliveries + ofRequests + ofSignals + ["entry", "marker"]

    /// The short names of the types in a topic; nil if any type is possible.
    static func known(ofTopic topic: String) -> [String]? {
        let name = TopicNames().all.first { $0.topic == topic }?.name ?? topic
        return switch name {
        case "deliveries": ofDeliveries
        case "signals": ofSignals
        case "requests": ofRequests
        case "state": ofState
        default: nil
        }
    }
}
