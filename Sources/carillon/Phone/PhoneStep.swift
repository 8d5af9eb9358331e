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
        var steps: [JSONValue] = []
        if name == "delivered", let words = enriched(value) { steps.append(step("enriched", words)) }
        steps.append(step(name, LifeStep.words(record, now: now), why: LifeStep.reasons(record)))
        guard name == "delivered" else { return steps }
        for device in value?["devices"]?.arrayValue ?? [] {
            guard let outcome = device["outcome"]?.stringValue, let name = device["device"]?.stringValue else {
                continue
            }
            let parts = (device["presentation"]?.arrayValue ?? []).compactMap(\.stringValue)
            let words = ([device["reason"]?.stringValue].compactMap(\.self) + parts).joined(separator: " ")
            steps.append(step(outcome, RecordText.safe("\(name) \(words)"), device: name))
        }
        return steps
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

    /// `in 412 ms: photo attached, map timed-out`
    private static func enriched(_ value: JSONValue?) -> String? {
        guard let enrichment = value?["enrichment"], enrichment.objectValue != nil else { return nil }
        let time = enrichment["milliseconds"]?.integerValue.map { "in \($0) ms" } ?? "done"
        let attachments = (enrichment["attachments"]?.arrayValue ?? []).map { attachment in
            let outcome = attachment["reason"]?.stringValue ?? attachment["outcome"]?.stringValue ?? "?"
            return "\(attachment["identifier"]?.stringValue ?? "?") \(outcome)"
        }
        return RecordText.safe(attachments.isEmpty ? time : "\(time): \(attachments.joined(separator: ", "))")
    }
}
