import NotificationModel

/// A variable of a rule, and the location of its value in events of the rule's type.
struct BoundVariable: Hashable, Sendable {
    enum Place: Hashable, Sendable {
        case id, source, type, subject, time
        /// An extension attribute with the variable's name.
        case other
        /// The index of a path into the event's data.
        case data(Int)
        /// The index of a path into the current recipient.
        case item(Int)
    }

    let place: Place
    /// The index of its name in ``EventPlan/names``.
    let name: Int
}

/// JSON values found in one pass; valid while the bytes are borrowed.
struct FoundValues {
    let bytes: UnsafeRawBufferPointer
    let matches: UnsafeBufferPointer<JSONMatch>

    static var none: FoundValues {
        FoundValues(bytes: .init(start: nil, count: 0), matches: .init(start: nil, count: 0))
    }

    subscript(path: Int) -> JSONMatch {
        path < matches.count ? matches[path] : .missing
    }
}

/// The values for a rule's variables: one event, the values found in its data, and the current recipient.
///
/// It borrows the event's bytes and must not outlive them.
struct RuleContext {
    let event: BusinessEvent
    /// When the event arrived, used if the event has no time.
    var arrived = Timestamp(rawValue: 0)
    let names: [String]
    /// Empty when the event has no data or data that is not JSON.
    let data: FoundValues
    var item = FoundValues.none

    enum Value {
        case missing
        /// An attribute.
        case text(String)
        case json(JSONMatch, UnsafeRawBufferPointer)
    }

    func value(of variable: BoundVariable) -> Value {
        let text: String?
        switch variable.place {
        case .data(let path): return Self.value(data[path], data.bytes)
        case .item(let path): return Self.value(item[path], item.bytes)
        case .id: text = event.id
        case .source: text = event.source
        case .type: text = event.type
        case .subject: text = event.subject
        case .time: text = event.time?.rfc3339
        case .other: text = event.extensions[names[variable.name]]
        }
        return text.map { .text($0) } ?? .missing
    }

    @inline(__always)
    private static func value(_ match: JSONMatch, _ bytes: UnsafeRawBufferPointer) -> Value {
        match.kind == .missing ? .missing : .json(match, bytes)
    }

    // MARK: Rendering

    /// The plain text of a variable.
    func appendText(of variable: BoundVariable, to out: inout [UInt8]) throws(ModelError) {
        switch try rendered(variable) {
        case .text(let text): out.append(contentsOf: text.utf8)
        case .json(let match, let bytes): match.withText(in: bytes) { out.append(contentsOf: $0) }
        case .missing: throw missing(variable)
        }
    }

    /// The text of a variable, escaped for a JSON string.
    func appendEscapedText(of variable: BoundVariable, to out: inout [UInt8]) throws(ModelError) {
        switch try rendered(variable) {
        case .text(var text): text.withUTF8 { JSONWriter.append(escaping: UnsafeRawBufferPointer($0), to: &out) }
        // A JSON string is escaped already, and other scalars contain nothing to escape.
        case .json(let match, let bytes): out.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[match.range]))
        case .missing: throw missing(variable)
        }
    }

    /// The JSON value of a variable with its type.
    func appendJSON(of variable: BoundVariable, to out: inout [UInt8]) throws(ModelError) {
        switch value(of: variable) {
        case .missing: throw missing(variable)
        case .text(let text): JSONWriter.append(string: text, to: &out)
        case .json(let match, let bytes): match.appendJSON(in: bytes, to: &out)
        }
    }

    /// A value with a text: not missing, null, a list or an object.
    @inline(__always)
    private func rendered(_ variable: BoundVariable) throws(ModelError) -> Value {
        let value = value(of: variable)
        guard case .json(let match, _) = value else { return value }
        switch match.kind {
        case .missing, .null: throw missing(variable)
        case .array: throw noText(variable, "a list")
        case .object: throw noText(variable, "an object")
        case .true, .false, .number, .string: return value
        }
    }

    func name(of variable: BoundVariable) -> String {
        names[variable.name]
    }

    func missing(_ variable: BoundVariable) -> ModelError {
        let name = name(of: variable)
        return ModelError(.missingVariable, field: name, "the event has no {{\(name)}}")
    }

    private func noText(_ variable: BoundVariable, _ what: String) -> ModelError {
        let name = name(of: variable)
        return ModelError(.invalid, field: name, "{{\(name)}} is \(what), which has no text")
    }
}
