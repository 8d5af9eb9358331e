/// The name between `{{` and `}}`: components separated by dots, where a number selects an element of an array.
package struct TemplatePath: Hashable, Sendable {
    /// As written, for messages.
    package let text: String
    /// At least one; none is empty or contains white space.
    package let components: [String]

    /// Reads a name.
    ///
    /// - Throws: An empty name, an empty component, white space inside, too many components, or a sigil of other
    ///   template languages (sections, partials, comments).
    package init(_ written: some StringProtocol) throws(TemplateError) {
        let text = String(written)
        guard let sigil = text.unicodeScalars.first else {
            throw TemplateError("an empty variable `{{}}`; write a name, such as {{data.customer}}")
        }
        guard !"#^/>!&{=<$*".unicodeScalars.contains(sigil) else {
            throw TemplateError(
                "`{{\(TemplateError.excerpt(text))}}` is not supported: templates contain text and variables only, "
                    + "no sections, partials, comments or unescaped variables (values are always escaped for JSON and "
                    + "for nothing else)",
                at: "{{" + text
            )
        }
        let components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard components.count <= ModelLimits.depth + 1 else {
            throw TemplateError(variable: text, "has more than \(ModelLimits.depth + 1) components")
        }
        for component in components {
            guard !component.isEmpty else { throw TemplateError(variable: text, "has an empty component") }
            guard !component.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 0x20 }) else {
                throw TemplateError(variable: text, "has white space inside the name")
            }
        }
        (self.text, self.components) = (text, components)
    }

    /// The components after the first.
    package var rest: [String] { Array(components.dropFirst()) }
}

/// A variable that can be read from a template's text.
package protocol TemplateVariable: Hashable, Sendable {
    /// Reads a variable from its name.
    ///
    /// - Throws: A name that this kind of template does not have.
    init(_ path: TemplatePath) throws(TemplateError)
}

/// An invalid template or expression. Whoever reads the text adds where it is.
package struct TemplateError: Error, Hashable, CustomStringConvertible {
    /// What is wrong and how to write it.
    package let message: String
    /// The offending piece of the text, to locate it.
    package let snippet: String?
    /// Its offset in characters, if known.
    package let offset: Int?

    /// An error about a piece of the text, or about a place in it.
    package init(_ message: String, at snippet: String? = nil, offset: Int? = nil) {
        (self.message, self.snippet, self.offset) = (message, snippet, offset)
    }

    /// An error about a variable, which the message then names first.
    package init(variable text: String, _ message: String) {
        self.init("`{{\(Self.excerpt(text))}}` \(message)", at: text)
    }

    package var description: String { message }

    /// The quoted part of a possibly long name.
    package static func excerpt(_ text: String) -> String {
        text.count <= 60 ? text : "\(text.prefix(60))…"
    }
}
