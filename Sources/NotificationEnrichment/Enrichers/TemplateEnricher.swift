package import NotificationModel

/// Writes text fields of the content from templates over the content, with placeholders as in rules.
///
/// `{{content.title}}` is a field of the content, `{{userInfo.order.lines.0.name}}` a value of its `userInfo`. All
/// templates see the content as it was before. A variable without a value fails the enricher, and nothing is changed.
package struct TemplateEnricher: Enricher {
    /// A field that a template can write.
    package enum Field: String, CaseIterable, Sendable {
        /// A title, subtitle or body replaces the localization of the same text.
        case title, subtitle, body
        case threadIdentifier, targetContentIdentifier, summaryArgument
    }

    package let name: String
    private let templates: [(field: Field, template: Template<BoundPath>)]
    private let paths: JSONPathSet

    /// An enricher with its templates.
    ///
    /// - Parameters:
    ///   - name: How chains name it, such as `template:greeting`.
    ///   - templates: The text of each field that it writes.
    /// - Throws: The first template that is invalid.
    package init(name: String, templates: [Field: String]) throws(TemplateSettingsError) {
        var paths = JSONPathSet()
        var bound: [(Field, Template<BoundPath>)] = []
        for field in Field.allCases {
            guard let text = templates[field] else { continue }
            do throws(TemplateError) {
                let template = try Template<ContentVariable>(text)
                bound.append((field, template.map { BoundPath(path: paths.insert($0.steps), name: $0.text) }))
            } catch {
                throw TemplateSettingsError(field: field.rawValue, error: error)
            }
        }
        (self.name, self.templates, self.paths) = (name, bound, paths)
    }

    package func enrich(_ draft: EnrichmentDraft, for input: EnrichmentInput) async -> EnricherOutcome {
        switch render(draft.current.content.json) {
        case .success(let texts):
            draft.update { snapshot in
                for (field, text) in texts { snapshot.content.set(field, text) }
            }
            return texts.isEmpty ? .skipped : .applied
        case .failure(let error):
            return .failed(EnrichmentFailure(error.reason, error.detail))
        }
    }

    private func render(_ json: [UInt8]) -> Result<[(Field, String)], ModelError> {
        withUnsafeTemporaryAllocation(of: JSONMatch.self, capacity: paths.count) { matches in
            json.withUnsafeBytes { bytes in
                do throws(ModelError) {
                    try paths.find(in: bytes, into: matches)
                    let values = ContentValues(found: FoundValues(bytes: bytes, matches: .init(matches)))
                    var texts: [(Field, String)] = []
                    for (field, template) in templates {
                        var text: [UInt8] = []
                        try template.render(values, into: &text)
                        texts.append((field, String(decoding: text, as: UTF8.self)))
                    }
                    return .success(texts)
                } catch {
                    return .failure(error)
                }
            }
        }
    }
}

/// An invalid template of an enricher.
package struct TemplateSettingsError: Error, Hashable, CustomStringConvertible {
    /// The field that it would write.
    package let field: String
    package let error: TemplateError

    package var description: String { "\(field): \(PrintableText.escaped(error.message))" }
}

/// A path into the content.
private struct ContentVariable: TemplateVariable {
    /// As written.
    let text: String
    /// From the content's object.
    let steps: [String]

    init(_ path: TemplatePath) throws(TemplateError) {
        text = path.text
        switch path.components.first {
        case "content"? where path.components.count > 1: steps = path.rest
        case "userInfo"? where path.components.count > 1: steps = path.components
        default:
            throw TemplateError(
                variable: text,
                "is not a path such as {{content.title}} or {{userInfo.name}}"
            )
        }
    }
}

/// A variable, and the number of its path.
private struct BoundPath: Hashable, Sendable {
    let path: Int
    let name: String
}

/// The values of one content.
private struct ContentValues: TemplateValues {
    let found: FoundValues

    static var owner: String { "the content" }
    func value(of variable: BoundPath) -> TemplateValue { found.value(variable.path) }
    func name(of variable: BoundPath) -> String { variable.name }
}

extension NotificationContent {
    fileprivate mutating func set(_ field: TemplateEnricher.Field, _ text: String) {
        switch field {
        case .title: (title, titleLocalization) = (text, nil)
        case .subtitle: (subtitle, subtitleLocalization) = (text, nil)
        case .body: (body, bodyLocalization) = (text, nil)
        case .threadIdentifier: threadIdentifier = text
        case .targetContentIdentifier: targetContentIdentifier = text
        case .summaryArgument: summaryArgument = text
        }
    }
}
