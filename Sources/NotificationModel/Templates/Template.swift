/// Text or JSON with variables, split into pieces once when it is read: constant bytes, and variables for the values of
/// each rendering.
///
/// Rendering never parses a value as a template, so a value that contains `{{` is unchanged.
///
/// `Variable` is what a user of templates knows about a variable: its path as written, or where its value is found.
@usableFromInline
package struct Template<Variable: Hashable & Sendable>: Hashable, Sendable {
    /// A part of a template.
    @usableFromInline
    package enum Piece: Hashable, Sendable {
        /// A part of the template's constant bytes.
        case bytes(Range<Int>)
        /// The variable's plain text.
        case text(Variable)
        /// The variable's text, escaped for a JSON string.
        case escaped(Variable)
        /// The variable's own JSON value, with its type.
        case json(Variable)
    }

    @usableFromInline package private(set) var pieces: [Piece] = []
    /// All constants, one after another: iterating over the pieces then needs no reference counting.
    @usableFromInline package private(set) var bytes: [UInt8] = []

    /// A template without pieces.
    package init() {}

    /// Appends constant bytes.
    package mutating func append(bytes more: some Sequence<UInt8>) {
        let start = bytes.count
        bytes.append(contentsOf: more)
        guard bytes.count > start else { return }
        if case .bytes(let last)? = pieces.last {
            pieces[pieces.count - 1] = .bytes(last.lowerBound..<bytes.count)
        } else {
            pieces.append(.bytes(start..<bytes.count))
        }
    }

    /// Appends constant text.
    package mutating func append(_ fragment: String) {
        append(bytes: fragment.utf8)
    }

    /// Appends a variable's JSON value.
    package mutating func append(json variable: Variable) {
        pieces.append(.json(variable))
    }

    /// Appends a text template as one JSON string with quotes.
    package mutating func append(string text: Template) {
        append("\"")
        for piece in text.pieces {
            switch piece {
            case .bytes(let range):
                var escaped: [UInt8] = []
                text.bytes[range].withUnsafeBytes { JSONWriter.append(escaping: $0, to: &escaped) }
                append(bytes: escaped)
            case .text(let variable): pieces.append(.escaped(variable))
            case .escaped, .json: pieces.append(piece)
            }
        }
        append("\"")
    }

    /// Appends the pieces of another template.
    package mutating func append(_ other: Template) {
        for piece in other.pieces {
            if case .bytes(let range) = piece { append(bytes: other.bytes[range]) } else { pieces.append(piece) }
        }
    }

    /// The template as its source text, with each variable converted by the closure.
    package func text(_ variable: (Variable) -> String) -> String {
        pieces.map { piece in
            if case .bytes(let range) = piece { return String(decoding: bytes[range], as: UTF8.self) }
            return piece.variable.map(variable) ?? ""
        }.joined()
    }

    /// The bytes of a template without variables, else nil.
    package var constantBytes: [UInt8]? {
        variables.isEmpty ? bytes : nil
    }

    /// The variable, if the template is only one variable.
    package var soleVariable: Variable? {
        guard pieces.count == 1 else { return nil }
        return pieces[0].variable
    }

    /// The variables in their order, repeated as they are in the template.
    package var variables: [Variable] {
        pieces.compactMap(\.variable)
    }

    /// Its approximate size in memory, in bytes.
    package var weight: Int { bytes.count + pieces.count * 32 }

    /// The same template with other variables.
    package func map<Other>(_ transform: (Variable) -> Other) -> Template<Other> {
        var other = Template<Other>()
        other.bytes = bytes
        other.pieces = pieces.map { piece in
            switch piece {
            case .bytes(let range): .bytes(range)
            case .text(let variable): .text(transform(variable))
            case .escaped(let variable): .escaped(transform(variable))
            case .json(let variable): .json(transform(variable))
            }
        }
        return other
    }
}

extension Template.Piece {
    fileprivate var variable: Variable? {
        switch self {
        case .bytes: nil
        case .text(let variable), .escaped(let variable), .json(let variable): variable
        }
    }
}

extension Template where Variable: TemplateVariable {
    /// Reads text with `{{path}}` variables.
    ///
    /// - Throws: An unpaired `{{` or `}}`, or a variable that is invalid for this kind of template.
    package init(_ text: String) throws(TemplateError) {
        var rest = Substring(text)
        while let open = rest.firstRange(of: "{{") {
            append(bytes: rest[..<open.lowerBound].utf8)
            let inner = rest[open.upperBound...]
            guard let close = inner.firstRange(of: "}}") else {
                throw TemplateError("a `{{` without a `}}`", at: String(rest[open.lowerBound...]))
            }
            let path = try TemplatePath(inner[..<close.lowerBound].trimmingSpaces())
            pieces.append(.text(try Variable(path)))
            rest = inner[close.upperBound...]
        }
        guard rest.firstRange(of: "}}") == nil else {
            throw TemplateError("a `}}` without a `{{`", at: "}}")
        }
        append(bytes: rest.utf8)
    }
}

extension Template {
    /// Appends the result for one set of values.
    ///
    /// - Throws: `missing-variable` for a variable without a value, `invalid` for a list or an object where text is
    ///   needed.
    @inlinable
    package func render<Values: TemplateValues>(
        _ values: Values,
        into out: inout [UInt8]
    ) throws(ModelError) where Values.Variable == Variable {
        for piece in pieces {
            switch piece {
            case .bytes(let range):
                // A slice of the array would need reference counting.
                bytes.withUnsafeBytes { out.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[range])) }
            case .text(let variable): try values.appendText(of: variable, to: &out)
            case .escaped(let variable): try values.appendEscapedText(of: variable, to: &out)
            case .json(let variable): try values.appendJSON(of: variable, to: &out)
            }
        }
    }
}

extension Substring {
    fileprivate func trimmingSpaces() -> Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}
