/// A sampled span of OpenTelemetry, as the W3C trace context names it: what is caused by it continues its trace.
///
/// Twenty-four bytes without references, so that values that carry it stay cheap.
package struct SpanContext: Hashable, Sendable {
    /// The id of the trace; not zero.
    package let trace: TraceID
    /// The id of the span within its trace; not zero.
    package let span: UInt64

    /// The 16 bytes of the id of a trace.
    package struct TraceID: Hashable, Sendable {
        package let high: UInt64
        package let low: UInt64

        package init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, max(1, low)) }

        /// The id of the trace that begins with an operation.
        package init(of operation: SpanHash) {
            var other = operation
            other.add(0)
            self.init(high: operation.value, low: other.value)
        }

        /// The rightmost 56 bits, which decide whether a trace is sampled: W3C Trace Context Level 2 asks for their randomness.
        package var randomness: UInt64 { low & 0xFF_FFFF_FFFF_FFFF }

        /// 32 hexadecimal digits.
        package var hex: String { SpanContext.hex(high) + SpanContext.hex(low) }
    }

    package init(_ trace: TraceID, _ span: UInt64) { (self.trace, self.span) = (trace, max(1, span)) }

    /// Another span of the same trace.
    package func child(_ span: UInt64) -> SpanContext { SpanContext(trace, span) }

    /// 16 hexadecimal digits.
    package static func hex(_ number: UInt64) -> String {
        var bytes: [UInt8] = []
        append(number, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: number >> shift & 0xF)
            bytes.append(digit + (digit < 10 ? 0x30 : 0x57))
        }
    }

    /// `00-<trace>-<span>-01`, 55 bytes.
    package var traceparent: String { String(decoding: traceparentBytes, as: UTF8.self) }

    fileprivate var traceparentBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(55)
        bytes += [0x30, 0x30, 0x2D]
        Self.append(trace.high, to: &bytes)
        Self.append(trace.low, to: &bytes)
        bytes.append(0x2D)
        Self.append(span, to: &bytes)
        bytes += [0x2D, 0x30, 0x31]
        return bytes
    }

    /// - Parameter traceparent: valid, as ``TraceContext`` checks it.
    /// - Returns: nil when the trace is not sampled.
    fileprivate init?(valid traceparent: some Collection<UInt8>) {
        let found = traceparent.withContiguousStorageIfAvailable { Self.read($0) }
        guard let context = found ?? Array(traceparent).withUnsafeBufferPointer({ Self.read($0) }) else { return nil }
        self = context
    }

    /// Looks at the flag first: most traces are not sampled.
    private static func read(_ bytes: UnsafeBufferPointer<UInt8>) -> SpanContext? {
        func number(_ start: Int, _ count: Int) -> UInt64 {
            bytes[start..<start + count].reduce(0) { $0 << 4 | UInt64($1 < 0x3A ? $1 - 0x30 : $1 - 0x57) }
        }
        guard bytes.count >= 55, number(53, 2) & 1 == 1 else { return nil }
        return SpanContext(TraceID(high: number(3, 16), low: number(19, 16)), number(36, 16))
    }
}

extension CarriedTrace {
    /// The span that it names; nil without a trace, and when the trace is not sampled.
    package var sampled: SpanContext? { traceparent.flatMap { SpanContext(valid: $0) } }

    /// The same trace, naming another span.
    package func naming(_ span: SpanContext) -> CarriedTrace {
        CarriedTrace(traceparent: span.traceparentBytes, tracestate: tracestate)
    }
}

extension TraceContext {
    /// The span that it names; nil when the trace is not sampled.
    package var sampled: SpanContext? { SpanContext(valid: traceparent.utf8) }

    /// The trace that a span names.
    ///
    /// - Parameter former: whose tracestate stays.
    package init?(_ span: SpanContext, after former: TraceContext? = nil) {
        self.init(traceparent: span.traceparent, tracestate: former?.tracestate)
    }
}

/// Derives the id of a span from its operation: a repeat after a crash has the same id, and nothing is stored.
package struct SpanHash: Sendable {
    // FNV-1a; mixed at the end, because it hardly spreads what differs in the last bytes only.
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    /// - Parameter operation: such as `process`: two operations on the same record have different spans.
    package init(_ operation: StaticString) {
        operation.withUTF8Buffer { for byte in $0 { add(byte) } }
    }

    /// The hash of what was added; not zero.
    package var value: UInt64 {
        max(1, SplitMix64.mixed(state))
    }

    private mutating func add(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { add(byte) }
        // A separator that no UTF-8 contains.
        add(UInt8(0xFF))
    }

    package mutating func add(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { add(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    package mutating func add(_ instant: Timestamp?) { add(UInt64(bitPattern: instant?.rawValue ?? .min)) }

    package mutating func add(_ id: RequestID) {
        switch id {
        case .uuid(let value): add(value)
        case .text(let text): add(text.utf8)
        }
    }

    package mutating func add(_ id: UUIDValue) {
        var bytes: [UInt8] = []
        id.write(to: &bytes)
        add(bytes)
    }
}

extension SpanHash {
    /// The id of the span that publishes an event.
    package static func sending(_ event: UUIDValue) -> UInt64 {
        var hash = SpanHash("send")
        hash.add(event)
        return hash.value
    }
}

// MARK: - Waiting

extension SpanContext {
    /// The id of the span that takes in a record: it begins with the quarter of an hour in which the record was written, so that
    /// the length of a wait needs no other memory. They tell waits of up to 14 years.
    package static func intake(_ hash: SpanHash, writtenAt time: Timestamp) -> UInt64 {
        quarter(of: time) << 44 | hash.value >> 20
    }

    /// Whether more than an hour, rounded to quarters, passes from the intake that this names until an instant. Of a span that
    /// is no intake the answer is arbitrary.
    package func isLongBefore(_ instant: Timestamp) -> Bool {
        (5...0x7_FFFF).contains((Self.quarter(of: instant) &- span >> 44) & 0xF_FFFF)
    }

    private static func quarter(of time: Timestamp) -> UInt64 {
        UInt64(bitPattern: time.rawValue / 900_000) & 0xF_FFFF
    }

    /// The span of a trigger that fires, after the request whose intake this names: of the same trace or, after a long wait, the
    /// first one of another trace, because tools look for the spans of a trace close together.
    package func firing(_ request: RequestID, _ occurrence: Timestamp?, due: Timestamp) -> SpanContext {
        var hash = SpanHash("fire")
        hash.add(request)
        hash.add(occurrence)
        guard isLongBefore(due) else { return child(hash.value) }
        hash.add(trace.high)
        hash.add(trace.low)
        return SpanContext(TraceID(of: hash), hash.value)
    }
}
