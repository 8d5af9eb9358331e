/// The name between `{{` and `}}`: an attribute of the event, or a path into its data.
///
/// `id`, `source`, `type`, `subject`, `time` and the names of CloudEvents extensions are attributes; `data` is the whole
/// of the event's JSON data and `data.order.lines.0.sku` a path into it, where a number picks an element of an array.
struct VariablePath: Hashable, Sendable {
    enum Root: Hashable, Sendable {
        case data
        case attribute(String)
    }

    /// As written in the rule, for messages.
    let text: String
    let root: Root
    /// The components after `data`; empty for an attribute.
    let components: [String]

    init(_ written: some StringProtocol) throws(TemplateError) {
        let text = String(written)
        guard let sigil = text.unicodeScalars.first else {
            throw TemplateError("an empty variable `{{}}`; write the name of one, such as {{data.customer}}")
        }
        guard !"#^/>!&{=<$*".unicodeScalars.contains(sigil) else {
            throw TemplateError(
                "`{{\(text)}}` is not supported: templates are text and variables; there are no sections, partials, "
                    + "comments or unescaped forms (values are always escaped for JSON and for nothing else)"
            )
        }
        let components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        for component in components {
            guard !component.isEmpty else {
                throw TemplateError("`{{\(text)}}` has an empty component")
            }
            guard !component.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 }) else {
                throw TemplateError("`{{\(text)}}` has white space inside the name")
            }
        }
        self.text = text
        if components[0] == "data" {
            root = .data
            self.components = Array(components.dropFirst())
        } else {
            // CloudEvents names are lower-case letters and digits, so anything else can never have a value.
            let isAttribute = components[0].utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
            guard components.count == 1, isAttribute else {
                throw TemplateError(
                    "`{{\(text)}}` names neither an attribute of the event (id, source, type, subject, time, an extension) "
                        + "nor a path that begins with `data`"
                )
            }
            root = .attribute(components[0])
            self.components = []
        }
    }
}

/// A template that cannot be read. The rule file adds the line.
struct TemplateError: Error, Hashable {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}
