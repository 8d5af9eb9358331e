/// A W3C trace context as it travels from the business event to the delivery event: carried, never changed.
public struct TraceContext: Sendable, Hashable {
    /// `00-<32 hex>-<16 hex>-<2 hex>`.
    public let traceparent: String
    /// Vendor data that belongs to it; at most 512 characters of printable ASCII.
    public let tracestate: String?

    /// Takes header values as they came.
    ///
    /// - Parameters:
    ///   - traceparent: Nil or anything that is not a traceparent gives no trace context, as the standard asks.
    ///   - tracestate: Left out when it is too long or not printable ASCII.
    public init?(traceparent: String?, tracestate: String? = nil) {
        guard let traceparent, Self.isTraceparent(traceparent) else { return nil }
        self.traceparent = traceparent
        self.tracestate = tracestate.flatMap { Self.isTracestate($0) ? $0 : nil }
    }

    private static func isTraceparent(_ text: String) -> Bool {
        let fields = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard fields.count >= 4, text.utf8.count <= 256, fields.allSatisfy({ $0.allSatisfy(isLowerHex) }) else {
            return false
        }
        guard fields[0].count == 2, fields[1].count == 32, fields[2].count == 16, fields[3].count == 2 else {
            return false
        }
        if fields[0].elementsEqual("00".utf8) && fields.count != 4 { return false }
        return !fields[0].elementsEqual("ff".utf8) && !fields[1].allSatisfy(isZero) && !fields[2].allSatisfy(isZero)
    }

    private static func isTracestate(_ text: String) -> Bool {
        (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isLowerHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isZero(_ byte: UInt8) -> Bool {
        byte == 0x30
    }
}

extension TraceContext {
    /// Adds it to an event as extensions, unless the event brought its own.
    func apply(to event: inout BusinessEvent) {
        guard event.extensions["traceparent"] == nil else { return }
        event.extensions["traceparent"] = traceparent
        event.extensions["tracestate"] = tracestate
    }
}
