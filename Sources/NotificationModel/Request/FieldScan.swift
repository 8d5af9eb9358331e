/// The fields of one object that were scanned.
struct SeenFields {
    private var bits: UInt64 = 0

    /// Records a field; throws if it repeats.
    @inline(__always)
    mutating func insert(_ field: some RawRepresentable<UInt8>) throws(ModelError) {
        let bit: UInt64 = 1 &<< UInt64(field.rawValue)
        guard bits & bit == 0 else { throw ModelError(.invalid, field: "", "appears twice") }
        bits |= bit
    }

    @inline(__always)
    func contains(_ field: some RawRepresentable<UInt8>) -> Bool {
        bits & (1 &<< UInt64(field.rawValue)) != 0
    }
}

extension Optional {
    /// Sets the value of a field; throws if the field repeats.
    mutating func setOnce(_ value: Wrapped) throws(ModelError) {
        guard self == nil else { throw ModelError(.invalid, field: "", "appears twice") }
        self = value
    }
}

/// Where a part of a request is read.
package enum ScanOrigin {
    /// In a request: everything is checked.
    case request
    /// In the changelog: it was checked before. A newer version may have added fields, and the database of time zones may
    /// have lost the zone since.
    case state
}

extension JSONScanner {
    func unknownField() -> ModelError {
        ModelError(.unknownField, field: "", "is not a field of this object")
    }

    /// Passes over an unknown field in the changelog, and refuses it in a request.
    mutating func skipUnknownField(_ origin: ScanOrigin) throws(ModelError) {
        guard origin == .state else { throw unknownField() }
        try skipValue()
    }

    package func missing(_ field: String) -> ModelError {
        ModelError(.invalid, field: field, "is missing")
    }

    /// A string of a bounded number of bytes.
    mutating func string(bytes range: ClosedRange<Int>) throws(ModelError) -> JSONStringToken {
        let text = try string()
        let count = text.isEscaped ? unescaped(text).count : text.count
        guard range.contains(count) else {
            throw value(
                count < range.lowerBound
                    ? "must not be empty" : "has \(count) bytes, at most \(range.upperBound) are allowed"
            )
        }
        return text
    }

    /// One of the raw values of an enumeration.
    package mutating func choice<Value: RawRepresentable<String> & CaseIterable>(
        _ type: Value.Type
    ) throws(ModelError) -> Value {
        let text = try string()
        let name = materialise(text)
        // Compare the lengths too: Swift's strings are equal if they are equivalent in Unicode.
        if let found = Value(rawValue: name), found.rawValue.utf8.count == name.utf8.count { return found }
        throw value("must be one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    package mutating func timestamp() throws(ModelError) -> Timestamp {
        let text = try string()
        let found = try withBytes(text) { bytes throws(ModelError) in Timestamp(rfc3339: bytes) }
        guard let found else {
            throw value("must be an RFC 3339 date and time such as 2026-11-21T09:00:00.000Z")
        }
        return found
    }

    package mutating func requestID() throws(ModelError) -> RequestID {
        let text = try string()
        return try withBytes(text) { bytes throws(ModelError) in try RequestID(bytes: bytes) }
    }

    /// An object, as a slice of the scanned bytes.
    package mutating func object(of source: [UInt8]) throws(ModelError) -> ArraySlice<UInt8> {
        guard peek() == 0x7B else { throw unexpected("an object") }
        let start = position
        try skipValue()
        return source[start..<position]
    }
}
