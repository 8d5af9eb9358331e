// Rules render templates for every event: the compiler specialises these functions in other modules only if the types,
// too, are usable from inlined code.

/// JSON values found in one pass; valid while the bytes are borrowed.
@usableFromInline
package struct FoundValues {
    @usableFromInline package let bytes: UnsafeRawBufferPointer
    @usableFromInline package let matches: UnsafeBufferPointer<JSONMatch>

    /// The matches of a ``JSONPathSet`` in these bytes.
    @inlinable
    package init(bytes: UnsafeRawBufferPointer, matches: UnsafeBufferPointer<JSONMatch>) {
        (self.bytes, self.matches) = (bytes, matches)
    }

    /// No values.
    @inlinable
    package static var none: FoundValues {
        FoundValues(bytes: .init(start: nil, count: 0), matches: .init(start: nil, count: 0))
    }

    /// The match of a path; missing for a number that is none.
    @inlinable
    package subscript(path: Int) -> JSONMatch {
        path < matches.count ? matches[path] : .missing
    }

    /// The value of a path.
    @inlinable
    package func value(_ path: Int) -> TemplateValue {
        let match = self[path]
        return match.kind == .missing ? .missing : .json(match, bytes)
    }
}

/// The value of a variable.
@usableFromInline
package enum TemplateValue {
    case missing
    /// Text that is not part of a JSON text.
    case text(String)
    /// A value in the borrowed bytes of a JSON text.
    case json(JSONMatch, UnsafeRawBufferPointer)
}

/// The values for the variables of templates.
@usableFromInline
package protocol TemplateValues {
    associatedtype Variable: Hashable & Sendable

    /// What has the values, for messages: `the event`.
    static var owner: String { get }
    /// The value of a variable.
    func value(of variable: Variable) -> TemplateValue
    /// The variable's name as written, for messages.
    func name(of variable: Variable) -> String
}

extension TemplateValues {
    /// Appends the plain text of a variable.
    ///
    /// - Throws: `missing-variable` for no value or null, `invalid` for a list or an object.
    @inlinable
    package func appendText(of variable: Variable, to out: inout [UInt8]) throws(ModelError) {
        switch try rendered(variable) {
        case .text(let text): out.append(contentsOf: text.utf8)
        case .json(let match, let bytes): match.withText(in: bytes) { out.append(contentsOf: $0) }
        case .missing: throw missing(variable)
        }
    }

    /// Appends the text of a variable, escaped for a JSON string.
    ///
    /// - Throws: As ``appendText(of:to:)``.
    @inlinable
    package func appendEscapedText(of variable: Variable, to out: inout [UInt8]) throws(ModelError) {
        switch try rendered(variable) {
        case .text(let text): appendEscaped(text, to: &out)
        // A JSON string is escaped already, and other scalars contain nothing to escape.
        case .json(let match, let bytes): out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[match.range]))
        case .missing: throw missing(variable)
        }
    }

    /// Appends the JSON value of a variable with its type.
    ///
    /// - Throws: `missing-variable` for no value.
    @inlinable
    package func appendJSON(of variable: Variable, to out: inout [UInt8]) throws(ModelError) {
        switch value(of: variable) {
        case .missing: throw missing(variable)
        case .text(let text): JSONWriter.append(string: text, to: &out)
        case .json(let match, let bytes): match.appendJSON(in: bytes, to: &out)
        }
    }

    /// A value with a text: not missing, null, a list or an object.
    @inlinable
    package func rendered(_ variable: Variable) throws(ModelError) -> TemplateValue {
        let value = value(of: variable)
        guard case .json(let match, _) = value else { return value }
        switch match.kind {
        case .missing, .null: throw missing(variable)
        case .array: throw noText(variable, "a list")
        case .object: throw noText(variable, "an object")
        case .true, .false, .number, .string: return value
        }
    }

    /// The error of a variable without a value.
    @usableFromInline
    package func missing(_ variable: Variable) -> ModelError {
        let name = name(of: variable)
        return ModelError(.missingVariable, field: name, "\(Self.owner) has no {{\(name)}}")
    }

    /// The error of a variable whose value has no text.
    @usableFromInline
    package func noText(_ variable: Variable, _ what: String) -> ModelError {
        let name = name(of: variable)
        return ModelError(.invalid, field: name, "{{\(name)}} is \(what), which has no text")
    }
}

/// The text of an attribute has none of JSON's escapes yet.
@usableFromInline
func appendEscaped(_ text: String, to out: inout [UInt8]) {
    var text = text
    text.withUTF8 { JSONWriter.append(escaping: UnsafeRawBufferPointer($0), to: &out) }
}
