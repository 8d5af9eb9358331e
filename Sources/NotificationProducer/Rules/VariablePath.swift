import NotificationModel

/// The name between `{{` and `}}`: an attribute of the event, a path into its data, or one into the current recipient.
///
/// `id`, `source`, `type`, `subject`, `time` and the names of CloudEvents extensions are attributes. `data` is the
/// event's complete JSON data, and `data.order.lines.0.sku` a path into it, where a number selects an element of an
/// array. `item` is the element of the list of `recipients`, and `item.id` a path into it.
struct VariablePath: Hashable, Sendable {
    enum Root: Hashable, Sendable {
        case data
        case item
        case attribute(String)
    }

    /// As written in the rule, for messages.
    let text: String
    let root: Root
    /// The components after `data` or `item`; empty for an attribute.
    let components: [String]

    /// The attributes that every event can have; an expression can use them without braces.
    static let attributes: Set<String> = ["id", "source", "type", "subject", "time"]

    init(_ written: some StringProtocol) throws(TemplateError) {
        let text = String(written)
        guard let sigil = text.unicodeScalars.first else {
            throw TemplateError("an empty variable `{{}}`; write a name, such as {{data.customer}}")
        }
        guard !"#^/>!&{=<$*".unicodeScalars.contains(sigil) else {
            throw TemplateError(
                "`{{\(Self.excerpt(text))}}` is not supported: templates contain text and variables only, no sections, "
                    + "partials, comments or unescaped variables (values are always escaped for JSON and for nothing else)",
                at: "{{" + text
            )
        }
        let components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard components.count <= ModelLimits.depth + 1 else {
            throw Self.error(text, "has more than \(ModelLimits.depth + 1) components")
        }
        for component in components {
            guard !component.isEmpty else {
                throw Self.error(text, "has an empty component")
            }
            guard !component.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 }) else {
                throw Self.error(text, "has white space inside the name")
            }
        }
        self.text = text
        if components[0] == "data" || components[0] == "item" {
            root = components[0] == "data" ? .data : .item
            self.components = Array(components.dropFirst())
        } else {
            // CloudEvents attribute names are lower-case letters and digits, so no other name can have a value.
            let isAttribute = components[0].utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
            guard components.count == 1, isAttribute else {
                throw Self.error(
                    text,
                    "is neither an attribute of the event (id, source, type, subject, time, an extension) nor a path that "
                        + "begins with `data` or `item`"
                )
            }
            root = .attribute(components[0])
            self.components = []
        }
    }

    private static func error(_ text: String, _ message: String) -> TemplateError {
        TemplateError("`{{\(excerpt(text))}}` \(message)", at: text)
    }

    /// The quoted part of a possibly long name.
    private static func excerpt(_ text: String) -> String {
        text.count <= 60 ? text : "\(text.prefix(60))…"
    }
}

/// An invalid template or expression. The rule file adds the line.
struct TemplateError: Error, Hashable {
    let message: String
    /// The offending piece of the text, to locate it.
    let snippet: String?
    /// Its offset in characters, if known.
    let offset: Int?

    init(_ message: String, at snippet: String? = nil, offset: Int? = nil) {
        self.message = message
        self.snippet = snippet
        self.offset = offset
    }
}
