import Foundation
import NotificationModel
import Testing

@Suite("carillon rules check")
struct RulesCheckTests {
    private static let rules = """
        defaults: {expiration: {after: 60}}
        rules:
          - event: com.example.a
            name: hello
            when: data.n > 1
            recipients: "{{data.who}}"
            identifier: hello
            content: {title: "Hello {{data.n}}"}
          - {event: com.example.a, name: bye, when: exists data.bye, recipient: "{{data.bye}}", cancel: hello, state: pending}
        """

    private func check(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = ""
    ) async throws -> (status: Int32, child: ChildProcess) {
        let child = try ChildProcess(
            try Tools.product("carillon"),
            ["rules", "check"] + arguments,
            environment: environment,
            input: Data(input.utf8)
        )
        return (try await child.ended(), child)
    }

    private func event(_ data: String, type: String = "com.example.a") -> String {
        #"{"specversion":"1.0","id":"1","source":"/s","type":"\#(type)","time":"2026-11-21T09:00:00Z","data":\#(data)}"#
    }

    @Test("a good file is listed, and programs get the list as JSON")
    func good() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.rules, to: "rules.yaml")
        let text = try await check([path])
        #expect(text.status == 0, "\(text.child.lastWords)")
        #expect(text.child.outputText.contains("2 rules for 1 type of events"))
        #expect(text.child.outputText.contains("line 3: com.example.a requests, as hello"))
        #expect(text.child.outputText.contains("line 9: com.example.a cancels, as bye"))
        let json = try await check([path, "--json"])
        #expect(json.status == 0)
        let object = try #require(JSONText.object(json.child.standardOutput))
        #expect((object["problems"] as? [Any])?.isEmpty == true)
        #expect((object["rules"] as? [[String: Any]])?.map { $0["name"] as? String } == ["hello", "bye"])
    }

    @Test("every problem of a bad file is reported with its line, with status 1")
    func bad() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            "rules:\n  - event: e\n    recipent: r\n    identifier: \"{{#a}}\"\n    when: data.a = 1\n    content: {body: x}\n",
            to: "rules.yaml"
        )
        let text = try await check([path])
        #expect(text.status == 1)
        #expect(text.child.outputText.isEmpty)
        for words in [
            "rules.yaml:3:5: a rule has an unknown key `recipent`; did you mean `recipient`?", "rules.yaml:4:",
            "rules.yaml:5:18:",
        ] {
            #expect(text.child.errorText.contains(words), "\(text.child.lastWords)")
        }
        let json = try await check([path, "--json"])
        #expect(json.status == 1)
        let problems = JSONText.object(json.child.standardOutput)?["problems"] as? [[String: Any]] ?? []
        #expect(problems.compactMap { $0["line"] as? Int } == [2, 3, 4, 5])
        for missing in [folder.file("none.yaml"), folder.path] {
            let answer = try await check([missing])
            #expect(answer.status == 66)
            #expect(answer.child.errorText.hasPrefix("carillon rules check: \(missing): "), "\(answer.child.lastWords)")
            #expect(answer.child.errorText.split(separator: "\n").count == 1)
        }
        #expect(try await check([folder.file("none.yaml")]).child.errorText.hasSuffix("none.yaml: does not exist\n"))
    }

    @Test("quotations of a file contain no terminal control sequences, in text and in JSON")
    func hostile() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            "rules:\n  - {event: e, \"re\\e[31mci\\n\\u202Epient\": r, identifier: \"{{a\\u0085b}}\", content: {body: x}}\n",
            to: "rules.yaml"
        )
        for arguments in [[path], [path, "--json"]] {
            let answer = try await check(arguments)
            #expect(answer.status == 1)
            let said = answer.child.outputText + answer.child.errorText
            #expect(
                !said.unicodeScalars.contains { $0 != "\n" && PrintableText.isEscaped($0) },
                "\(said.debugDescription)"
            )
            #expect(said.contains(arguments.count == 1 ? #"`re\u{1b}[31mci\u{a}\u{202e}pient`"# : #"\u202epient"#))
        }
    }

    @Test("the default application is that of the services: an option, the environment, the settings file")
    func application() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.rules, to: "rules.yaml")
        let event = try folder.write(event(#"{"n":2,"who":["ana"]}"#), to: "event.json")
        let settings = try folder.write("http: {port: 1}\napplication:\n  default: filed\n", to: "carillon.yaml")
        func key(_ arguments: [String], _ environment: [String: String] = [:]) async throws -> String? {
            let answer = try await check([path, "--event", event, "--json"] + arguments, environment: environment)
            let records = JSONText.object(answer.child.standardOutput)?["records"] as? [[String: Any]]
            return records?.first?["key"] as? String
        }
        let variable = ["CARILLON_APPLICATION_DEFAULT": "set"]
        #expect(try await key([]) == "default/ana/hello")
        #expect(try await key(["--config", settings]) == "filed/ana/hello")
        #expect(try await key(["--config", settings], variable) == "set/ana/hello")
        #expect(try await key(["--application", "given"], variable) == "given/ana/hello")
        let wrong = try await check([path], environment: ["CARILLON_APPLICATION_DEFAULT": "a\u{7}"])
        #expect(wrong.status == 64)
        #expect(wrong.child.errorText.contains("application.default"))
        #expect(try await check([path, "--config", folder.file("none.yaml")]).status == 66)
    }

    @Test("events that can overtake each other are noted, with samples whose keys differ")
    func overtaking() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            """
            rules:
              - {event: com.example.a, recipient: "{{data.who}}", identifier: x, content: {body: B}}
              - {event: com.example.b, recipient: "{{data.who}}", cancel: x}
            """,
            to: "rules.yaml"
        )
        let list = try await check([path])
        #expect(list.status == 0)
        #expect(
            list.child.outputText.contains("note: line 3 cancels what line 2 requests: com.example.a and com.example.b")
        )
        let first = event(#"{"who":"ana"}"#)
        func warnings(_ cancel: String) async throws -> [String] {
            let answer = try await check([
                path, "--event", try folder.write(first, to: "a.json"), "--event",
                try folder.write(cancel, to: "b.json"),
                "--json",
            ])
            #expect(answer.status == 0, "\(answer.child.lastWords)")
            let lines = answer.child.outputLines.map { JSONText.object(Data($0.utf8)) }
            #expect(lines.count == 2 && lines.first??["warnings"] as? [String] == [])
            return lines.last??["warnings"] as? [String] ?? ["none"]
        }
        let cancel = event(#"{"who":"ana"}"#, type: "com.example.b")
        #expect(try await warnings(cancel).isEmpty)
        let other = cancel.replacingOccurrences(of: #""id""#, with: #""subject":"ana","id""#)
        let told = try await warnings(other)
        #expect(told.count == 1)
        #expect(told.first?.contains("b.json can overtake") == true && told.first?.contains("'ana' and '/s'") == true)
        // Of another recipient.
        #expect(try await warnings(other.replacingOccurrences(of: #""who":"ana""#, with: #""who":"ben""#)).isEmpty)
    }

    @Test("the records of an event are shown, from a file and from standard input")
    func published() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.rules, to: "rules.yaml")
        let event = event(#"{"n":2,"who":["ana","b/n"],"bye":"cleo"}"#)
        let text = try await check([
            path, "--event", try folder.write(event, to: "event.json"), "--application", "shop",
        ])
        #expect(text.status == 0, "\(text.child.lastWords)")
        for words in [
            "request shop/ana/hello, id ", "request shop/b%2Fn/hello, id ", "removal shop/cleo/hello, id ",
            "    \"title\": \"Hello 2\"", "  \"expiration\": \"2026-11-21T09:01:00.000Z\"", "  \"remove\": \"pending\"",
        ] {
            #expect(text.child.outputText.contains(words), "\(text.child.outputText)")
        }
        let json = try await check([path, "--event", "-", "--json"], input: event)
        #expect(json.status == 0)
        let object = try #require(JSONText.object(json.child.standardOutput))
        #expect(object["outcome"] as? String == "published")
        let records = object["records"] as? [[String: Any]] ?? []
        #expect(records.map { $0["kind"] as? String } == ["request", "request", "removal"])
        #expect(records.first?["key"] as? String == "default/ana/hello")
        let value = records.first?["value"] as? [String: Any]
        #expect(value?["requestId"] as? String == records.first?["requestId"] as? String)
    }

    @Test(
        "an event without records is shown with the reason: skipped gives status 0, a dead letter status 1",
        arguments: [
            (#"{"n":1}"#, "com.example.a", 0, "skipped", nil),
            (#"{"who":[]}"#, "com.example.a", 1, "dead-lettered", "missing-variable"),
            (#"{"n":2,"who":"ana"}"#, "com.example.a", 1, "dead-lettered", "invalid"),
            (#"{"n":2,"who":["ana",null]}"#, "com.example.a", 1, "dead-lettered", "missing-variable"),
            ("{}", "com.example.b", 1, "dead-lettered", "no-rule"),
            ("{", "com.example.a", 1, "dead-lettered", "invalid"),
        ] as [(String, String, Int32, String, String?)]
    )
    func nothing(data: String, type: String, status: Int32, outcome: String, reason: String?) async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.rules, to: "rules.yaml")
        let json = try await check([path, "--event", "-", "--json"], input: event(data, type: type))
        #expect(json.status == status, "\(json.child.lastWords)")
        let object = try #require(JSONText.object(json.child.standardOutput))
        #expect(object["outcome"] as? String == outcome)
        let failures = object["failures"] as? [[String: Any]] ?? []
        #expect(failures.first?["reason"] as? String == reason)
        let text = try await check([path, "--event", "-"], input: event(data, type: type))
        #expect(text.status == status)
        #expect(text.child.outputText.contains(reason ?? "skipped"), "\(text.child.outputText)")
    }

    @Test("what a file probably does not mean is a warning, in text and in JSON")
    func warnings() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            Self.rules.replacingOccurrences(of: "com.example.a", with: "com.example.*"),
            to: "rules.yaml"
        )
        let text = try await check([path])
        #expect(text.status == 0)
        #expect(text.child.outputText.contains("warning: \(path):3:"), "\(text.child.outputText)")
        let json = try #require(JSONText.object(try await check([path, "--json"]).child.standardOutput))
        #expect((json["warnings"] as? [[String: Any]])?.map { $0["line"] as? Int } == [3, 9])
        let event = try await check([path, "--event", "-"], input: event("{}"))
        #expect(event.child.errorText.contains("warning: \(path):3:"), "\(event.child.lastWords)")
    }

    @Test("events that are ignored by the file, the variable or the settings file give status 0")
    func ignored() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("ignore: [com.example.seen.*]\n\(Self.rules)", to: "rules.yaml")
        let settings = try folder.write("rules: {unmatched: ignore}\n", to: "carillon.yaml")
        func outcome(_ type: String, _ arguments: [String] = [], _ environment: [String: String] = [:]) async throws
            -> String?
        {
            let answer = try await check(
                [path, "--event", "-", "--json"] + arguments,
                environment: environment,
                input: event("{}", type: type)
            )
            let outcome = JSONText.object(answer.child.standardOutput)?["outcome"] as? String
            #expect(answer.status == (outcome == "ignored" ? 0 : 1), "\(answer.child.lastWords)")
            return outcome
        }
        #expect(try await outcome("com.example.seen.page") == "ignored")
        #expect(try await outcome("com.example.b") == "dead-lettered")
        #expect(try await outcome("com.example.b", ["--config", settings]) == "ignored")
        #expect(try await outcome("com.example.b", [], ["CARILLON_RULES_UNMATCHED": "ignore"]) == "ignored")
        let wrong = try await check([path], environment: ["CARILLON_RULES_UNMATCHED": "drop"])
        #expect(
            wrong.status == 64 && wrong.child.errorText.contains("one of dead-letter, ignore"),
            "\(wrong.child.lastWords)"
        )
    }

    @Test("a wrong command line is status 64, an event that is not there status 66")
    func usage() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Self.rules, to: "rules.yaml")
        #expect(try await check([]).status == 64)
        #expect(try await check([path, "--evnt", "x"]).status == 64)
        #expect(try await check([path, "--application", ""]).status == 64)
        let missing = try await check([path, "--event", folder.file("none.json")])
        #expect(missing.status == 66)
        #expect(missing.child.errorText.contains("none.json does not exist"))
    }
}
