package import NotificationModel

extension RecipientRecord {
    /// An applied removal of all of a recipient's notifications.
    package struct KnownRemoval: Sendable, Hashable {
        /// Its id.
        package var id: RequestID
        /// Its offset in `requests`: the same id at the same offset is the same record, at any other a repeat. -1 when
        /// it belongs to an earlier life of the topic.
        package var offset: Int64
        /// When it was applied.
        package var closed: Timestamp

        /// An applied removal.
        package init(id: RequestID, offset: Int64, closed: Timestamp) {
            (self.id, self.offset, self.closed) = (id, offset, closed)
        }
    }
}

extension RecipientRecord.KnownRemoval: StatePart, JSONWritable {
    private enum Field: FieldName {
        case id, offset, closed
    }

    var form: Int { 1 }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var (id, offset, closed): (RequestID?, Int64?, Timestamp?)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .id: id = try scanner.requestID()
            case .offset: offset = try scanner.integer(in: -1...Int64.max)
            case .closed: closed = try scanner.timestamp()
            }
        }
        self.init(
            id: try scanner.required(id, Field.id),
            offset: try scanner.required(offset, Field.offset),
            closed: try scanner.required(closed, Field.closed)
        )
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.id, id, &out)
        object.member(Field.offset, offset, &out)
        object.member(Field.closed, closed, &out)
        object.end(&out)
    }
}
