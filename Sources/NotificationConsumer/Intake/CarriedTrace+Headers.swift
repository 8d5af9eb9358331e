import Kafka
import NotificationModel

extension CarriedTrace {
    private static let traceparentName: KafkaHeaderName = "traceparent"
    private static let tracestateName: KafkaHeaderName = "tracestate"

    /// The trace headers of a record that was read.
    init(_ message: borrowing KafkaMessage) {
        self.init(
            traceparent: message.headerValue(Self.traceparentName),
            tracestate: message.headerValue(Self.tracestateName)
        )
    }
}
