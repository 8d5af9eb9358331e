import NotificationModel
import Yams

/// Scalars, keys and the checks that need no event.
extension RuleCompiler {
    mutating func note(_ mark: Mark?, _ message: String) {
        problems.append(.init(line: mark?.line ?? 0, column: mark?.column ?? 0, message: message))
    }

    mutating func refuse(_ node: Node, _ path: String, _ wanted: String) -> JSONTemplate? {
        note(node.mark, "`\(path)` must be \(wanted)\(Self.hint(node))")
        return nil
    }

    /// `title: {{data.x}}` without quotes is a mapping to YAML: the most likely mistake deserves its own words.
    static func hint(_ node: Node) -> String {
        guard case .mapping(let mapping) = node, let first = mapping.first, case .mapping = first.key else { return "" }
        return "; text with variables is written in quotes: \"{{…}}\""
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
                note(keyNode.mark, "\(place) has no `\(key)`; it may have \(Self.list(allowed))")
            }
        }
        return fields
    }

    mutating func required(_ key: String, in fields: [String: Node], of node: Node) -> Node? {
        if let value = fields[key] { return value }
        note(node.mark, "the rule has no `\(key)`")
        return nil
    }

    // MARK: Scalars

    mutating func template(_ node: Node, at path: String) -> Template? {
        guard case .scalar(let scalar) = node else {
            note(node.mark, "`\(path)` must be text\(Self.hint(node))")
            return nil
        }
        // Plain times are texts that YAML 1.1 happens to recognise.
        guard [Tag.Name.str, .timestamp].contains(node.tagName) else {
            note(node.mark, "`\(path)` must be text; put `\(scalar.string)` in quotes if that is what is meant")
            return nil
        }
        do {
            return try Template(scalar.string)
        } catch {
            note(node.mark, "`\(path)`: \(error.message)")
            return nil
        }
    }

    mutating func constantText(_ node: Node, _ key: String) -> String? {
        guard let text = template(node, at: key) else { return nil }
        guard text.isConstant, let string = node.string, !string.isEmpty else {
            note(node.mark, "`\(key)` must be a text without variables, and not empty")
            return nil
        }
        return string
    }

    /// A condition may also be `true` or `false`, to switch a rule on and off.
    mutating func condition(_ node: Node) -> Template? {
        if node.tagName == .bool, let flag = node.bool {
            return try? Template(flag ? "true" : "false")
        }
        return template(node, at: "when")
    }

    mutating func scope(_ node: Node?) -> RemovalScope? {
        guard let node else { return .all }
        if case .scalar(let scalar) = node, let scope = RemovalScope(rawValue: scalar.string) { return scope }
        note(node.mark, "`state` must be pending, delivered or all")
        return nil
    }

    /// One `{{path}}` where an object or a list is wanted: the variable's own JSON.
    func wholeVariable(_ node: Node, at path: String) -> JSONTemplate? {
        guard case .scalar(let scalar) = node, node.tagName == .str,
            let path = (try? Template(scalar.string))?.soleVariable
        else { return nil }
        var json = JSONTemplate()
        json.append(value: path)
        return json
    }

    mutating func compileScalar(_ scalar: Node.Scalar, as shape: RuleShape, at path: String) -> JSONTemplate? {
        let node = Node.scalar(scalar)
        var json = JSONTemplate()
        switch (node.tagName, shape) {
        case (.int, .number), (.float, .number), (.int, .any), (.float, .any):
            guard let number = Self.jsonNumber(node, scalar.string) else {
                note(node.mark, "`\(path)`: `\(scalar.string)` is not a number JSON can carry")
                return nil
            }
            json.append(json: number)
        case (.bool, .boolean), (.bool, .any):
            json.append(json: node.bool == true ? "true" : "false")
        case (.null, .any):
            json.append(json: "null")
        case (.str, _), (.timestamp, .any):
            guard let text = template(node, at: path) else { return nil }
            if let variable = text.soleVariable {
                json.append(value: variable)
            } else if case .any = shape {
                json.append(text: text)
            } else {
                note(node.mark, "`\(path)` must be a \(shape.name), or one variable alone")
                return nil
            }
        default:
            note(node.mark, "`\(path)` must be a \(shape.name), or one variable alone")
            return nil
        }
        return json
    }

    /// YAML also writes numbers as `0x1F`, `1_000` and `.inf`.
    static func jsonNumber(_ node: Node, _ text: String) -> String? {
        if JSONText.isNumber(text) { return text }
        if let integer = node.int { return String(integer) }
        if let float = node.float, float.isFinite { return "\(float)" }
        return nil
    }

    // MARK: What can be known without an event

    mutating func checkConstant(_ template: Template?, at path: String) {
        guard let template, template.isConstant else { return }
        let text = String(decoding: template.constantBytes, as: UTF8.self)
        do throws(ModelError) {
            guard !text.isEmpty else { throw ModelError(.invalid, field: path, "must not be empty") }
            _ = try NotificationKey(application: "a", recipient: text, identifier: "i")
        } catch {
            note(marks[path], "`\(path)`: \(error.detail)")
        }
    }

    private static let anyKey = Result { () throws(ModelError) in
        try NotificationKey(application: "a", recipient: "r", identifier: "i")
    }

    mutating func checkWithModel(_ body: [UInt8], fallback: String) {
        do {
            try SupportedTriggers.check(try RequestBody.scan(body, key: Self.anyKey.get()).trigger)
        } catch {
            let field = error.field ?? fallback
            note(nearestMark(field) ?? marks[fallback], "`\(field)`: \(error.detail)")
        }
    }

    private func nearestMark(_ path: String) -> Mark? {
        var path = Substring(path)
        while !path.isEmpty {
            if let mark = marks[String(path)] { return mark }
            guard let cut = path.lastIndex(of: ".") else { return nil }
            path = path[..<cut]
        }
        return nil
    }
}

extension Node {
    /// What YAML takes the node for: an explicit tag, else by its look.
    var tagName: Tag.Name { Tag.Name(rawValue: tag.description) }
}

extension RuleShape {
    var name: String {
        switch self {
        case .text: "text"
        case .number: "number"
        case .boolean: "boolean (true or false)"
        case .object: "mapping"
        case .array: "list"
        case .textOrObject: "text or a mapping"
        case .any: "value"
        }
    }
}
