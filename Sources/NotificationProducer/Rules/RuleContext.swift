import NotificationModel

/// What the variables of a rule can name: one event, its data parsed once.
struct RuleContext {
    let event: BusinessEvent
    /// Nil when the event has no data or data that is not JSON.
    let data: JSONValue?

    enum Value {
        case missing
        case text(String)
        case json(JSONValue)
    }

    func value(of path: VariablePath) -> Value {
        switch path.root {
        case .data:
            guard let value = data?.value(at: path.components) else { return .missing }
            if case .string(let text) = value { return .text(text) }
            return .json(value)
        case .attribute(let name):
            return attribute(name).map { .text($0) } ?? .missing
        }
    }

    private func attribute(_ name: String) -> String? {
        switch name {
        case "id": event.id
        case "source": event.source
        case "type": event.type
        case "subject": event.subject
        case "time": event.time?.rfc3339
        default: event.extensions[name]
        }
    }

    /// Whether `when` lets the rule apply. It does not when the text is empty, `false`, `null` or zero, when the only variable is
    /// missing, null, false, zero, or an empty string, list or object, and when any variable in a longer text is missing.
    func isTrue(_ condition: Template) -> Bool {
        if let path = condition.soleVariable {
            switch value(of: path) {
            case .missing, .json(.null), .json(.bool(false)): return false
            case .json(.array(let elements)): return !elements.isEmpty
            case .json(.object(let members)): return !members.isEmpty
            case .json(.number(let text)): return Double(text) != 0
            case .json: return true
            case .text(let text): return Self.isTrue(text)
            }
        }
        var text: [UInt8] = []
        guard (try? condition.render(self, into: &text)) != nil else { return false }
        return Self.isTrue(String(decoding: text, as: UTF8.self))
    }

    private static func isTrue(_ text: String) -> Bool {
        switch text {
        case "", "false", "null": false
        default: Double(text) != 0
        }
    }

    // MARK: Rendering

    /// The text of a variable as it is.
    func appendText(of path: VariablePath, to out: inout [UInt8]) throws(ModelError) {
        try withText(of: path) { out.append(contentsOf: $0) }
    }

    /// The text of a variable as it stands between the quotes of a JSON string.
    func appendEscapedText(of path: VariablePath, to out: inout [UInt8]) throws(ModelError) {
        try withText(of: path) { JSONText.appendEscaped($0, to: &out) }
    }

    /// The JSON of a variable with its type.
    func appendJSON(of path: VariablePath, to out: inout [UInt8]) throws(ModelError) {
        switch value(of: path) {
        case .missing: throw Self.missing(path)
        case .text(let text): JSONWriter.append(string: text, to: &out)
        case .json(let value): value.write(to: &out)
        }
    }

    private func withText(of path: VariablePath, _ body: (UnsafeRawBufferPointer) -> Void) throws(ModelError) {
        var text: String
        switch value(of: path) {
        case .missing, .json(.null):
            throw Self.missing(path)
        case .text(let string), .json(.number(let string)), .json(.string(let string)):
            text = string
        case .json(.bool(let flag)):
            text = flag ? "true" : "false"
        case .json(.array):
            throw ModelError(.invalid, field: path.text, "{{\(path.text)}} is a list, which has no text")
        case .json(.object):
            throw ModelError(.invalid, field: path.text, "{{\(path.text)}} is an object, which has no text")
        }
        text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
    }

    private static func missing(_ path: VariablePath) -> ModelError {
        ModelError(.missingVariable, field: path.text, "the event has no {{\(path.text)}}")
    }
}
