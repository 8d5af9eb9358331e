/// The headers of W3C Trace Context that travel beside an event.
///
/// As the recommendation asks, a header that is malformed is passed over: a broken trace is no reason to lose an event.
struct TraceContext {
    private var traceparent: String?
    private var tracestate: String?

    /// Takes a header if it is one of the two and well-formed.
    mutating func read(_ name: String, _ value: [UInt8]) {
        switch name {
        case "traceparent" where Self.isParent(value): traceparent = String(decoding: value, as: UTF8.self)
        case "tracestate" where Self.isState(value): tracestate = String(decoding: value, as: UTF8.self)
        default: break
        }
    }

    /// Adds both as extensions, unless the event brought its own.
    func apply(to event: inout BusinessEvent) {
        guard event.extensions["traceparent"] == nil, let traceparent else { return }
        event.extensions["traceparent"] = traceparent
        event.extensions["tracestate"] = tracestate
    }

    /// `00-<32 hex>-<16 hex>-<2 hex>`, lower case.
    private static func isParent(_ value: [UInt8]) -> Bool {
        guard value.count == 55 else { return false }
        return value.indices.allSatisfy { index in
            if index == 2 || index == 35 || index == 52 { return value[index] == 0x2D }
            return (0x30...0x39).contains(value[index]) || (0x61...0x66).contains(value[index])
        }
    }

    private static func isState(_ value: [UInt8]) -> Bool {
        (1...512).contains(value.count) && value.allSatisfy { (0x20...0x7E).contains($0) }
    }
}
