/// A category as a delivered notification keeps it, so that a later set does not change what may answer it.
///
///     {"identifier":"ORDER","dismiss":true,"response":"keep","actions":["track"],"textActions":["reply"]}
///
/// Members at their default (no dismissal, `forward`, no actions) are left out.
public final class KeptCategory: Sendable {
    /// The kinds of actions.
    public enum Action: Sendable, Hashable {
        /// A button.
        case plain
        /// A button with a field for text.
        case textInput
    }

    /// The category's identifier.
    public let identifier: String
    /// Whether an explicit dismissal is a response (`customDismissAction`).
    public let hasDismissAction: Bool
    /// What becomes of a response.
    public let response: ResponsePolicy
    /// The identifiers of the plain actions.
    public let actions: [String]
    /// The identifiers of the actions with a field for text.
    public let textActions: [String]
    /// The JSON, written once: entries are written often.
    public let json: [UInt8]

    private enum Field: FieldName {
        case identifier, dismiss, response, actions, textActions
    }

    /// A category with the given fields; `actions` are the plain ones.
    public init(
        identifier: String,
        hasDismissAction: Bool = false,
        response: ResponsePolicy = .forward,
        actions: [String] = [],
        textActions: [String] = []
    ) {
        (self.identifier, self.hasDismissAction, self.response) = (identifier, hasDismissAction, response)
        (self.actions, self.textActions) = (actions, textActions)
        var (out, object) = ([UInt8](), JSONObjectWriter())
        object.member(Field.identifier, identifier, &out)
        object.member(Field.dismiss, hasDismissAction ? true : nil, &out)
        object.member(Field.response, response == .forward ? nil : response.rawValue, &out)
        object.member(Field.actions, actions.isEmpty ? nil : actions, &out)
        object.member(Field.textActions, textActions.isEmpty ? nil : textActions, &out)
        object.end(&out)
        json = out
    }

    /// Reads an object inside an entry; passes over unknown fields.
    package convenience init(_ scanner: inout JSONScanner) throws(ModelError) {
        var identifier: String?
        var (hasDismissAction, response) = (false, ResponsePolicy.forward)
        var (actions, textActions): ([String], [String]) = ([], [])
        try scanner.object(of: Field.self, from: .record) { scanner, field throws(ModelError) in
            switch field {
            case .identifier: identifier = try scanner.shortText(atLeast: 1)
            case .dismiss: hasDismissAction = try scanner.boolean()
            case .response: response = try scanner.choice(ResponsePolicy.self)
            case .actions: actions = try scanner.actionIdentifiers(limit: ModelLimits.actions)
            case .textActions: textActions = try scanner.actionIdentifiers(limit: ModelLimits.actions)
            }
        }
        self.init(
            identifier: try scanner.required(identifier, Field.identifier),
            hasDismissAction: hasDismissAction,
            response: response,
            actions: actions,
            textActions: textActions
        )
    }

    /// The action with this identifier; nil when the category has none, and for the system's `default` and `dismiss`.
    public func action(_ identifier: String) -> Action? {
        // Strings that look the same may differ in bytes.
        if actions.contains(where: { $0.utf8.elementsEqual(identifier.utf8) }) { return .plain }
        if textActions.contains(where: { $0.utf8.elementsEqual(identifier.utf8) }) { return .textInput }
        return nil
    }
}

extension KeptCategory: Hashable {
    /// Whether all fields are equal.
    public static func == (one: KeptCategory, other: KeptCategory) -> Bool {
        one === other || one.json == other.json
    }

    /// Hashes the identifier.
    public func hash(into hasher: inout Hasher) { hasher.combine(identifier) }
}

extension JSONScanner {
    /// An array of so many identifiers of actions at most.
    mutating func actionIdentifiers(limit: Int) throws(ModelError) -> [String] {
        var identifiers: [String] = []
        try array { scanner, index throws(ModelError) in
            guard index < limit else { throw scanner.value("at most \(limit) actions are allowed") }
            identifiers.append(try scanner.actionIdentifier())
        }
        return identifiers
    }
}
