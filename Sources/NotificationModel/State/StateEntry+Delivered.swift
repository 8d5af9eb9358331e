extension StateEntry {
    /// A notification that the recipient's devices show.
    public struct Delivered: Sendable, Hashable {
        /// The request.
        public var requestID: RequestID
        /// The nominal instant of the trigger.
        public var occurrence: Timestamp?
        /// When the channel accepted it.
        public var at: Timestamp

        /// A delivered notification.
        public init(requestID: RequestID, occurrence: Timestamp? = nil, at: Timestamp) {
            (self.requestID, self.occurrence, self.at) = (requestID, occurrence, at)
        }
    }
}

extension StateEntry.Delivered: StatePart, JSONWritable {
    private enum Field: FieldName {
        case requestId, occurrence, at
    }

    var form: Int { 1 }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (id, occurrence, at): (RequestID?, Timestamp?, Timestamp?)
        try scanner.object { scanner, name throws(ModelError) in
            switch try scanner.field(name, of: Field.self) {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .at: at = try scanner.timestamp()
            case nil: try scanner.skipValue()
            }
        }
        self.init(
            requestID: try scanner.required(id, Field.requestId),
            occurrence: occurrence,
            at: try scanner.required(at, Field.at)
        )
    }

    func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.occurrence, occurrence, &out)
        object.member(Field.at, at, &out)
        object.end(&out)
    }
}
