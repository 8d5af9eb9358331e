import NotificationModel

/// Text with `{{path}}` variables, cut into segments once when the rules are read.
///
/// Rendering never reads what a variable holds as a template again, so a value with `{{` in it stays as it is.
struct Template: Hashable, Sendable {
    enum Segment: Hashable, Sendable {
        case literal([UInt8])
        case variable(VariablePath)
    }

    let segments: [Segment]

    init(_ text: String) throws(TemplateError) {
        var segments: [Segment] = []
        var rest = Substring(text)
        while let open = rest.firstRange(of: "{{") {
            if open.lowerBound > rest.startIndex {
                segments.append(.literal(Array(rest[..<open.lowerBound].utf8)))
            }
            let inner = rest[open.upperBound...]
            guard let close = inner.firstRange(of: "}}") else {
                throw TemplateError("a `{{` without its `}}`")
            }
            segments.append(.variable(try VariablePath(inner[..<close.lowerBound].trimmingSpaces())))
            rest = inner[close.upperBound...]
        }
        if rest.firstRange(of: "}}") != nil {
            throw TemplateError("a `}}` without its `{{`")
        }
        if !rest.isEmpty {
            segments.append(.literal(Array(rest.utf8)))
        }
        self.segments = segments
    }

    /// No variables: the same text for every event.
    var isConstant: Bool {
        !segments.contains { if case .variable = $0 { true } else { false } }
    }

    /// The variable, when the template is one variable and nothing else.
    var soleVariable: VariablePath? {
        guard segments.count == 1, case .variable(let path) = segments[0] else { return nil }
        return path
    }

    /// The text of a template without variables.
    var constantBytes: [UInt8] {
        segments.flatMap { segment -> [UInt8] in
            if case .literal(let bytes) = segment { bytes } else { [] }
        }
    }

    var variables: [VariablePath] {
        segments.compactMap { if case .variable(let path) = $0 { path } else { nil } }
    }

    /// Appends the text as it is.
    func render(_ context: borrowing RuleContext, into out: inout [UInt8]) throws(ModelError) {
        for segment in segments {
            switch segment {
            case .literal(let bytes): out += bytes
            case .variable(let path): try context.appendText(of: path, to: &out)
            }
        }
    }

    /// Appends the text as one JSON string, quotes included.
    func renderJSONString(_ context: borrowing RuleContext, into out: inout [UInt8]) throws(ModelError) {
        out.append(UInt8(ascii: "\""))
        for segment in segments {
            switch segment {
            case .literal(let bytes): bytes.withUnsafeBytes { JSONText.appendEscaped($0, to: &out) }
            case .variable(let path): try context.appendEscapedText(of: path, to: &out)
            }
        }
        out.append(UInt8(ascii: "\""))
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
