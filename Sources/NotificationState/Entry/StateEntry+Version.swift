package import NotificationModel

extension StateEntry {
    /// The version that a request set, to distinguish newer requests from older ones.
    package struct Version: Sendable, Hashable {
        /// The value in the request, 0 or more.
        package var number: Int64
        /// The request.
        package var by: RequestID

        /// A version and its request.
        package init(number: Int64, by: RequestID) {
            (self.number, self.by) = (number, by)
        }
    }
}

extension StateEntry.Version: StatePart, JSONWritable {
    private enum Field: FieldName {
        case number, by
    }

    var form: Int { 1 }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (number, by): (Int64?, RequestID?)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .number: number = try scanner.integer(in: 0...Int64.max)
            case .by: by = try scanner.requestID()
            }
        }
        self.init(number: try scanner.required(number, Field.number), by: try scanner.required(by, Field.by))
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.number, number, &out)
        object.member(Field.by, by, &out)
        object.end(&out)
    }
}
