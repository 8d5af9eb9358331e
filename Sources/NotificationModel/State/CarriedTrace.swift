/// The trace headers of the record that caused an event, byte for byte. What is no W3C trace context, or larger than its
/// bounds (``TraceContext``), is dropped when it is read.
public struct CarriedTrace: Hashable, Sendable {
    /// As in the header of that name; 55 to 256 bytes.
    public let traceparent: [UInt8]?
    /// As in the header of that name; 1 to 512 bytes, and none without a traceparent.
    public let tracestate: [UInt8]?

    /// No trace.
    public static let none = CarriedTrace()

    private init() {
        (traceparent, tracestate) = (nil, nil)
    }

    /// The headers' values, as far as they are a trace context.
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

extension CarriedTrace: StatePart {
    private enum Field: FieldName {
        case traceparent, tracestate
    }

    var form: Int { 1 }

    /// What was read of a trace. It has no object of its own: its fields stand among those of the object that carries it.
    struct Scan {
        private var (traceparent, tracestate): ([UInt8]?, [UInt8]?)

        /// Reads the value of a member if it is the trace's, and passes over any other.
        mutating func read(_ name: JSONText, _ scanner: inout JSONScanner) throws(ModelError) {
            switch try scanner.field(name, of: Field.self) {
            case .traceparent: traceparent = try Self.bytes(&scanner)
            case .tracestate: tracestate = try Self.bytes(&scanner)
            case nil: try scanner.skipValue()
            }
        }

        private static func bytes(_ scanner: inout JSONScanner) throws(ModelError) -> [UInt8] {
            let text = try scanner.string()
            return try scanner.withBytes(text) { bytes throws(ModelError) in Array(bytes) }
        }

        /// The trace that was read.
        var trace: CarriedTrace { CarriedTrace(traceparent: traceparent, tracestate: tracestate) }
    }

    /// Writes its fields into the object that carries it.
    func write(_ object: inout JSONObjectWriter, _ out: inout [UInt8]) {
        Self.write(.traceparent, traceparent, &object, &out)
        Self.write(.tracestate, tracestate, &object, &out)
    }

    private static func write(
        _ field: Field,
        _ bytes: [UInt8]?,
        _ object: inout JSONObjectWriter,
        _ out: inout [UInt8]
    ) {
        guard let bytes else { return }
        object.begin(field, &out)
        bytes.withUnsafeBytes { JSONWriter.append(string: $0, to: &out) }
    }
}
