/// The trace headers of the record that caused an event, unchanged. Reading drops values that are not a W3C trace
/// context or exceed its limits (``TraceContext``).
public struct CarriedTrace: Hashable, Sendable {
    /// The value of the `traceparent` header; 55 to 256 bytes.
    public let traceparent: [UInt8]?
    /// The value of the `tracestate` header; 1 to 512 bytes, nil without a traceparent.
    public let tracestate: [UInt8]?

    /// No trace.
    public static let none = CarriedTrace()

    private init() {
        (traceparent, tracestate) = (nil, nil)
    }

    /// The valid part of the headers' values.
    public init(traceparent: UnsafeRawBufferPointer?, tracestate: UnsafeRawBufferPointer?) {
        guard let traceparent, TraceContext.isTraceparent(traceparent) else {
            self = .none
            return
        }
        self.traceparent = Array(traceparent)
        self.tracestate = tracestate.flatMap { TraceContext.isTracestate($0) ? Array($0) : nil }
    }

    /// The same from arrays.
    public init(traceparent: [UInt8]?, tracestate: [UInt8]? = nil) {
        guard let traceparent else {
            self = .none
            return
        }
        self = traceparent.withUnsafeBytes { parent in
            guard let tracestate else { return CarriedTrace(traceparent: parent, tracestate: nil) }
            return tracestate.withUnsafeBytes { CarriedTrace(traceparent: parent, tracestate: $0) }
        }
    }
}
