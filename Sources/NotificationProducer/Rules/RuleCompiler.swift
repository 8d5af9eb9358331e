import NotificationModel
import Yams

/// Turns the YAML nodes of a rule file into rules, noting every problem instead of stopping at the first.
struct RuleCompiler {
    var problems: [RuleFileError.Problem] = []
    /// Where each part of the rule at hand was written, by dotted path, for what the model refuses afterwards.
    var marks: [String: Mark] = [:]

    private static let ruleKeys: Set<String> = [
        "name", "event", "when", "application", "recipient", "identifier", "content", "trigger", "expiration", "cancel",
        "state",
    ]

    mutating func compile(_ root: Node) -> [Rule] {
        guard let file = members(of: root, at: "the file", allowed: ["rules"]) else { return [] }
        guard let list = file["rules"] else {
            note(root.mark, "the file has no list `rules:`")
            return []
        }
        guard case .sequence(let sequence) = list, !sequence.isEmpty else {
            note(list.mark, "`rules` must be a list with at least one rule")
            return []
        }
        var rules: [Rule] = []
        var countByEvent: [String: Int] = [:]
        var lineByName: [String: Int] = [:]
        for node in sequence {
            guard let rule = compileRule(node, countByEvent: &countByEvent) else { continue }
            if let line = lineByName[rule.name] {
                note(marks["name"] ?? node.mark, "the name `\(rule.name)` is already that of the rule in line \(line)")
            }
            lineByName[rule.name] = rule.line
            rules.append(rule)
        }
        return rules
    }

    private mutating func compileRule(_ node: Node, countByEvent: inout [String: Int]) -> Rule? {
        marks = [:]
        let before = problems.count
        guard let fields = members(of: node, at: "a rule", allowed: Self.ruleKeys) else { return nil }
        for (key, value) in fields { marks[key] = value.mark }

        let event = required("event", in: fields, of: node).flatMap { constantText($0, "event") }
        let recipient = required("recipient", in: fields, of: node).flatMap { template($0, at: "recipient") }
        let application = fields["application"].flatMap { template($0, at: "application") }
        let when = fields["when"].flatMap { condition($0) }
        let name = fields["name"].flatMap { constantText($0, "name") }
        var identifier: Template?
        var action: Rule.Action?
        var used: [VariablePath] = []
        if let cancel = fields["cancel"] {
            for key in ["identifier", "content", "trigger", "expiration"] {
                if let given = fields[key] {
                    note(
                        given.mark,
                        "`\(key)` does not go with `cancel`: a rule either requests a notification or cancels one"
                    )
                }
            }
            identifier = template(cancel, at: "cancel")
            action = scope(fields["state"]).map { .cancel($0) }
        } else {
            if let state = fields["state"] {
                note(state.mark, "`state` goes with `cancel` only")
            }
            identifier = required("identifier", in: fields, of: node).flatMap { template($0, at: "identifier") }
            if let body = requestMembers(fields, of: node) {
                used += body.variables
                action = .notify(body)
            }
        }
        for (path, text) in [("recipient", recipient), ("application", application)] {
            checkConstant(text, at: path)
        }
        checkConstant(identifier, at: fields["cancel"] == nil ? "identifier" : "cancel")

        guard problems.count == before, let event, let recipient, let identifier, let action else { return nil }
        used += [when, application, recipient, identifier].flatMap { $0?.variables ?? [] }
        let place = countByEvent[event, default: 0]
        countByEvent[event] = place + 1
        return Rule(
            name: name ?? "\(event)#\(place)",
            line: node.mark?.line ?? 0,
            event: event,
            when: when,
            application: application,
            recipient: recipient,
            identifier: identifier,
            action: action,
            usesData: used.contains { $0.root == .data }
        )
    }

    // MARK: The members of a request

    /// The members are all looked at, even when one is wrong.
    private mutating func requestMembers(_ fields: [String: Node], of rule: Node) -> JSONTemplate? {
        let content = required("content", in: fields, of: rule).flatMap { node in
            object(node, RuleShape.content, at: "content", depth: 1, checked: "content")
        }
        let trigger = fields["trigger"].map { node in
            object(node, RuleShape.trigger, at: "trigger", depth: 1, checked: nil)
        }
        let expiration = fields["expiration"].map { node in
            template(node, at: "expiration").map { text in
                var json = JSONTemplate()
                json.append(text: text)
                return json
            }
        }
        guard let content else {
            checkMember(trigger ?? nil, "trigger")
            checkMember(expiration ?? nil, "expiration")
            return nil
        }
        var isComplete = true
        var body = JSONTemplate()
        body.append(json: ",\"content\":")
        body.append(content)
        for (name, member) in [("trigger", trigger), ("expiration", expiration)] {
            // Not in the rule; or in it and refused already.
            guard let member else { continue }
            guard let member else {
                isComplete = false
                continue
            }
            checkMember(member, name)
            body.append(json: ",\"\(name)\":")
            body.append(member)
        }
        return isComplete ? body : nil
    }

    private mutating func checkMember(_ member: JSONTemplate?, _ name: String) {
        guard let constant = member?.constantBytes else { return }
        checkWithModel(
            Array("{\"content\":{\"body\":\".\"},\"\(name)\":".utf8) + constant + Array("}".utf8),
            fallback: name
        )
    }

    /// - Parameter checked: a name of the request under which each constant member is put before the model by itself, so
    ///   that every wrong one is found, not only the first.
    private mutating func object(
        _ node: Node,
        _ shapes: [String: RuleShape],
        at path: String,
        depth: Int,
        checked: String?
    ) -> JSONTemplate? {
        guard let mapping = pairs(of: node, at: "`\(path)`") else { return nil }
        var json = JSONTemplate()
        json.append(json: "{")
        var complete = true
        var isFirst = true
        for (key, keyNode, value) in mapping {
            let place = "\(path).\(key)"
            marks[place] = value.mark
            guard let shape = shapes[key] else {
                note(keyNode.mark, "`\(path)` has no `\(key)`; it may have \(Self.list(shapes.keys))")
                complete = false
                continue
            }
            guard let member = compile(value, as: shape, at: place, depth: depth + 1) else {
                complete = false
                continue
            }
            if let checked, let constant = member.constantBytes {
                // A content needs something to show, and no name may be there twice.
                var body = Array("{\"\(checked)\":{\"\(key == "body" ? "title" : "body")\":\".\",".utf8)
                JSONWriter.append(string: key, to: &body)
                body += Array(":".utf8) + constant + Array("}}".utf8)
                checkWithModel(body, fallback: place)
            }
            var name = Array((isFirst ? "" : ",").utf8)
            JSONWriter.append(string: key, to: &name)
            json.append(json: name + [UInt8(ascii: ":")])
            json.append(member)
            isFirst = false
        }
        json.append(json: "}")
        return complete ? json : nil
    }

    private mutating func compile(_ node: Node, as shape: RuleShape, at path: String, depth: Int) -> JSONTemplate? {
        marks[path] = node.mark
        guard depth <= Self.maximumDepth else {
            note(node.mark, "`\(path)` is nested more than \(Self.maximumDepth) deep")
            return nil
        }
        switch shape {
        case .text:
            guard let text = template(node, at: path) else { return nil }
            var json = JSONTemplate()
            json.append(text: text)
            return json
        case .number, .boolean:
            guard case .scalar(let scalar) = node else {
                return refuse(node, path, "a \(shape.name)")
            }
            return compileScalar(scalar, as: shape, at: path)
        case .object(let shapes):
            return wholeVariable(node, at: path) ?? object(node, shapes, at: path, depth: depth, checked: nil)
        case .textOrObject(let shapes):
            if case .mapping = node { return object(node, shapes, at: path, depth: depth, checked: nil) }
            return wholeVariable(node, at: path) ?? compile(node, as: .text, at: path, depth: depth)
        case .array(let element):
            if let whole = wholeVariable(node, at: path) { return whole }
            guard case .sequence(let sequence) = node else { return refuse(node, path, "a list") }
            return array(sequence, of: element, at: path, depth: depth)
        case .any:
            switch node {
            case .scalar(let scalar): return compileScalar(scalar, as: .any, at: path)
            case .sequence(let sequence): return array(sequence, of: .any, at: path, depth: depth)
            case .mapping: return anyObject(node, at: path, depth: depth)
            case .alias: return refuse(node, path, "a value")
            }
        }
    }

    private mutating func array(_ sequence: Node.Sequence, of shape: RuleShape, at path: String, depth: Int)
        -> JSONTemplate?
    {
        var json = JSONTemplate()
        json.append(json: "[")
        var complete = true
        for (index, element) in sequence.enumerated() {
            guard let value = compile(element, as: shape, at: "\(path).\(index)", depth: depth + 1) else {
                complete = false
                continue
            }
            if index > 0 { json.append(json: ",") }
            json.append(value)
        }
        json.append(json: "]")
        return complete ? json : nil
    }

    private mutating func anyObject(_ node: Node, at path: String, depth: Int) -> JSONTemplate? {
        guard let mapping = pairs(of: node, at: "`\(path)`") else { return nil }
        var json = JSONTemplate()
        json.append(json: "{")
        var complete = true
        for (index, (key, keyNode, value)) in mapping.enumerated() {
            if key.contains("{{") {
                note(keyNode.mark, "`\(key)`: variables are for values, not for keys")
                complete = false
            }
            guard let member = compile(value, as: .any, at: "\(path).\(key)", depth: depth + 1) else {
                complete = false
                continue
            }
            var name = Array((index == 0 ? "" : ",").utf8)
            JSONWriter.append(string: key, to: &name)
            json.append(json: name + [UInt8(ascii: ":")])
            json.append(member)
        }
        json.append(json: "}")
        return complete ? json : nil
    }

    static let maximumDepth = 16
}
