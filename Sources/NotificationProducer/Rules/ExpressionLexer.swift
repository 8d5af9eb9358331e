import NotificationModel

/// Splits the text of `when` into tokens.
struct ExpressionLexer {
    enum Token: Hashable {
        /// `data.total`, or `{{data.total}}`.
        case path(VariablePath)
        case literal(Literal)
        /// `and`, `or`, `not`, `in`, `exists`.
        case word(String)
        case comparison(Comparison)
        /// `(`, `)`, `[`, `]`, `,`.
        case mark(Character)
        case end
    }

    private let characters: [Character]
    private(set) var position = 0

    init(_ text: String) {
        characters = Array(text)
    }

    private static let words: Set<String> = ["and", "or", "not", "in", "exists"]

    /// The next token and its offset, in characters from 0.
    mutating func next() throws(TemplateError) -> (token: Token, offset: Int) {
        while position < characters.count, characters[position].isWhitespace { position += 1 }
        let start = position
        guard position < characters.count else { return (.end, start) }
        switch characters[position] {
        case "(", ")", "[", "]", ",":
            position += 1
            return (.mark(characters[start]), start)
        case "\"", "'": return (try text(), start)
        case "=", "!", "<", ">": return (try comparison(), start)
        case "{": return (try braces(), start)
        case "-", "0"..."9": return (try number(), start)
        case let first where first.isLetter || first == "_": return (try word(), start)
        case "&", "|": throw error("write `and` and `or` instead of `&&` and `||`", start)
        default: throw error("`\(characters[start])` is not allowed here", start)
        }
    }

    // MARK: Tokens

    private mutating func comparison() throws(TemplateError) -> Token {
        let start = position
        position += 1
        var text = String(characters[start])
        if position < characters.count, "=~".contains(characters[position]) {
            text.append(characters[position])
            position += 1
        }
        if let comparison = Comparison(rawValue: text) { return .comparison(comparison) }
        switch text {
        case "=": throw error("write `==` to compare", start)
        case "!": throw error("write `not` instead of `!`", start)
        default: throw error("unknown operator `\(text)`; regular expressions are not supported", start)
        }
    }

    private mutating func text() throws(TemplateError) -> Token {
        let start = position
        let quote = characters[start]
        var text = ""
        position += 1
        while position < characters.count {
            let character = characters[position]
            position += 1
            if character == quote { return .literal(.text(Array(text.utf8))) }
            guard character == "\\" else {
                text.append(character)
                continue
            }
            guard position < characters.count, "\\\"'".contains(characters[position]) else {
                throw error("in a text `\\` is allowed only before `\\`, `\"` or `'`", position - 1)
            }
            text.append(characters[position])
            position += 1
        }
        throw error("a text without a closing \(quote)", start)
    }

    private mutating func number() throws(TemplateError) -> Token {
        let start = position
        while position < characters.count, characters[position].isPartOfNumber { position += 1 }
        let text = String(characters[start..<position])
        guard JSONNumber.matches(text) else { throw error("`\(excerpt(text))` is not a number", start) }
        let value = Array(text.utf8).withUnsafeBytes { NumberValue($0) }
        guard value.double.isFinite else { throw error("`\(excerpt(text))` is too large a number", start) }
        return .literal(.number(value))
    }

    private mutating func braces() throws(TemplateError) -> Token {
        let start = position
        guard position + 1 < characters.count, characters[position + 1] == "{" else {
            throw error("`{` is not allowed here", start)
        }
        position += 2
        var name = ""
        while position < characters.count, characters[position] != "}" {
            name.append(characters[position])
            position += 1
        }
        guard position + 1 < characters.count, characters[position + 1] == "}" else {
            throw error("a `{{` without a `}}`", start)
        }
        position += 2
        return .path(try path(String(name.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()), start))
    }

    private mutating func word() throws(TemplateError) -> Token {
        let start = position
        while position < characters.count, characters[position].isPartOfName { position += 1 }
        let text = String(characters[start..<position])
        switch text {
        case "true": return .literal(.bool(true))
        case "false": return .literal(.bool(false))
        case "null": return .literal(.null)
        case _ where Self.words.contains(text): return .word(text)
        case "matches", "like", "contains":
            throw error("unknown operator `\(text)`; regular expressions are not supported", start)
        default: break
        }
        let root = text.prefix { $0 != "." }
        guard root == "data" || root == "item" || VariablePath.attributes.contains(text) else {
            let hint =
                Self.words.contains(text.lowercased())
                ? "write `\(text.lowercased())` in lower case"
                : "put a text in quotes ('\(excerpt(text))'), an extension attribute in braces ({{\(excerpt(text))}})"
            throw error(
                "`\(excerpt(text))` is neither data.…, nor one of \(RuleCompiler.list(VariablePath.attributes)); \(hint)",
                start
            )
        }
        return .path(try path(text, start))
    }

    private func path(_ text: String, _ start: Int) throws(TemplateError) -> VariablePath {
        do throws(TemplateError) {
            return try VariablePath(text)
        } catch {
            throw TemplateError(error.message, offset: start)
        }
    }

    // MARK: Errors

    func error(_ message: String, _ offset: Int) -> TemplateError {
        TemplateError(message, offset: offset)
    }

    /// The quoted part of a possibly long text.
    private func excerpt(_ text: String) -> String {
        text.count <= 40 ? text : "\(text.prefix(40))…"
    }
}

extension Character {
    fileprivate var isPartOfNumber: Bool {
        isASCII && (isLetter || isNumber || self == "." || self == "-" || self == "+")
    }

    fileprivate var isPartOfName: Bool {
        isLetter || isNumber || self == "." || self == "_" || self == "-"
    }
}
