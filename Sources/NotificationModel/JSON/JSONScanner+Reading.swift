/// Who wrote the JSON that is read.
public enum JSONOrigin: Sendable {
    /// A record on Kafka: a newer version may have added fields, which are passed over.
    case record
    /// The body of a call, or a request: a misspelled field is refused.
    case body
    /// Carillon, after it has checked it: a newer version may have added fields, and the database of time zones may have
    /// lost a zone since.
    case state
}

extension JSONScanner {
    /// Reads a whole text. Throws `too-large` above the limit, which is in bytes.
    public static func read<Value>(
        _ json: [UInt8],
        atMost limit: Int,
        _ body: (inout JSONScanner) throws(ModelError) -> Value
    ) throws(ModelError) -> Value {
        guard json.count <= limit else {
            throw ModelError(.tooLarge, "has \(json.count) bytes, at most \(limit) are allowed")
        }
        return try json.borrowed { bytes throws(ModelError) in
            var scanner = JSONScanner(bytes)
            return try scanner.whole { scanner throws(ModelError) in try body(&scanner) }
        }
    }

    /// Skips the value of an unknown member; refuses that of a body.
    public mutating func passOver(_ origin: JSONOrigin) throws(ModelError) {
        guard origin != .body else { throw unknownField() }
        try skipValue()
    }

    /// A string of a bounded number of bytes without control characters.
    public mutating func printable(bytes range: ClosedRange<Int>) throws(ModelError) -> String {
        materialise(try printableText(bytes: range))
    }

    /// The same, not decoded yet.
    public mutating func printableText(bytes range: ClosedRange<Int>) throws(ModelError) -> JSONStringToken {
        let text = try string(bytes: range)
        let control = try withBytes(text) { bytes throws(ModelError) in
            PercentEncoding.firstControlCharacter(in: bytes)
        }
        if let control { throw value("byte \(control) is a control character: remove it") }
        return text
    }

    /// An application, a device or an identifier: not empty and without control characters, as in a key.
    public mutating func keyComponent() throws(ModelError) -> String {
        try printable(bytes: 1...ModelLimits.keyComponentBytes)
    }

    func unknownField() -> ModelError {
        ModelError(.unknownField, field: "", "is not a field of this object")
    }

    @usableFromInline
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
    @inlinable
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

    /// A text of at most ``ModelLimits/shortTextBytes``.
    public mutating func shortText(atLeast minimum: Int = 0) throws(ModelError) -> String {
        materialise(try string(bytes: minimum...ModelLimits.shortTextBytes))
    }
}
