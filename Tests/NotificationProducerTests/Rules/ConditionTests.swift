import NotificationModel
import TestSupport
import Testing

@testable import NotificationProducer

@Suite("Conditions of `when`")
struct ConditionTests {
    private static let data = #"""
        {"total":100.5,"count":3,"big":9007199254740993,"huge":1e400,"country":"DE","name":"M\u00fcller \"x\"","empty":"","yes":true,
         "no":false,"nothing":null,"list":[1],"object":{"a":1},"noList":[ ],"noObject":{ },"zero":0.0,"zeroText":"0",
         "falseText":"false","minus":-1,"lines":[{"sku":"A"},{"sku":"B"}],"odd key":1,"price-net":7}
        """#

    /// Nil when a variable of the comparison is missing.
    private func holds(_ condition: String, _ data: String = Self.data) throws -> Bool? {
        let engine = try Rules.rule("content: {body: x}\nwhen: \(Rules.quoted(condition))")
        let event = BusinessEvent.sample(subject: "orders/7", extensions: ["tenant": "eu"], data: data)
        switch engine.apply(to: event) {
        case .skipped: return false
        case .applied(let outputs, let failures) where failures.isEmpty:
            #expect(outputs.count == 1)
            return true
        case .applied(_, let failures):
            #expect(failures.first?.error.reason == .missingVariable)
            return nil
        case .noRule, .ignored:
            Issue.record("no rule")
            return nil
        }
    }

    @Test(
        "A path alone is false for a missing value, false, null, zero and empty values, and true for the rest",
        arguments: [
            ("{{data.missing}}", false), ("data.missing", false), ("data.nothing", false), ("data.no", false),
            ("data.zero", false), ("data.zeroText", false), ("data.empty", false), ("data.falseText", false),
            ("data.noList", false), ("data.noObject", false), ("{{tenants}}", false), ("false", false),
            ("{{data.yes}}", true), ("data.yes", true), ("data.minus", true), ("data.country", true),
            ("data.list", true),
            ("data.object", true), ("true", true), ("subject", true), ("{{ tenant }}", true), ("data", true),
        ]
    )
    func truth(condition: String, holds: Bool) throws {
        #expect(try self.holds(condition) == holds)
    }

    @Test(
        "Numbers, texts, booleans and null compare with values of the same type",
        arguments: [
            ("data.total > 100", true), ("data.total >= 100.5", true), ("data.total < 100.5", false),
            ("data.total <= 100.5", true), ("data.total == 1005e-1", true), ("data.count == 3", true),
            ("data.count == 3.0", true), ("data.count != 3", false), ("100 < data.total", true),
            ("data.big == 9007199254740993", true), ("data.big == 9007199254740992", false),
            ("data.big > 9007199254740992", true), ("data.huge > 1e300", true), ("data.minus < 0", true),
            ("data.count < data.total", true), ("data.total == data.total", true),
            ("data.country == 'DE'", true), ("data.country == \"DE\"", true), ("data.country != 'DE'", false),
            ("data.country < 'DF'", true), ("data.country >= 'D'", true), ("data.country > 'De'", false),
            ("data.name == 'Müller \"x\"'", true), ("data.name == 'M\u{FC}ller \\\"x\\\"'", true),
            ("'it\\'s' == \"it's\"", true), ("data.empty == ''", true), ("subject == 'orders/7'", true),
            ("{{tenant}} == 'eu'", true), ("type == 'com.example.order.shipped'", true),
            ("data.yes == true", true), ("data.no != false", false), ("data.nothing == null", true),
            ("data.country != null", true), ("data.lines.1.sku == 'B'", true), ("data.price-net == 7", true),
            ("data.country in ['AT', 'DE']", true), ("data.country in ['AT']", false),
            ("data.count in [1, 2.5, 3.0]", true), ("data.nothing in [true, null]", true), ("'DE' in ['DE']", true),
        ]
    )
    func comparison(condition: String, holds: Bool) throws {
        #expect(try self.holds(condition) == holds)
    }

    @Test(
        "Values of different types are neither equal nor ordered",
        arguments: [
            "data.count == '3'", "data.zeroText == 0", "data.yes == 1", "data.yes == 'true'", "data.nothing == 0",
            "data.nothing == ''", "data.nothing == false", "data.country > 1", "data.country < 1", "data.count <= '9'",
            "data.count >= ''", "data.yes > false", "data.yes >= true", "data.nothing <= null", "data.list == 1",
            "data.list == data.list", "data.object == data.object", "data.list < 1", "data.count in ['3', true, null]",
        ]
    )
    func types(condition: String) throws {
        #expect(try holds(condition) == false)
        if condition.contains("==") {
            #expect(try holds(condition.replacing("==", with: "!=")) == true)
        }
    }

    @Test(
        "`not` binds tighter than `and`, `and` than `or`, and parentheses override both",
        arguments: [
            ("true or true and false", true), ("(true or true) and false", false), ("not false and false", false),
            ("not (false and false)", true), ("not not true", true), ("not data.count == 4", true),
            ("not data.country in ['DE']", false), ("false or not false", true), ("data.yes and not data.no", true),
            ("((((true))))", true), ("data.total>1 and(data.count<4)", true),
        ]
    )
    func binding(condition: String, holds: Bool) throws {
        #expect(try self.holds(condition) == holds)
    }

    @Test(
        "A comparison with a missing variable is a dead letter, unless `exists` guards it",
        arguments: [
            ("data.missing == 1", nil), ("data.missing != 1", nil), ("1 < data.missing", nil),
            ("data.missing in [1]", nil), ("data.country.deeper == 1", nil), ("{{tenants}} == 'eu'", nil),
            ("time > '2026'", nil), ("data.missing == 1 and exists data.missing", nil),
            ("exists data.missing and data.missing == 1", false),
            ("not exists data.missing or data.missing == 1", true),
            ("data.yes or data.missing == 1", true), ("data.no and data.missing == 1", false),
            ("exists data.nothing", true), ("exists data.lines.1", true), ("exists data.lines.2", false),
            ("exists {{data.empty}}", true), ("exists subject", true), ("exists time", false),
        ] as [(String, Bool?)]
    )
    func missing(condition: String, holds: Bool?) throws {
        #expect(try self.holds(condition) == holds)
    }

    @Test("The missing variable of a comparison is named, and each rule is evaluated separately")
    func named() throws {
        let engine = try Rules.engine(
            """
            rules:
              - {event: com.example.order.shipped, name: a, when: data.gone > 1, recipient: r, cancel: x}
              - {event: com.example.order.shipped, name: b, when: exists data.a, recipient: r, cancel: x}
            """
        )
        let (outputs, failures) = Rules.apply(engine, .sample(data: #"{"a":1}"#))
        #expect(outputs.count == 1)
        #expect(failures.map(\.rule) == ["a"])
        #expect(failures.first?.error.field == "data.gone")
    }

    @Test("An event without JSON data has no data variables")
    func noData() throws {
        #expect(try holds("exists data or exists data.x", "") == false)
        var event = BusinessEvent.sample(data: "{")
        event.dataContentType = "text/plain"
        let engine = try Rules.rule("content: {body: x}\nwhen: exists data.x")
        guard case .skipped = engine.apply(to: event) else {
            Issue.record("expected skipped")
            return
        }
    }

    @Test(
        "An invalid expression is refused with its line and column",
        arguments: [
            ("data.a =", 19, "`==`"), ("data.a = 1", 19, "`==`"), ("data.a == ", 22, "the end"), ("== 1", 12, "`==`"),
            ("data.a == 1 2", 24, "found a value"), ("data.a and", 22, "the end"), ("(data.a", 19, "`)`"),
            ("data.a)", 18, "`)`"), ("data.a in 1", 22, "`[`"), ("data.a in []", 23, "list"),
            ("data.a in [data.b]", 23, "list"), ("data.a in [1,]", 25, "list"), ("data.a in [1", 24, "`]`"),
            ("data.a not in [1]", 19, "before the whole"), ("1 < data.a < 3", 23, "one comparison"),
            ("data.a =~ 'x'", 19, "regular expressions"), ("data.a matches 'x'", 19, "regular expressions"),
            ("data.a && data.b", 19, "`and`"), ("!data.a", 12, "`not`"), ("exists 1", 19, "a path"),
            ("'a'", 12, "alone"),
            ("1", 12, "alone"), ("data.a == 'x", 22, "closing"), ("data.a == 'x\\n'", 24, "`\\`"),
            ("data.a == 01", 22, "number"),
            ("data.a == 1x", 22, "number"), ("data.a == 1e999", 22, "too large"),
            ("data.a == shipped", 22, "'shipped'"),
            ("data.a AND data.b", 19, "lower case"), ("data.a == 1 # x", 24, "`#`"), ("data..a", 12, "empty"),
            ("{{data.a", 12, "`}}`"), ("{{#data.a}}", 12, "sections"), ("{data.a}", 12, "`{`"),
            ("item.x", 12, "`recipients`"),
            ("", 12, "empty"), (" ", 13, "empty"), ("data.a == 1;", 23, "`;`"),
        ]
    )
    func refused(condition: String, column: Int, words: String) throws {
        let found = Rules.problems(Rules.text("content: {body: x}\nwhen: \(Rules.quoted(condition))"))
        #expect(found.count == 1)
        #expect(found.first?.line == 7)
        #expect(found.first?.message.contains(words) == true, "\(found)")
        // A mistake in a text with escapes is reported at the start of the text.
        if !condition.contains("\\"), condition.contains(where: { $0 != " " }) {
            #expect(found.first?.column == column, "\(found)")
        }
    }

    @Test("In a text of several lines the position is given as a character")
    func folded() throws {
        let found = Rules.problems(Rules.text("content: {body: x}\nwhen: >\n  data.a == 1\n  and data.b = 2"))
        #expect(found.map(\.line) == [7])
        #expect(found.first?.message.contains("(character 24)") == true, "\(found)")
    }

    @Test("An expression is bounded in length and depth, before either costs anything")
    func bounds() throws {
        let long = "data.a == 1" + String(repeating: " or data.a == 1", count: 300)
        #expect(Rules.problems(Rules.text("content: {body: x}\nwhen: \(long)")).map(\.line) == [7])
        let huge = String(repeating: "(", count: 100_000)
        #expect(Rules.problems(Rules.text("content: {body: x}\nwhen: \"\(huge)\"")).map(\.line) == [7])
        let deep = String(repeating: "(", count: 33) + "true" + String(repeating: ")", count: 33)
        #expect(throws: TemplateError.self) { try ExpressionParser.parse(deep) }
        #expect(throws: TemplateError.self) {
            try ExpressionParser.parse(String(repeating: "not ", count: 40) + "true")
        }
        let legal = String(repeating: "(", count: 31) + "true" + String(repeating: ")", count: 31)
        #expect(try ExpressionParser.parse(legal) == .constant(true))
        let wide = "true" + String(repeating: " and true", count: 450)
        #expect(try holds(wide) == true)
    }

    @Test("No combination of an expression's characters breaks the parser or the evaluation")
    func anything() throws {
        var generator = SeededGenerator(seed: 42)
        let pieces = [
            "data.a", "data.b.0", "{{tenant}}", "{{", "}}", "(", ")", "[", "]", ",", "==", "!=", "<", ">=", "and", "or",
            "not",
            "in", "exists", "'x'", "\"", "\\", "1", "-", "1.5e3", "true", "null", "é", "\u{0}", " ", "\n", "item",
            "time",
        ]
        var parsed = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...9, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined(separator: " ")
            guard let condition = try? ExpressionParser.parse(text),
                !condition.variables.contains(where: { $0.root == .item })
            else { continue }
            parsed += 1
            let rule = Rule<VariablePath>(
                name: "n",
                line: 1,
                event: "e",
                when: condition,
                application: nil,
                recipients: .one(try Template("r")),
                identifier: try Template("i"),
                version: nil,
                action: .cancel(.all)
            )
            let engine = RuleEngine(rules: RuleSet([rule]), defaultApplication: "shop")
            _ = engine.apply(to: .sample(type: "e", data: #"{"a":[1],"b":["x"]}"#))
        }
        #expect(parsed > 100)
    }
}
