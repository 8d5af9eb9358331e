import Kafka
import NotificationModel
import PushSimulation
import ServiceSupport

/// A record as steps of a notification's life, as the page shows them.
enum PhoneStep {
    /// The steps in their order: a `delivered` event tells first of the enrichment, and then of each device.
    ///
    /// Each has `time`, `name`, `words` and perhaps `why`, and says what it concerns: `application`, `recipient`, `identifier`.
    /// No device's token is in them.
    static func steps(of record: KafkaConsumerRecord, defaultApplication: String, now: Timestamp) -> [JSONValue] {
        let value = record.value.flatMap { try? JSONValue.parse($0) }
        let about = about(record, value, defaultApplication)
        let name = LifeStep.name(of: record)
        func step(_ name: String, _ words: String, why: [String] = [], device: String? = nil) -> JSONValue {
            .object(
                of: [
                    ("time", record.timestamp.map { .string(Timestamp(rawValue: $0).rfc3339) }),
                    ("name", .string(RecordText.safe(name))), ("words", .string(words)),
                    ("why", why.isEmpty ? nil : .array(why.map { .string(RecordText.safe($0)) })),
                    ("device", device.map(JSONValue.string)),
                ] + about
            )
        }
        let parts = LifeStep.parts(of: record).map { step($0.name, $0.words, device: $0.device) }
        let whole = step(name, LifeStep.words(record, now: now), why: LifeStep.reasons(record))
        // The enrichment came first, if there was one: it names no device.
        let early = parts.prefix { $0["device"] == nil }
        return early + [whole] + parts.dropFirst(early.count)
    }

    /// What is in the key, or else in the value.
    private static func about(
        _ record: KafkaConsumerRecord,
        _ value: JSONValue?,
        _ defaultApplication: String
    ) -> [(String, JSONValue?)] {
        let requestID = ("requestId", value?["requestId"]?.stringValue.map(JSONValue.string))
        if let key = record.key.flatMap({ try? NotificationKey(encoded: $0) }) {
            return [
                ("application", .string(key.application)), ("recipient", .string(key.recipient)),
                ("identifier", .string(key.identifier)), requestID,
            ]
        }
        let application = value?["application"]?.stringValue ?? defaultApplication
        return [
            ("application", .string(application)),
            ("recipient", record.key.map { .string(RecordText.safe(String(decoding: $0, as: UTF8.self))) }),
            ("identifier", value?["identifier"]?.stringValue.map(JSONValue.string)), requestID,
        ]
    }
}
