import Foundation
import Testing

@testable import NotificationProducer

@Suite("Rule files that exceed limits or are not files")
struct RuleFileBoundsTests {
    private func load(_ bytes: Data) throws -> RuleFileError? {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString).yaml")
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            _ = try RuleFile.load(path: file.path)
            return nil
        } catch {
            #expect(error.file == file.path)
            return error
        }
    }

    private static let good = "rules: [{event: e, recipient: r, cancel: i}]\n"

    @Test("A file of more than 1 MiB is refused before it is parsed")
    func large() throws {
        let filler = String(repeating: "# a comment that is as good as any other\n", count: 250_000)
        #expect(filler.utf8.count > 10_000_000)
        let error = try load(Data((Self.good + filler).utf8))
        #expect(error?.problems.map(\.message) == ["has more than 1048576 bytes, the limit of a rule file"])
        let fits = Data((Self.good + filler).utf8.prefix(RuleFile.maximumBytes))
        #expect(try load(fits) == nil)
    }

    @Test("Bytes that are not UTF-8 are refused, a byte order mark is accepted")
    func encoding() throws {
        #expect(try load(Data(Self.good.utf8) + [0x23, 0xC3, 0x28])?.problems.first?.message == "is not UTF-8")
        #expect(try load(Self.good.data(using: .utf16) ?? Data())?.problems.first?.message == "is not UTF-8")
        #expect(try load(Data([0xEF, 0xBB, 0xBF]) + Data(Self.good.utf8)) == nil)
        #expect(try load(Data("rules: []\u{0}\n".utf8))?.problems.isEmpty == false)
    }

    @Test("A folder, a device and a missing file each get their own message")
    func noFile() throws {
        func message(_ path: String) -> String? {
            do {
                _ = try RuleFile.load(path: path)
                return nil
            } catch {
                return error.problems.first?.message
            }
        }
        #expect(message(FileManager.default.temporaryDirectory.path) == "is a folder, not a file of rules")
        #expect(message("/dev/zero") == "is not a regular file")
        #expect(message("/nowhere/rules.yaml") == "does not exist")
    }

    @Test("A link to a file is accepted")
    func link() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("carillon-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(Self.good.utf8).write(to: folder.appendingPathComponent("real.yaml"))
        let link = folder.appendingPathComponent("rules.yaml")
        try FileManager.default.createSymbolicLink(
            at: link,
            withDestinationURL: folder.appendingPathComponent("real.yaml")
        )
        #expect(try RuleFile.load(path: link.path).count == 1)
    }

    // MARK: YAML

    @Test("Nested aliases are refused where they exceed the limit", arguments: ["[%]", "{a: [%]}", "? [%]\n  : x"])
    func billionLaughs(form: String) {
        var yaml = "a0: &a0 \"lol lol lol lol lol lol\"\n"
        for level in 1...12 {
            let items = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            yaml += "a\(level): &a\(level)\n  \(form.replacing("%", with: items))\n"
        }
        let found = Rules.problems(yaml + "rules: *a12\n")
        #expect(found.count == 1)
        #expect(found.first?.message.contains("aliases") == true, "\(found)")
        #expect(found.first?.line ?? 0 > 5)
    }

    @Test("A few aliases work like their contents, and stars and ampersands like any text")
    func aliases() throws {
        let engine = try Rules.engine(
            """
            rules:
              - {event: com.example.order.shipped, name: "a & b *c", recipient: a, identifier: i, content: &c {body: "R&D *now* *x"}}
              - {event: com.example.order.shipped, recipient: b, identifier: i, content: *c}
            """
        )
        let (outputs, _) = Rules.apply(engine, .sample(data: "{}"))
        #expect(outputs.count == 2)
        #expect(String(decoding: outputs[1].value, as: UTF8.self).contains("R&D *now* *x"))
        #expect(Rules.problems("rules: *nowhere").first?.line == 1)
        #expect(Rules.problems("a: &a [*a]\nrules: *a").isEmpty == false)
        #expect(Rules.problems("rules: &b *nowhere").isEmpty == false)
    }

    @Test(
        "Endless nesting is refused and breaks nothing",
        arguments: [
            String(repeating: "[", count: 500_000), String(repeating: "{a: ", count: 200_000),
            String(repeating: "- ", count: 400_000),
            "rules:\n" + (0..<1_000).map { String(repeating: " ", count: $0) + "a:\n" }.joined(),
            "rules: " + String(repeating: "[", count: 990) + String(repeating: "]", count: 990),
            "rules: [{event: e, recipient: r, identifier: i, content: {userInfo: "
                + String(repeating: "{a: ", count: 900) + "1" + String(repeating: "}", count: 900) + "}}]",
        ]
    )
    func nesting(yaml: String) {
        #expect(!Rules.problems(yaml).isEmpty)
    }

    @Test(
        "A key that appears twice is refused at its line",
        arguments: [
            ("rules:\n  - event: e\n    recipient: r\n    cancel: i\n    recipient: s", 3),
            ("rules:\n  - event: e\n    recipient: r\n    cancel: i\n    \"recipient\": s", 3),
            (
                "rules:\n  - event: e\n    recipient: r\n    identifier: i\n    content:\n      body: x\n      body: y",
                6
            ),
            ("defaults: {}\nrules: []\ndefaults: {}", 1),
        ]
    )
    func repeatedKeys(yaml: String, line: Int) {
        let found = Rules.problems(yaml)
        #expect(found.map(\.line) == [line], "\(found)")
        #expect(found.first?.message.contains("twice") == true)
    }

    // MARK: Templates

    @Test(
        "Sections and partials are refused at their line, closed or not, without further problems",
        arguments: [
            ("body: \"{{#a}}\"", 7), ("body: \"{{#data.items}}x{{/data.items}}\"", 7), ("body: \"{{> rules}}\"", 7),
            ("body: |\n    one\n    {{> rules.yaml}}\n    {{> rules.yaml}}", 9),
            ("body: >\n    one\n    {{#a}}{{#a}}{{#a}}", 9),
            ("body: \"one\n    two {{#a}}\"", 8), ("body: |\n    {{data.x", 8), ("body: |\n    one\n\n    two }}", 10),
            ("title: \"{{data.ok}}\"\n  body: \"{{^a}}\"", 8),
        ]
    )
    func mustache(content: String, line: Int) {
        let found = Rules.problems(Rules.text("content:\n  \(content)"))
        #expect(found.map(\.line) == [line], "\(found)")
    }

    // MARK: Sizes and problems

    @Test("At most a hundred problems are reported, with the number of others")
    func manyProblems() {
        let rules = (0..<1_000).map { "  - {evnt: e\($0), recipient: r, cancel: i}" }.joined(separator: "\n")
        let found = Rules.problems("rules:\n" + rules)
        #expect(found.count == 101)
        #expect(found.last?.message == "and 1900 more")
        #expect(found.prefix(2).contains { $0.message.contains("did you mean `event`?") })
    }

    @Test("The size of a file with defaults and localizations applied is bounded")
    func weight() {
        let text = String(repeating: "x", count: 200_000)
        let rules = (0..<1_000).map { "  - {event: e\($0), recipient: r, identifier: i, content: {title: t}}" }
        let found = Rules.problems("defaults: {content: {body: \(text)}}\nrules:\n" + rules.joined(separator: "\n"))
        #expect(found.count == 1)
        #expect(found.first?.message.contains("67108864") == true)
        #expect(found.first?.line ?? 0 > 300)
    }

    @Test(
        "An unknown key is reported with a suggestion",
        arguments: [
            ("recipent", "did you mean `recipient`?"), ("Content", "did you mean `content`?"),
            ("localisations", "did you mean `localizations`?"), ("collapse_window", "did you mean `collapseWindow`?"),
            ("somethingElse", "allowed: application, cancel,"),
        ]
    )
    func suggestion(key: String, words: String) {
        let found = Rules.problems(Rules.text("content: {body: x}\n\(key): x"))
        #expect(found.map(\.line) == [7])
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }
}
