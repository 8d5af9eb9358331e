import NotificationModel
import ServiceSupport
import Yams

/// Single values of a rule, keys, and the reporting of problems.
extension RuleCompiler {
    // MARK: Problems

    mutating func note(_ mark: Mark?, _ message: String) {
        problems.append(.init(line: mark?.line ?? 0, column: mark?.column ?? 0, message: message))
    }

    /// Records a mistake inside a text, with its exact position if possible.
    private mutating func note(_ error: TemplateError, in node: Node, at path: String) {
        var place: (line: Int, column: Int)?
        var message = error.message
        // Finding the position is expensive; skip it for problems that will not be reported.
        if problems.count < RuleFile.maximumProblems, case .scalar(let scalar) = node {
            if let offset = error.offset {
                place = source.place(ofCharacter: offset, in: scalar)
                if place == nil, offset > 0 { message += " (character \(offset + 1))" }
            } else if let snippet = error.snippet, let mark = node.mark {
                place = source.place(of: snippet, from: mark)
            }
        }
        problems.append(
            .init(
                line: place?.line ?? node.mark?.line ?? 0,
                column: place?.column ?? node.mark?.column ?? 0,
                message: "`\(path)`: \(message)"
            )
        )
    }

    mutating func noteUnknown(_ key: String, _ node: Node, at place: String, _ known: [String]) {
        let hint =
            Spelling.nearest(to: key, among: known.sorted()).map { "did you mean `\($0)`?" }
            ?? "allowed: \(Self.list(known))"
        note(node.mark, "\(place) has an unknown key `\(key.prefix(60))`; \(hint)")
    }

    mutating func refuse(_ node: Node, _ path: String, _ wanted: String) -> Text? {
        note(node.mark, "`\(path)` must be \(wanted)\(Self.hint(node))")
        return nil
    }

    /// `title: {{data.x}}` without quotes is a YAML mapping: the most likely mistake gets its own hint.
    private static func hint(_ node: Node) -> String {
        guard case .mapping(let mapping) = node, let first = mapping.first, case .mapping = first.key else { return "" }
        return "; put text with variables in quotes: \"{{…}}\""
    }

    static func list(_ names: some Sequence<String>) -> String {
        names.sorted().joined(separator: ", ")
    }

    // MARK: Mappings

    mutating func pairs(of node: Node, at place: String) -> [(key: String, keyNode: Node, value: Node)]? {
        guard case .mapping(let mapping) = node else {
            note(node.mark, "\(place) must be a mapping")
            return nil
        }
        var seen: Set<String> = []
        var result: [(String, Node, Node)] = []
        for (keyNode, value) in mapping {
            guard case .scalar(let scalar) = keyNode else {
                note(keyNode.mark, "\(place) has a key that is not text\(Self.hint(node))")
                return nil
            }
            guard seen.insert(scalar.string).inserted else {
                note(keyNode.mark, "\(place) has `\(scalar.string)` twice")
                return nil
            }
            result.append((scalar.string, keyNode, value))
        }
        return result
    }

    mutating func members(of node: Node, at place: String, allowed: Set<String>) -> [String: Node]? {
        guard let pairs = pairs(of: node, at: place) else { return nil }
        var fields: [String: Node] = [:]
        for (key, keyNode, value) in pairs {
            if allowed.contains(key) {
                fields[key] = value
            } else {
                noteUnknown(key, keyNode, at: place, Array(allowed))
            }
        }
        return fields
    }

    mutating func required(_ key: String, in fields: [String: Node], of node: Node, _ whole: String = "the rule")
        -> Node?
    {
        if let value = fields[key] { return value }
        note(node.mark, "\(whole) is missing `\(key)`")
        return nil
    }

    // MARK: Texts

    mutating func template(_ node: Node, at path: String) -> Text? {
        guard case .scalar(let scalar) = node else {
            note(node.mark, "`\(path)` must be text\(Self.hint(node))")
            return nil
        }
        // Unquoted times are texts that YAML 1.1 recognizes.
        guard [Tag.Name.str, .timestamp].contains(node.tagName) else {
            note(
                node.mark,
                "`\(path)` must be text; put `\(scalar.string.prefix(60))` in quotes to make it text"
            )
            return nil
        }
        do {
            let text = try Text(scalar.string)
            try checkItems(text.variables)
            return text
        } catch {
            note(error, in: node, at: path)
            return nil
        }
    }

    private func checkItems(_ variables: [VariablePath]) throws(TemplateError) {
        guard !allowsItem, let item = variables.first(where: { $0.root == .item }) else { return }
        throw TemplateError(
            "`{{\(item.text)}}` is available only in rules with `recipients`, and not in their `when` and `from`",
            at: item.text
        )
    }

    mutating func constantText(_ node: Node, _ key: String) -> String? {
        guard let text = template(node, at: key) else { return nil }
        guard text.constantBytes != nil, let string = node.string, !string.isEmpty else {
            note(node.mark, "`\(key)` must be a text without variables, and not empty")
            return nil
        }
        return string
    }

    /// An expression; `true` or `false` enables or disables a rule.
    mutating func condition(_ node: Node) -> Condition<VariablePath>? {
        if node.tagName == .bool, let flag = node.bool { return .constant(flag) }
        guard case .scalar(let scalar) = node else {
            note(node.mark, "`when` must be an expression\(Self.hint(node))")
            return nil
        }
        do {
            let condition = try ExpressionParser.parse(scalar.string)
            try checkItems(condition.variables)
            return condition
        } catch {
            note(error, in: node, at: "when")
            return nil
        }
    }

    mutating func localeTag(_ node: Node, _ key: String) -> String? {
        guard let tag = constantText(node, key) else { return nil }
        guard LocaleTable.isTag(tag) else {
            note(node.mark, "`\(key)`: `\(tag.prefix(60))` is not a locale; write a tag such as en, pt-BR or zh-Hans")
            return nil
        }
        return tag
    }

    // MARK: Other values

    mutating func scope(_ node: Node?) -> RemovalScope? {
        guard let node else { return .all }
        if case .scalar(let scalar) = node, let scope = RemovalScope(rawValue: scalar.string) { return scope }
        note(node.mark, "`state` must be pending, delivered or all")
        return nil
    }

    mutating func recipientLimit(_ node: Node) -> Int? {
        if node.tagName == .int, let limit = node.int, (1...FanOut.maximumLimit).contains(limit) { return limit }
        note(node.mark, "`recipients.limit` must be an integer from 1 to \(FanOut.maximumLimit)")
        return nil
    }

    /// A template for an integer, or an integer.
    mutating func compileVersion(_ node: Node) -> Text? {
        var text: Text?
        if node.tagName == .int, let integer = node.int {
            text = try? Text(String(integer))
        } else {
            text = template(node, at: "version")
        }
        guard let text else { return nil }
        if let constant = text.constantBytes, !isVersion(constant) {
            note(node.mark, "`version` must be an integer from 0, or text with variables that gives one")
            return nil
        }
        return text
    }

    private func isVersion(_ bytes: [UInt8]) -> Bool {
        Int64(String(decoding: bytes, as: UTF8.self)).map { String($0).utf8.elementsEqual(bytes) && $0 >= 0 } ?? false
    }

    enum Expiration {
        case absolute(Text)
        case after(WrittenRule.ExpirationAfter)
        /// Explicitly removes a default.
        case never
    }

    /// A time, `{after: 3600}` seconds from the event's time, or null.
    mutating func compileExpiration(_ node: Node) -> Expiration? {
        if node.isNull { return .never }
        guard case .mapping = node else {
            guard let text = template(node, at: "expiration") else { return nil }
            var json = Text()
            json.append(string: text)
            checkMember(json, "expiration")
            return .absolute(text)
        }
        guard let fields = members(of: node, at: "`expiration`", allowed: ["after"]),
            let after = required("after", in: fields, of: node, "`expiration`")
        else { return nil }
        guard case .scalar(let scalar) = after, let json = compileScalar(scalar, as: .number, at: "expiration.after")
        else {
            if case .scalar = after { return nil }
            _ = refuse(after, "expiration.after", ExpirationBounds.text)
            return nil
        }
        if let variable = json.soleVariable { return .after(.variable(variable)) }
        let seconds = (json.constantBytes ?? []).withUnsafeBytes { NumberValue($0).double }
        guard let milliseconds = ExpirationBounds.milliseconds(seconds) else {
            _ = refuse(after, "expiration.after", ExpirationBounds.text)
            return nil
        }
        return .after(.milliseconds(milliseconds))
    }

    /// Seconds; nil also when null removes a default.
    mutating func compileCollapseWindow(_ node: Node) -> Text? {
        if node.isNull { return nil }
        guard case .scalar(let scalar) = node else { return refuse(node, "collapseWindow", "a number of seconds") }
        let json = compileScalar(scalar, as: .number, at: "collapseWindow")
        if let json { checkMember(json, "collapseWindow") }
        return json
    }

    /// nil also when null removes a default.
    mutating func compileChannel(_ node: Node) -> ChannelName? {
        if node.isNull { return nil }
        if case .scalar(let scalar) = node, let channel = ChannelName(rawValue: scalar.string) { return channel }
        let names = ChannelName.allCases.map(\.rawValue).joined(separator: ", ")
        note(node.mark, "`channel` must be one of \(names), without variables")
        return nil
    }

    // MARK: Checks without an event

    mutating func checkConstant(_ template: Text?, at path: String) {
        guard let constant = template?.constantBytes else { return }
        let text = String(decoding: constant, as: UTF8.self)
        do throws(ModelError) {
            guard !text.isEmpty else { throw ModelError(.invalid, field: path, "must not be empty") }
            _ = try NotificationKey(application: "a", recipient: text, identifier: "i")
        } catch {
            note(marks[path], "`\(path)`: \(error.detail)")
        }
    }
}

extension Node {
    /// The node's YAML type: an explicit tag, else from its text.
    var tagName: Tag.Name { Tag.Name(rawValue: tag.description) }

    /// `key:`, `key: ~` or `key: null`.
    var isNull: Bool {
        guard case .scalar = self else { return false }
        return tagName == .null
    }
}
