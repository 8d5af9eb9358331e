import NotificationModel

extension CarriedTrace: StatePart {
    private enum Field: FieldName {
        case traceparent, tracestate
    }

    var form: Int { 1 }

    /// The trace fields that were scanned. They are members of the surrounding object.
    struct Scan {
        private var (traceparent, tracestate): ([UInt8]?, [UInt8]?)

        /// Scans the surrounding object, the body consuming the values of its other fields.
        @inline(__always)
        mutating func object<Other: RawRepresentable<FieldName>>(
            of fields: Other.Type,
            in scanner: inout JSONScanner,
            _ body: (inout JSONScanner, Other) throws(ModelError) -> Void
        ) throws(ModelError) {
            try scanner.object(
                of: fields,
                { scanner, name throws(ModelError) in try read(name, &scanner) },
                body
            )
        }

        /// Reads the value of a trace field, and skips any other member.
        private mutating func read(_ name: JSONStringToken, _ scanner: inout JSONScanner) throws(ModelError) {
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

        /// The scanned trace.
        var trace: CarriedTrace { CarriedTrace(traceparent: traceparent, tracestate: tracestate) }
    }

    /// Writes its fields into the surrounding object.
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
