import Kafka
import NotificationModel

/// Selects the records to show.
struct RecordFilter: Hashable, Sendable {
    /// Matches the key, or a member `recipient` of the value; also a key that is only the recipient (signals, events).
    var recipient: String?
    /// Matches the key, or a member `identifier` of the value.
    var identifier: String?
    /// Types, in full or by their short names; empty for all.
    var types: Set<String> = []
    /// The earliest timestamp.
    var since: Timestamp?

    func takes(_ record: KafkaConsumerRecord) -> Bool {
        if let since, let timestamp = record.timestamp, timestamp < since.rawValue { return false }
        if !types.isEmpty {
            guard let name = RecordName(record), types.contains(name.type) || types.contains(name.short) else {
                return false
            }
        }
        guard recipient != nil || identifier != nil else { return true }
        if let key = record.key.flatMap({ try? NotificationKey(encoded: $0) }) {
            return recipient ?? key.recipient == key.recipient && identifier ?? key.identifier == key.identifier
        }
        let value = record.value.flatMap { try? JSONValue.parse($0) }
        if let recipient {
            guard record.key == Array(recipient.utf8) || value?["recipient"]?.stringValue == recipient else {
                return false
            }
        }
        return identifier == nil || value?["identifier"]?.stringValue == identifier
    }
}
