/// Who wrote the JSON that is read.
public enum JSONOrigin {
    /// A record on Kafka: a newer version may have added fields, which are passed over.
    case record
    /// The body of a call: a misspelled field is refused.
    case body
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

    /// Skips the value of an unknown member of a record; refuses that of a body.
    public mutating func passOver(_ origin: JSONOrigin) throws(ModelError) {
        guard origin == .record else { throw unknownField() }
        try skipValue()
    }

    /// Sets what a member gives; throws if the member repeats.
    public func once<Value>(_ slot: inout Value?, _ value: Value) throws(ModelError) {
        guard slot == nil else { throw self.value("appears twice") }
        slot = value
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
}
