package import Kafka
package import NotificationModel

/// A record on `signals`: the recipient as its key, and the headers of CloudEvents 1.0 in Kafka's binary mode.
package struct SignalRecord: Sendable {
    package let key: [UInt8]
    package let value: [UInt8]
    package let headers: [KafkaHeader]
    /// The recipient's bytes, the input of the partition rule.
    package let recipient: [UInt8]

    /// - Parameters:
    ///   - signal: what the record says.
    ///   - recipient: whom it concerns.
    ///   - id: `ce_id`.
    ///   - source: `ce_source`, constant for a deployment.
    ///   - time: when the record is written.
    ///   - trace: of the caller.
    /// - Throws: `invalid` or `not-utf8` at `recipient`.
    package init(
        _ signal: Signal,
        of recipient: String,
        id: RequestID,
        source: String,
        time: Timestamp,
        trace: TraceContext? = nil
    ) throws(ModelError) {
        key = try SignalKey.bytes(recipient: recipient)
        value = signal.json
        self.recipient = Array(recipient.utf8)
        let headers = [
            KafkaHeader(name: "ce_specversion", text: "1.0"),
            KafkaHeader(name: "ce_id", text: id.description),
            KafkaHeader(name: "ce_source", text: source),
            KafkaHeader(name: SignalType.header, text: signal.type.eventType),
            KafkaHeader(name: "ce_time", text: time.rfc3339),
            KafkaHeader(name: "ce_subject", value: key),
            KafkaHeader(name: "content-type", text: "application/json"),
        ]
        self.headers = headers + (trace?.headers ?? [])
    }
}

extension TraceContext {
    /// `traceparent`, and `tracestate` if there is one.
    var headers: [KafkaHeader] {
        [KafkaHeader(name: "traceparent", text: traceparent)]
            + (tracestate.map { [KafkaHeader(name: "tracestate", text: $0)] } ?? [])
    }
}

extension KafkaHeader {
    fileprivate init(name: String, text: String) { self.init(name: name, value: Array(text.utf8)) }
}
