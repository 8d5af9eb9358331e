import Testing

@testable import NotificationProducer

@Suite("Invalid rule files")
struct RuleFileErrorTests {
    private static func rule(_ fields: String) -> String {
        """
        rules:
          - event: e
            recipient: r
            identifier: i
        \(fields.split(separator: "\n", omittingEmptySubsequences: false).map { "    " + $0 }.joined(separator: "\n"))
        """
    }

    @Test("Every problem of a file is reported at once, each with its line")
    func allAtOnce() {
        let found = Rules.problems(
            """
            rules:
              - event: com.example.a
                recipent: "{{data.customer}}"
                identifier: "order-{{data.order"
                content: {title: 5, titel: x}
                trigger: {type: timeInterval, timeInterval: 0}
              - event: com.example.b
                recipient: "{{data.customer}}"
                cancel: "order-{{data.order}}"
                content: {title: x}
                state: gone
            """
        )
        #expect(found.map(\.line) == [2, 3, 4, 5, 5, 6, 10, 11])
        let text = RuleFileError(file: "rules.yaml", problems: found).description
        #expect(text.contains("rules.yaml:3:5: a rule has an unknown key `recipent`"))
        #expect(text.contains("rules.yaml:2:5: the rule is missing `recipient`"))
    }

    @Test(
        "A wrong field is reported at its line",
        arguments: [
            ("content: {body: x}\nwhen: [a]", 6, "`when`"),
            ("content: {body: x}\nwhen: \"{{#data.x}}\"", 6, "sections"),
            ("content: {body: {{data.x}}}", 5, "quotes"),
            ("content: {body: 12}", 5, "quotes"),
            ("content: {body: yes}", 5, "quotes"),
            ("content: {body: x, badge: many}", 5, "`content.badge`"),
            ("content: {body: x, badge: \"{{data.a}}{{data.b}}\"}", 5, "`content.badge`"),
            ("content: {body: x, badge: -1}", 5, "`content.badge`"),
            ("content: {body: x, badge: .inf}", 5, "number"),
            ("content: {body: x, relevanceScore: 2}", 5, "`content.relevanceScore`"),
            ("content: {body: x, mutableContent: 1}", 5, "boolean"),
            ("content: {body: x, interruptionLevel: loud}", 5, "`content.interruptionLevel`"),
            ("content:\n  body: x\n  sound: {name: bell, loudness: 3}", 7, "loudness"),
            (
                "content:\n  body: x\n  attachments:\n    - {identifier: a, url: \"https://x/y\"}\n    - {identifier: b, uri: z}",
                9, "uri"
            ),
            ("content:\n  body: x\n  titleLocalization: {key: K, arguments: [1]}", 7, "arguments"),
            ("content:\n  body: x\n  userInfo: {a: {b: \"{{data.x\"}}", 7, "`{{`"),
            ("content:\n  body: x\n  userInfo: {\"{{data.x}}\": 1}", 7, "keys"),
            ("content:\n  badge: 1\n  mutableContent: true", 7, "`content.mutableContent`"),
            ("content:\n  badge: \"{{data.x}}\"\n  mutableContent: true", 7, "`content.mutableContent`"),
            ("content:\n  body: x\n  userInfo: {aps: {}}", 7, "`content.userInfo.aps`"),
            (
                "content:\n  body: \"{{data.x}}\"\n  interruptionLevel: passive\n  sound: {critical: true}", 8,
                "`content.sound.critical`"
            ),
            ("content: {body: x}\ntrigger: {type: sometimes}", 6, "trigger"),
            (
                "content: {body: x}\ntrigger:\n  type: timeInterval\n  timeInterval: 59\n  repeats: true", 8,
                "trigger.timeInterval"
            ),
            (
                "content: {body: x}\ntrigger: {type: calendar, dateComponents: {month: 2, hour: 9}}", 6,
                "dateComponents.day"
            ),
            ("content: {body: x}\ntrigger: at nine", 6, "mapping"),
            ("content: {body: x}\nexpiration: tomorrow", 6, "expiration"),
            ("content: {body: x}\nstate: all", 6, "only with `cancel`"),
            ("content: {body: x}\ncontents: {body: x}", 6, "`contents`"),
            ("content: {body: x}\napplication: \"\"", 6, "`application`"),
        ]
    )
    func line(fields: String, line: Int, words: String) {
        let found = Rules.problems(Self.rule(fields))
        #expect(found.contains { $0.line == line && $0.message.contains(words) }, "\(found)")
        #expect(found.count == 1, "\(found)")
    }

    @Test(
        "A file that is not a list of rules is refused",
        arguments: [
            ("", 0), ("rules:", 1), ("rules: []", 1), ("rules: 5", 1), ("- event: e", 1), ("rules:\n  - 5", 2),
            ("rule: []", 1),
            ("rules:\n  - event: {", 3), ("rules:\n\t- event: e", 2), ("a: 1\nrules: []\nrules: []", 2),
            ("--- a\n--- b", 2),
        ]
    )
    func notRules(yaml: String, line: Int) {
        let found = Rules.problems(yaml)
        #expect(!found.isEmpty)
        #expect(found.contains { $0.line == line }, "\(found)")
    }

    @Test("Two rules with the same name are refused")
    func names() {
        let rule = "{event: e, name: n, recipient: r, cancel: i}"
        let found = Rules.problems("rules:\n  - \(rule)\n  - \(rule)")
        #expect(found.map(\.line) == [3])
    }

    @Test("A missing file and one that is not UTF-8 are refused by name")
    func unreadable() {
        let error = #expect(throws: RuleFileError.self) { try RuleFile.load(path: "/nowhere/rules.yaml") }
        #expect(error?.file == "/nowhere/rules.yaml")
    }
}
