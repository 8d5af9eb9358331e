import NotificationModel

/// Reads the expression of a `when`.
///
///     condition  = all {"or" all}
///     all        = negation {"and" negation}
///     negation   = "not" negation | "exists" path | "(" condition ")" | comparison
///     comparison = operand [("==" | "!=" | "<" | "<=" | ">" | ">=") operand | "in" "[" literal {"," literal} "]"]
///
/// A path alone tests whether it is true. There are no regular expressions, because the sender of an event could
/// control their running time.
struct ExpressionParser {
    /// Maximum number of characters.
    static let maximumLength = 4_096
    /// Maximum depth of parentheses and `not`.
    static let maximumDepth = 32

    private var lexer: ExpressionLexer
    private var token = ExpressionLexer.Token.end
    private var offset = 0
    private var depth = 0

    /// - Throws: The error with its offset in characters.
    static func parse(_ text: String) throws(TemplateError) -> Condition<VariablePath> {
        // Check bytes first: counting characters of large texts is slow.
        guard text.utf8.count <= maximumLength * 4, text.count <= maximumLength else {
            throw TemplateError(
                "an expression may have at most \(maximumLength) characters, this one has \(text.utf8.count) bytes"
            )
        }
        var parser = ExpressionParser(lexer: ExpressionLexer(text))
        try parser.advance()
        guard parser.token != .end else {
            throw TemplateError("is empty; write a condition, or true or false", offset: 0)
        }
        let condition = try parser.condition()
        guard parser.token == .end else { throw parser.unexpected("`and`, `or` or the end") }
        return condition
    }

    private init(lexer: ExpressionLexer) {
        self.lexer = lexer
    }

    private mutating func advance() throws(TemplateError) {
        (token, offset) = try lexer.next()
    }

    private mutating func take(_ wanted: ExpressionLexer.Token) throws(TemplateError) -> Bool {
        guard token == wanted else { return false }
        try advance()
        return true
    }

    private mutating func expect(_ mark: Character) throws(TemplateError) {
        guard try take(.mark(mark)) else { throw unexpected("`\(mark)`") }
    }

    private mutating func condition() throws(TemplateError) -> Condition<VariablePath> {
        var parts = [try conjunction()]
        while try take(.word("or")) { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(TemplateError) -> Condition<VariablePath> {
        var parts = [try negation()]
        while try take(.word("and")) { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func negation() throws(TemplateError) -> Condition<VariablePath> {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else {
            throw TemplateError("nested more than \(Self.maximumDepth) deep", offset: offset)
        }
        if try take(.word("not")) { return .not(try negation()) }
        if try take(.word("exists")) {
            guard case .path(let path) = token else { throw unexpected("a path after `exists`") }
            try advance()
            return .exists(path)
        }
        if try take(.mark("(")) {
            let inner = try condition()
            try expect(")")
            return inner
        }
        return try comparison()
    }

    private mutating func comparison() throws(TemplateError) -> Condition<VariablePath> {
        let start = offset
        let left = try operand()
        if case .comparison(let comparison) = token {
            try advance()
            let right = try operand()
            if case .comparison = token {
                throw TemplateError("only one comparison at a time: combine two with `and`", offset: offset)
            }
            return .comparison(left, comparison, right)
        }
        if try take(.word("in")) { return .isOneOf(left, try list()) }
        if token == .word("not") {
            throw TemplateError("write `not` before the whole comparison: `not data.x in [...]`", offset: offset)
        }
        switch left {
        case .variable(let path): return .isTrue(path)
        case .literal(.bool(let value)): return .constant(value)
        case .literal:
            throw TemplateError("a text, a number or null alone is not a condition; compare it", offset: start)
        }
    }

    private mutating func operand() throws(TemplateError) -> Condition<VariablePath>.Operand {
        switch token {
        case .path(let path):
            try advance()
            return .variable(path)
        case .literal(let literal):
            try advance()
            return .literal(literal)
        default:
            throw unexpected("a path, a text, a number, true, false or null")
        }
    }

    private mutating func list() throws(TemplateError) -> [Literal] {
        try expect("[")
        var literals: [Literal] = []
        repeat {
            guard case .literal(let literal) = token else {
                throw unexpected("a text, a number, true, false or null in the list")
            }
            literals.append(literal)
            try advance()
        } while try take(.mark(","))
        try expect("]")
        return literals
    }

    private func unexpected(_ wanted: String) -> TemplateError {
        let found =
            switch token {
            case .path(let path): "`\(path.text.prefix(40))`"
            case .literal: "a value"
            case .word(let word): "`\(word)`"
            case .comparison(let comparison): "`\(comparison.rawValue)`"
            case .mark(let mark): "`\(mark)`"
            case .end: "the end"
            }
        return TemplateError("expected \(wanted), found \(found)", offset: offset)
    }
}
