package import NotificationModel

/// What a target shows under a key: one occurrence of one request.
package struct Showing: Sendable, Hashable {
    /// The request.
    package var requestID: RequestID
    /// The nominal instant of the trigger; nil without one.
    package var occurrence: Timestamp?
    /// How often the same was taken away from the targets, or replaced there, before it was wanted again: from 0. Without it an
    /// operation would have the id of an earlier one, which a receiver may ignore.
    package var round: Int
    /// Whether it may have been sent under the ids of a version whose ids did not contain the key.
    package var isFormer: Bool

    /// A showing of an occurrence.
    package init(_ requestID: RequestID, _ occurrence: Timestamp?, round: Int = 0, isFormer: Bool = false) {
        (self.requestID, self.occurrence, self.round, self.isFormer) = (requestID, occurrence, round, isFormer)
    }

    /// Whether both are of the same occurrence, in whatever round.
    package func isSameOccurrence(as other: Showing) -> Bool {
        requestID == other.requestID && occurrence == other.occurrence
    }

    /// The next round of the same occurrence.
    package var again: Showing { Showing(requestID, occurrence, round: round + 1) }
}

extension Showing: JSONWritable {
    private enum Field: FieldName {
        case requestId, occurrence, round, former
    }

    init(_ scanner: inout JSONScanner) throws(ModelError) {
        var id: RequestID?
        self.init(.uuid(UUIDValue(high: 0, low: 0)), nil)
        try scanner.object(of: Field.self, from: .state) { scanner, field throws(ModelError) in
            switch field {
            case .requestId: id = try scanner.requestID()
            case .occurrence: occurrence = try scanner.timestamp()
            case .round: round = Int(try scanner.integer(in: 0...Int64(Int32.max)))
            case .former: isFormer = try scanner.boolean()
            }
        }
        requestID = try scanner.required(id, Field.requestId)
    }

    package func writeJSON(to out: inout [UInt8]) {
        var object = JSONObjectWriter()
        object.member(Field.requestId, requestID, &out)
        object.member(Field.occurrence, occurrence, &out)
        if round > 0 { object.member(Field.round, Int64(round), &out) }
        if isFormer { object.member(Field.former, true, &out) }
        object.end(&out)
    }
}
