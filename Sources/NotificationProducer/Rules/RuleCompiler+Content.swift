import NotificationModel
import Yams

/// The parts of a rule that become JSON: content and trigger.
extension RuleCompiler {
    static let maximumDepth = 16

    /// Compiles a `content:`, complete or the differences of one locale. Each constant member is validated separately,
    /// so that every mistake is found, not only the first.
    mutating func contentFields(_ node: Node, at place: String) -> ContentFields? {
        contentPlace = place
        defer { contentPlace = "content" }
        guard let mapping = pairs(of: node, at: "`\(place)`") else { return nil }
        var content = ContentFields()
        for (key, keyNode, value) in mapping {
            marks["\(place).\(key)"] = value.mark
            guard let shape = RuleShape.content[key] else {
                noteUnknown(key, keyNode, at: "`\(place)`", Array(RuleShape.content.keys))
                continue
            }
            if value.isNull {
                content.fields.append(.init(name: key, value: nil))
                continue
            }
            guard let json = compile(value, as: shape, at: "\(place).\(key)", depth: 2) else { continue }
            if let constant = json.constantBytes, key == ContentFields.existingPayload {
                checkWithModel(
                    Array(#"{"content":{"apns":"#.utf8) + constant + Array("}}".utf8),
                    fallback: "\(place).apns"
                )
            } else if let constant = json.constantBytes {
                // Content must not be empty, and no name may repeat. A Live Activity starts with both texts.
                let others = ["title", "body"].filter {
                    $0 != key && ($0 == "body" || ["body", "liveActivity"].contains(key))
                }
                let texts = others.map { "\"\($0)\":\".\"," }.joined()
                var body = Array("{\"content\":{\(texts)\"\(key)\":".utf8)
                body += constant + Array("}}".utf8)
                checkWithModel(body, fallback: "\(place).\(key)")
            }
            content.fields.append(.init(name: key, value: json))
        }
        return content
    }

    /// Validates content that is the same for every event.
    mutating func checkContent(_ content: Text, _ place: String, _ mark: Mark?) {
        guard let constant = content.constantBytes else { return }
        contentPlace = place
        defer { contentPlace = "content" }
        if marks[place] == nil { marks[place] = mark }
        checkWithModel(Array("{\"content\":".utf8) + constant + Array("}".utf8), fallback: place)
    }

    /// Validates what belongs together in a content of which other parts differ from event to event.
    mutating func checkCoherence(of content: ContentFields, _ place: String) {
        contentPlace = place
        defer { contentPlace = "content" }
        let activity = content.fields.last { $0.name == "liveActivity" }?.value
        // Without its attributes, if these differ.
        let shown = activity.map { $0.constantBytes ?? Array(#"{"contentState":{}}"#.utf8) }
        var body = Array(#"{"content":{"#.utf8)
        body += shown.map { Array(#""liveActivity":"#.utf8) + $0 } ?? Array(#""userInfo":{"-":0}"#.utf8)
        for field in content.fields {
            guard let value = field.value else { continue }
            let part: [UInt8]
            switch field.name {
            case "title", "subtitle", "body": part = Array(#"".""#.utf8)
            case "titleLocalization", "subtitleLocalization", "bodyLocalization": part = Array(#"{"key":"."}"#.utf8)
            case "interruptionLevel", "sound", "mutableContent":
                guard let constant = value.constantBytes else { continue }
                part = constant
            // They have no place beside a Live Activity, whatever they are.
            case "badge" where activity != nil: part = Array("1".utf8)
            case "categoryIdentifier" where activity != nil, "threadIdentifier" where activity != nil:
                part = Array(#"".""#.utf8)
            case "userInfo" where activity != nil: part = Array("{}".utf8)
            default: continue
            }
            body += Array(",\"\(field.name)\":".utf8) + part
        }
        checkWithModel(body + Array("}}".utf8), fallback: place)
    }

    /// Validates a member of a request other than content, when it is the same for every event.
    mutating func checkMember(_ member: Text, _ name: String) {
        guard let constant = member.constantBytes else { return }
        // A digest needs a group.
        let content = #"{"content":{"body":".","threadIdentifier":".","categoryIdentifier":"."},"#
        checkWithModel(Array("\(content)\"\(name)\":".utf8) + constant + Array("}".utf8), fallback: name)
    }

    /// Validates that a digest fits the rest of the rule, as far as that is the same for every event.
    mutating func checkDigest(_ digest: Text, of content: ContentFields, _ trigger: Text?, _ place: String) {
        guard let constant = digest.constantBytes else { return }
        var body = Array(#"{"content":{"body":".""#.utf8)
        if let payload = content.payload {
            // A payload of the event has its thread and category in it.
            let placeholder = #"{"aps":{"alert":".","thread-id":".","category":"."}}"#
            body = Array(#"{"content":{"apns":"#.utf8) + (payload.constantBytes ?? Array(placeholder.utf8))
        }
        for field in content.fields where ["threadIdentifier", "categoryIdentifier"].contains(field.name) {
            guard let value = field.value else { continue }
            body += Array(",\"\(field.name)\":".utf8) + (value.constantBytes ?? Array(#"".""#.utf8))
        }
        body += Array(#"},"digest":"#.utf8) + constant
        if let trigger = trigger?.constantBytes { body += Array(#","trigger":"#.utf8) + trigger }
        checkWithModel(body + Array("}".utf8), fallback: place)
    }

    /// `quietHours`, `cap` or `digest`; nil also when null removes a default.
    mutating func compileLimit(_ node: Node, _ field: RequestField, _ shape: [String: RuleShape]) -> Text? {
        if node.isNull { return nil }
        guard let json = object(node, shape, at: "\(field)", depth: 1) else { return nil }
        checkMember(json, "\(field)")
        return json
    }

    mutating func object(_ node: Node, _ shapes: [String: RuleShape], at path: String, depth: Int) -> Text? {
        guard let mapping = pairs(of: node, at: "`\(path)`") else { return nil }
        var json = Text()
        json.append("{")
        var complete = true
        var isFirst = true
        for (key, keyNode, value) in mapping {
            let place = "\(path).\(key)"
            marks[place] = value.mark
            guard let shape = shapes[key] else {
                noteUnknown(key, keyNode, at: "`\(path)`", Array(shapes.keys))
                complete = false
                continue
            }
            guard let member = compile(value, as: shape, at: place, depth: depth + 1) else {
                complete = false
                continue
            }
            json.append("\(isFirst ? "" : ",")\"\(key)\":")
            json.append(member)
            isFirst = false
        }
        json.append("}")
        return complete ? json : nil
    }

    private mutating func compile(_ node: Node, as shape: RuleShape, at path: String, depth: Int) -> Text? {
        marks[path] = node.mark
        guard depth <= Self.maximumDepth else {
            note(node.mark, "`\(path)` is nested more than \(Self.maximumDepth) deep")
            return nil
        }
        switch shape {
        case .text:
            guard let text = template(node, at: path) else { return nil }
            var json = Text()
            json.append(string: text)
            return json
        case .literal:
            guard case .scalar(let scalar) = node, [.str, .timestamp].contains(node.tagName) else {
                return refuse(node, path, "text")
            }
            return Self.string(scalar)
        case .timeOfDay:
            if case .scalar(let scalar) = node, node.tagName == .int, scalar.string.contains(":") {
                return Self.string(scalar)
            }
            return compile(node, as: .text, at: path, depth: depth)
        case .number, .boolean:
            guard case .scalar(let scalar) = node else {
                return refuse(node, path, "a \(shape.name)")
            }
            return compileScalar(scalar, as: shape, at: path)
        case .object(let shapes):
            if isWholeVariable(node) { return wholeVariable(node, at: path) }
            return object(node, shapes, at: path, depth: depth)
        case .textOrObject(let shapes):
            if case .mapping = node { return object(node, shapes, at: path, depth: depth) }
            if isWholeVariable(node) { return wholeVariable(node, at: path) }
            return compile(node, as: .text, at: path, depth: depth)
        case .array(let element):
            if isWholeVariable(node) { return wholeVariable(node, at: path) }
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

    /// A JSON string of the text as it is.
    private static func string(_ scalar: Node.Scalar) -> Text {
        var json = Text()
        json.append(bytes: JSONValue.string(scalar.string).json)
        return json
    }

    private mutating func array(_ sequence: Node.Sequence, of shape: RuleShape, at path: String, depth: Int) -> Text? {
        var json = Text()
        json.append("[")
        var complete = true
        for (index, element) in sequence.enumerated() {
            guard let value = compile(element, as: shape, at: "\(path).\(index)", depth: depth + 1) else {
                complete = false
                continue
            }
            if index > 0 { json.append(",") }
            json.append(value)
        }
        json.append("]")
        return complete ? json : nil
    }

    private mutating func anyObject(_ node: Node, at path: String, depth: Int) -> Text? {
        guard let mapping = pairs(of: node, at: "`\(path)`") else { return nil }
        var json = Text()
        json.append("{")
        var complete = true
        for (index, (key, keyNode, value)) in mapping.enumerated() {
            if key.contains("{{") {
                note(keyNode.mark, "`\(key)`: variables are allowed in values, not in keys")
                complete = false
            }
            guard let member = compile(value, as: .any, at: "\(path).\(key)", depth: depth + 1) else {
                complete = false
                continue
            }
            var name = Array((index == 0 ? "" : ",").utf8)
            JSONWriter.append(string: key, to: &name)
            json.append(bytes: name + [UInt8(ascii: ":")])
            json.append(member)
        }
        json.append("}")
        return complete ? json : nil
    }

    /// Whether the node is one `{{path}}` for an object or a list.
    private func isWholeVariable(_ node: Node) -> Bool {
        guard case .scalar(let scalar) = node, node.tagName == .str else { return false }
        return (try? Text(scalar.string))?.soleVariable != nil
    }

    /// The variable's JSON value.
    private mutating func wholeVariable(_ node: Node, at path: String) -> Text? {
        guard let variable = template(node, at: path)?.soleVariable else { return nil }
        var json = Text()
        json.append(json: variable)
        return json
    }

    mutating func compileScalar(_ scalar: Node.Scalar, as shape: RuleShape, at path: String) -> Text? {
        let node = Node.scalar(scalar)
        var json = Text()
        switch (node.tagName, shape) {
        case (.int, .number), (.float, .number), (.int, .any), (.float, .any):
            guard let number = Self.jsonNumber(node, scalar.string) else {
                note(node.mark, "`\(path)`: `\(scalar.string)` is not a JSON number")
                return nil
            }
            json.append(number)
        case (.bool, .boolean), (.bool, .any):
            json.append(node.bool == true ? "true" : "false")
        case (.null, .any):
            json.append("null")
        case (.str, _), (.timestamp, .any):
            guard let text = template(node, at: path) else { return nil }
            if let variable = text.soleVariable {
                json.append(json: variable)
            } else if case .any = shape {
                json.append(string: text)
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

    /// Converts YAML numbers such as `0x1F`, `1_000` and `.inf`.
    private static func jsonNumber(_ node: Node, _ text: String) -> String? {
        if JSONNumber.matches(text) { return text }
        if let integer = node.int { return String(integer) }
        if let float = node.float, float.isFinite { return "\(float)" }
        return nil
    }

    mutating func checkWithModel(_ body: [UInt8], fallback: String) {
        do {
            var body = body
            let received = try RequestRecord.receive(body: &body, key: Self.anyKey.get())
            if !received.notConverted.isEmpty { warn(of: received.notConverted, fallback) }
        } catch {
            var field = error.field ?? fallback
            if field == "content" || field.hasPrefix("content.") {
                field = contentPlace + field.dropFirst("content".count)
            }
            note(nearestMark(field) ?? marks[fallback], "`\(field)`: \(error.detail)")
        }
    }

    /// A payload is checked by itself and in its content: one warning is enough.
    private mutating func warn(of paths: [String], _ place: String) {
        let mark = nearestMark("\(contentPlace).apns") ?? marks[place]
        let warning = RuleFileError.Problem(
            line: mark?.line ?? 0,
            column: mark?.column ?? 0,
            message: "`\(contentPlace).apns`: no content says \(paths.joined(separator: ", ")), which is left out"
        )
        guard warnings.count < RuleFile.maximumProblems, !warnings.contains(warning) else { return }
        warnings.append(warning)
    }

    private static let anyKey = Result { () throws(ModelError) in
        try NotificationKey(application: "a", recipient: "r", identifier: "i")
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

extension RuleShape {
    var name: String {
        switch self {
        case .text, .literal, .timeOfDay: "text"
        case .number: "number"
        case .boolean: "boolean (true or false)"
        case .object: "mapping"
        case .array: "list"
        case .textOrObject: "text or a mapping"
        case .any: "value"
        }
    }
}
