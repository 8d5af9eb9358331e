extension JSONScanner {
    /// Scans an object of known fields, each at most once, the body consuming their values.
    @inlinable
    public mutating func object<Field: RawRepresentable<FieldName> & Hashable>(
        of fields: Field.Type,
        from origin: JSONOrigin,
        _ body: (inout JSONScanner, Field) throws(ModelError) -> Void
    ) throws(ModelError) {
        var seen: Set<Field> = []
        try object { scanner, name throws(ModelError) in
            guard let field = try scanner.field(name, of: fields) else { return try scanner.passOver(origin) }
            guard seen.insert(field).inserted else { throw scanner.value("appears twice") }
            try body(&scanner, field)
        }
    }

    /// A text of at most ``ModelLimits/shortTextBytes``.
    public mutating func shortText(atLeast minimum: Int = 0) throws(ModelError) -> String {
        materialise(try string(bytes: minimum...ModelLimits.shortTextBytes))
    }
}
