import NotificationModel

/// JSON with variables in it: constant text written once, and what is filled in for each event.
struct JSONTemplate: Hashable, Sendable {
    enum Piece: Hashable, Sendable {
        /// JSON text as it is.
        case json([UInt8])
        /// One JSON string.
        case text(Template)
        /// The variable's own JSON value, with its type.
        case value(VariablePath)
    }

    private(set) var pieces: [Piece] = []

    mutating func append(json: String) {
        append(json: Array(json.utf8))
    }

    mutating func append(json bytes: [UInt8]) {
        if case .json(let before)? = pieces.last {
            pieces[pieces.count - 1] = .json(before + bytes)
        } else {
            pieces.append(.json(bytes))
        }
    }

    mutating func append(text template: Template) {
        guard template.isConstant else {
            pieces.append(.text(template))
            return
        }
        var bytes: [UInt8] = []
        JSONText.appendString(template.constantBytes, to: &bytes)
        append(json: bytes)
    }

    mutating func append(value path: VariablePath) {
        pieces.append(.value(path))
    }

    mutating func append(_ other: JSONTemplate) {
        for piece in other.pieces {
            if case .json(let bytes) = piece { append(json: bytes) } else { pieces.append(piece) }
        }
    }

    /// The JSON text, when no variable is in it.
    var constantBytes: [UInt8]? {
        if pieces.isEmpty { return [] }
        guard pieces.count == 1, case .json(let bytes) = pieces[0] else { return nil }
        return bytes
    }

    var variables: [VariablePath] {
        pieces.flatMap { piece -> [VariablePath] in
            switch piece {
            case .json: []
            case .text(let template): template.variables
            case .value(let path): [path]
            }
        }
    }

    func render(_ context: borrowing RuleContext, into out: inout [UInt8]) throws(ModelError) {
        for piece in pieces {
            switch piece {
            case .json(let bytes): out += bytes
            case .text(let template): try template.renderJSONString(context, into: &out)
            case .value(let path): try context.appendJSON(of: path, to: &out)
            }
        }
    }
}
