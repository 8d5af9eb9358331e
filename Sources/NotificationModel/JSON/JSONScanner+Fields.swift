/// The fields of one object that were read.
///
/// The fields are an enumeration of at most 64 cases without associated values, whose memory is the number of the case.
public struct SeenFields<Field: RawRepresentable<FieldName>> {
    @usableFromInline
    var bits: UInt64 = 0

    @inlinable @inline(__always)
    init() {}

    /// - Returns: false if the field was there before.
    @inlinable @inline(__always)
    mutating func insert(_ field: Field) -> Bool {
        let former = bits
        bits |= Self.bit(of: field)
        return bits != former
    }

    /// Whether a field was read.
    @inlinable @inline(__always)
    public func contains(_ field: Field) -> Bool { bits & Self.bit(of: field) != 0 }

    /// Whether none was read.
    public var isEmpty: Bool { bits == 0 }

    /// Throws `invalid` with the first field that was not read.
    func require(_ fields: Field...) throws(ModelError) {
        for field in fields where !contains(field) {
            throw ModelError(.invalid, field: field.rawValue.text, "is missing")
        }
    }

    @inlinable @inline(__always)
    static func bit(of field: Field) -> UInt64 {
        // An enumeration of one case has no memory.
        withUnsafeBytes(of: field) { 1 &<< UInt64($0.first ?? 0) }
    }
}

extension JSONScanner {
    /// Scans an object of known fields, each at most once; the body consumes their values.
    ///
    /// - Parameters:
    ///   - fields: the names, of 64 at most.
    ///   - origin: whether unknown members are passed over.
    ///   - body: consumes the value of a field, with the scanner at it.
    /// - Returns: the fields that were there.
    /// - Throws: `ModelError` where a field appears twice, or of the bodies.
    @inlinable @inline(__always) @discardableResult
    public mutating func object<Field: RawRepresentable<FieldName>>(
        of fields: Field.Type,
        from origin: JSONOrigin,
        _ body: (inout JSONScanner, Field) throws(ModelError) -> Void
    ) throws(ModelError) -> SeenFields<Field> {
        try object(of: fields, { scanner, _ throws(ModelError) in try scanner.passOver(origin) }, body)
    }

    /// The same, where another body consumes the values of unknown members.
    @inlinable @inline(__always) @discardableResult
    public mutating func object<Field: RawRepresentable<FieldName>>(
        of fields: Field.Type,
        _ unknown: (inout JSONScanner, JSONStringToken) throws(ModelError) -> Void,
        _ body: (inout JSONScanner, Field) throws(ModelError) -> Void
    ) throws(ModelError) -> SeenFields<Field> {
        var seen = SeenFields<Field>()
        try object { scanner, name throws(ModelError) in
            guard let field = try scanner.field(name, of: fields) else { return try unknown(&scanner, name) }
            guard seen.insert(field) else { throw scanner.value("appears twice") }
            try body(&scanner, field)
        }
        return seen
    }
}
