/// A W3C trace context, passed unchanged from the business event to the delivery event.
public struct TraceContext: Sendable, Hashable {
    /// `00-<32 hex>-<16 hex>-<2 hex>`.
    public let traceparent: String
    /// Vendor data for it; at most 512 characters of printable ASCII.
    public let tracestate: String?

    /// Reads the header values.
    ///
    /// - Parameters:
    ///   - traceparent: Nil or an invalid value gives no trace context, as the standard requires.
    ///   - tracestate: Ignored when it is too long or not printable ASCII.
    public init?(traceparent: String?, tracestate: String? = nil) {
        guard let traceparent, Self.isTraceparent(traceparent) else { return nil }
        self.traceparent = traceparent
        self.tracestate = tracestate.flatMap { Self.isTracestate($0) ? $0 : nil }
    }

    private static func isTraceparent(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isTraceparent(UnsafeRawBufferPointer($0)) }
    }

    private static func isTracestate(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isTracestate(UnsafeRawBufferPointer($0)) }
    }

    /// Whether the bytes are a valid traceparent of at most 256 bytes.
    static func isTraceparent(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard (55...256).contains(bytes.count), bytes[2] == 0x2D, bytes[35] == 0x2D, bytes[52] == 0x2D else {
            return false
        }
        guard isLowerHex(bytes[0]), isLowerHex(bytes[1]), isLowerHex(bytes[53]), isLowerHex(bytes[54]),
            let first = bytes.hexadecimal(at: 3), let second = bytes.hexadecimal(at: 11),
            let third = bytes.hexadecimal(at: 19), let fourth = bytes.hexadecimal(at: 27),
            let upper = bytes.hexadecimal(at: 36), let lower = bytes.hexadecimal(at: 44)
        else { return false }
        // A later version may append fields.
        guard bytes.count == 55 || bytes[55] == 0x2D, bytes[55...].allSatisfy({ isLowerHex($0) || $0 == 0x2D }) else {
            return false
        }
        if bytes[0] == 0x30, bytes[1] == 0x30, bytes.count != 55 { return false }
        if bytes[0] == 0x66, bytes[1] == 0x66 { return false }
        return first | second | third | fourth != 0 && upper | lower != 0
    }

    /// Whether the bytes are 1 to 512 characters of printable ASCII.
    static func isTracestate(_ bytes: UnsafeRawBufferPointer) -> Bool {
        (1...512).contains(bytes.count) && bytes.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || byte &- 0x61 < 6 }
}

extension TraceContext {
    /// Adds the trace context to an event as extensions, unless the event has its own.
    func apply(to event: inout BusinessEvent) {
        guard event.extensions["traceparent"] == nil else { return }
        event.extensions["traceparent"] = traceparent
        event.extensions["tracestate"] = tracestate
    }
}
