import NotificationModel

/// The name between `{{` and `}}`: an attribute of the event, a path into its data, or one into the current recipient.
///
/// `id`, `source`, `type`, `subject`, `time` and the names of CloudEvents extensions are attributes. `data` is the
/// event's complete JSON data, and `data.order.lines.0.sku` a path into it, where a number selects an element of an
/// array. `item` is the element of the list of `recipients`, and `item.id` a path into it.
struct VariablePath: TemplateVariable {
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

    init(_ path: TemplatePath) throws(TemplateError) {
        text = path.text
        switch path.components[0] {
        case "data": (root, components) = (.data, path.rest)
        case "item": (root, components) = (.item, path.rest)
        case let name:
            // CloudEvents attribute names are lower-case letters and digits, so no other name can have a value.
            let isAttribute = name.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
            guard path.components.count == 1, isAttribute else {
                throw TemplateError(
                    variable: text,
                    "is neither an attribute of the event (id, source, type, subject, time, an extension) nor a path "
                        + "that begins with `data` or `item`"
                )
            }
            (root, components) = (.attribute(name), [])
        }
    }

    init(_ written: String) throws(TemplateError) {
        try self.init(TemplatePath(written))
    }
}
