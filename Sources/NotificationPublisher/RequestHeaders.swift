package import Kafka
package import NotificationModel

/// The headers of every record on `requests`: CloudEvents 1.0 in Kafka's binary mode, and the trace context of the
/// cause.
package struct RequestHeaders: Sendable {
    /// `ce_source`, constant for a deployment.
    private let source: [UInt8]

    package init(source: String) {
        self.source = Array(source.utf8)
    }

    // Encoded once, because each name allocates an array.
    private static let specVersionName: KafkaHeaderName = "ce_specversion"
    private static let idName: KafkaHeaderName = "ce_id"
    private static let sourceName: KafkaHeaderName = "ce_source"
    private static let typeName: KafkaHeaderName = "ce_type"
    private static let timeName: KafkaHeaderName = "ce_time"
    private static let subjectName: KafkaHeaderName = "ce_subject"
    private static let contentTypeName: KafkaHeaderName = "content-type"
    private static let traceparentName: KafkaHeaderName = "traceparent"
    private static let tracestateName: KafkaHeaderName = "tracestate"

    private static let specVersion = Array("1.0".utf8)
    private static let requestType = Array("carillon.notification.request.v1".utf8)
    private static let removalType = Array("carillon.notification.removal.v1".utf8)
    private static let contentType = Array("application/json".utf8)

    /// The maximum record size for a request with these headers, as ``RecordBound`` counts it.
    package func largestRecord(key: NotificationKey, valueBytes: Int, trace: TraceContext?) -> Int {
        let traceBytes = trace.map { 32 + $0.traceparent.utf8.count + ($0.tracestate?.utf8.count ?? 0) } ?? 0
        let keyBytes = key.encoded.count
        // Names, and values of nearly constant length.
        let headerBytes = 192 + ModelLimits.requestIDBytes + source.count + keyBytes + traceBytes
        return RecordBound.size(key: keyBytes, value: valueBytes, headers: 9, headerBytes: headerBytes)
    }

    /// Writes the headers into a reused buffer.
    package func write(
        key: NotificationKey,
        requestID: RequestID,
        isRemoval: Bool,
        time: Timestamp,
        trace: TraceContext?,
        into buffer: inout KafkaHeaderBuffer
    ) {
        buffer.removeAll()
        buffer.append(Self.specVersionName, Self.specVersion)
        buffer.append(Self.idName, writing: { requestID.write(to: &$0) })
        buffer.append(Self.sourceName, source)
        buffer.append(Self.typeName, isRemoval ? Self.removalType : Self.requestType)
        buffer.append(Self.timeName, writing: { time.write(to: &$0) })
        buffer.append(Self.subjectName, key.encoded)
        buffer.append(Self.contentTypeName, Self.contentType)
        guard let trace else { return }
        buffer.append(Self.traceparentName, writing: { $0.append(contentsOf: trace.traceparent.utf8) })
        if let tracestate = trace.tracestate {
            buffer.append(Self.tracestateName, writing: { $0.append(contentsOf: tracestate.utf8) })
        }
    }

    /// The same for a single record.
    package func list(
        key: NotificationKey,
        requestID: RequestID,
        isRemoval: Bool,
        time: Timestamp,
        trace: TraceContext?
    ) -> [KafkaHeader] {
        var buffer = KafkaHeaderBuffer()
        write(key: key, requestID: requestID, isRemoval: isRemoval, time: time, trace: trace, into: &buffer)
        return buffer.headers
    }
}
