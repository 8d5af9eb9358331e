import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationProducer

@Suite("Events without a rule")
struct UnmatchedEventsTests {
    @Test(
        "A star stands for any characters, and everything else for itself",
        arguments: [
            ("com.acme.*", "com.acme.order", true), ("com.acme.*", "com.acme.", true),
            ("com.acme.*", "com.acme", false),
            ("com.acme.*", "com.acme.a.b", true), ("*", "a", true), ("*.created", "com.acme.created", true),
            ("*.created", "com.acme.created.v1", false), ("com.*.v1", "com.acme.order.v1", true),
            ("com.*.v1", "com.v1", false),
            ("a*b*b", "ab", false), ("a*b*b", "abb", true), ("a*aa", "aaa", true), ("a*aa", "aa", false),
            ("*a*b*", "xxaxxbxx", true), ("*a*b*", "ba", false), ("a**b", "ab", true), ("a", "a", true),
            ("a", "ab", false),
            ("a.b", "axb", false), ("\u{e9}*", "e\u{301}a", false),
        ]
    )
    func pattern(pattern: String, type: String, isMatch: Bool) {
        #expect(EventPattern(pattern).matches(type) == isMatch)
    }

    private static let rules = """
        ignore: [com.acme.audit.*, com.acme.ping]
        rules:
          - {event: com.acme.audit.alarm, recipient: ana, identifier: i, content: {title: T}}
        """

    private func outcome(_ engine: RuleEngine, _ type: String) -> String {
        switch engine.apply(to: .sample(type: type, data: "{}")) {
        case .noRule: "no rule"
        case .ignored: "ignored"
        case .skipped: "skipped"
        case .applied: "applied"
        }
    }

    @Test("A type without a rule is ignored when a pattern or the setting says so; a rule comes first")
    func ignored() throws {
        let engine = try Rules.engine(Self.rules)
        #expect(outcome(engine, "com.acme.audit.login") == "ignored" && outcome(engine, "com.acme.ping") == "ignored")
        #expect(outcome(engine, "com.acme.audit.alarm") == "applied")
        #expect(outcome(engine, "com.acme.pong") == "no rule")
        let rules = try RuleFile.parse(Self.rules, file: "rules.yaml")
        let all = RuleEngine(rules: rules, defaultApplication: "shop", unmatched: .ignore)
        #expect(outcome(all, "com.acme.pong") == "ignored" && outcome(all, "com.acme.audit.alarm") == "applied")
    }

    @Test("A list that is none, and entries that are no types, are problems with their line")
    func problems() {
        func lines(_ ignore: String) -> [Int] {
            let rule = "rules:\n  - {event: e, recipient: r, identifier: i, content: {title: T}}\n"
            return Rules.problems("\(rule)\(ignore)\n").map(\.line)
        }
        #expect(lines("ignore: [a, \"b.*\"]") == [])
        #expect(lines("ignore: a") == [3])
        #expect(lines("ignore:\n  - a\n  - {b: c}\n  - \"\"\n  - \"{{data.x}}\"\n  - 5") == [5, 6, 7, 8])
        #expect(lines("ignore: [\(String(repeating: "x", count: 257))]") == [3])
        #expect(lines("ignore: [\(Array(repeating: "x", count: 101).joined(separator: ","))]") == [3])
    }

    @Test("A rule whose event has a star gets a warning: it is for that one type")
    func warning() throws {
        let text = """
            rules:
              - {event: com.acme.order, recipient: r, identifier: i, content: {title: T}}
              - {event: com.acme.*, recipient: r, identifier: i, content: {title: T}}
            """
        let rules = try RuleFile.parse(text, file: "rules.yaml")
        #expect(rules.warnings.map(\.line) == [3] && rules.warnings[0].message.contains("`event: com.acme.*`"))
        #expect(rules.plan(for: "com.acme.*") != nil && rules.plan(for: "com.acme.other") == nil)
    }
}
