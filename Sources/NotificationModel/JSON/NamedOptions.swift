/// A set of options that is a JSON array of their names.
@usableFromInline
package protocol NamedOptions: OptionSet, JSONWritable where Element == Self, RawValue == UInt8 {
    /// All options in the order in which they are written.
    static var names: [(name: StaticString, option: Self)] { get }
    /// Names that are read and never written.
    static var aliases: [(name: StaticString, option: Self)] { get }
}

extension NamedOptions {
    @usableFromInline package static var aliases: [(name: StaticString, option: Self)] { [] }

    package static func named(_ name: FieldName) -> Self? {
        for known in names where FieldName(stringLiteral: known.name) == name { return known.option }
        for known in aliases where FieldName(stringLiteral: known.name) == name { return known.option }
        return nil
    }

    @usableFromInline package func writeJSON(to out: inout [UInt8]) {
        out.append(0x5B)
        var isFirst = true
        for known in Self.names where contains(known.option) {
            if !isFirst { out.append(0x2C) }
            isFirst = false
            out.append(0x22)
            JSONWriter.append(known.name, to: &out)
            out.append(0x22)
        }
        out.append(0x5D)
    }
}

extension JSONScanner {
    /// An array of the names of options, each once.
    mutating func options<Options: NamedOptions>(_ type: Options.Type) throws(ModelError) -> Options {
        var options: Options = []
        try array { scanner, _ throws(ModelError) in
            let text = try scanner.string()
            let option = try scanner.withBytes(text) { bytes throws(ModelError) in
                Options.named(FieldName(bytes: bytes))
            }
            guard let option else {
                throw scanner.value("must be one of \(Options.names.map { "\($0.name)" }.joined(separator: ", "))")
            }
            guard options.isDisjoint(with: option) else { throw scanner.value("appears twice") }
            options.formUnion(option)
        }
        return options
    }
}
