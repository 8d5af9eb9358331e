import Kafka
import NotificationModel

extension CarriedTrace {
    private static let traceparentName: KafkaHeaderName = "traceparent"
    private static let tracestateName: KafkaHeaderName = "tracestate"

    /// The trace headers of a record, within the limits of W3C.
    init(_ message: borrowing KafkaMessage) {
        self = message.withHeaderValue(Self.traceparentName) { traceparent in
            guard let traceparent else { return .none }
            return message.withHeaderValue(Self.tracestateName) { tracestate in
                CarriedTrace(traceparent: traceparent, tracestate: tracestate)
            }
        }
    }
}
