package import Kafka
package import NotificationModel

/// A record on `signals` that says where a device is: the recipient as its key, and the headers of CloudEvents 1.0 in Kafka's
/// binary mode.
package struct LocationRecord: Sendable {
    package let key: [UInt8]
    package let value: [UInt8]
    package let headers: [KafkaHeader]
    /// The recipient's bytes, the input of the partition rule.
    package let recipient: [UInt8]

    /// - Parameters:
    ///   - fix: where the device is.
    ///   - recipient: whose device it is.
    ///   - id: `ce_id`.
    ///   - source: `ce_source`, constant for a deployment.
    ///   - time: when the record is written.
    /// - Throws: `invalid` or `not-utf8` at `recipient`.
    package init(
        _ fix: LocationFix,
        of recipient: String,
        id: RequestID,
        source: String,
        time: Timestamp,
        trace: TraceContext? = nil
    ) throws(ModelError) {
        key = try SignalKey.bytes(recipient: recipient)
        value = fix.json
        self.recipient = Array(recipient.utf8)
        var headers = [
            KafkaHeader(name: "ce_specversion", text: "1.0"),
            KafkaHeader(name: "ce_id", text: id.description),
            KafkaHeader(name: "ce_source", text: source),
            KafkaHeader(name: SignalType.header, text: SignalType.location.eventType),
            KafkaHeader(name: "ce_time", text: time.rfc3339),
            KafkaHeader(name: "ce_subject", value: key),
            KafkaHeader(name: "content-type", text: "application/json"),
        ]
        if let trace {
            headers.append(KafkaHeader(name: "traceparent", text: trace.traceparent))
            if let tracestate = trace.tracestate { headers.append(KafkaHeader(name: "tracestate", text: tracestate)) }
        }
        self.headers = headers
    }
}

extension KafkaHeader {
    fileprivate init(name: String, text: String) { self.init(name: name, value: Array(text.utf8)) }
}
