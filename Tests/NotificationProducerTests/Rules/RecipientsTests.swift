import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Recipients from a list")
struct RecipientsTests {
    private static let content = "content: {body: \"Hello\"}"

    private func fanOut(_ recipients: String, _ more: String = Self.content) throws -> RuleEngine {
        try Rules.rule("recipients: \(recipients)\n\(more)", recipient: nil)
    }

    @Test("Each element of a list of texts or numbers becomes its own request")
    func texts() throws {
        let engine = try fanOut("\"{{data.customers}}\"")
        let (outputs, failures) = Rules.apply(engine, .sample(data: #"{"customers":["ana", "b\u00e9n",42,true]}"#))
        #expect(failures.isEmpty)
        #expect(outputs.map(\.key.recipient) == ["ana", "bén", "42", "true"])
        #expect(Set(outputs.map(\.requestID)).count == 4)
        for output in outputs {
            let id = RequestID.derive(source: "/shop", id: "e1", rule: "n", key: output.key)
            #expect(output.requestID == id)
            guard case .request(let request) = try RequestRecord.scan(output.value, key: output.key) else {
                Issue.record("not a request")
                return
            }
            #expect(request.requestID == id)
        }
    }

    @Test("Templates refer to the current element as `item`, in every part of a request")
    func objects() throws {
        let engine = try fanOut(
            #"{from: "{{data.users}}", id: "{{item.id}}"}"#,
            """
            application: "{{item.app}}"
            version: "{{item.revision}}"
            content: {body: "{{item.name}}: {{data.text}}", badge: "{{item.badge}}"}
            trigger: {type: timeInterval, timeInterval: "{{item.wait}}"}
            expiration: {after: "{{item.lifetime}}"}
            collapseWindow: "{{item.window}}"
            """
        )
        var event = BusinessEvent.sample(
            data: #"""
                {"text":"Hi","users":[
                 {"id":"a","app":"x","name":"Ana \"A\"","badge":1,"wait":60,"revision":7,"lifetime":1.5,"window":3},
                 {"id":"b","app":"y","name":"Ben","badge":2,"wait":61,"revision":"8","lifetime":60,"window":0}]}
                """#
        )
        event.time = Timestamp(rfc3339: "2026-11-21T09:00:00Z")
        let (outputs, failures) = Rules.apply(engine, event)
        #expect(failures.isEmpty, "\(failures)")
        #expect(outputs.map(\.key.description) == ["x/a/i", "y/b/i"])
        let requests = try outputs.map { try JSONValue.parse($0.value) }
        #expect(requests.map { $0.value(at: "content.body")?.stringValue } == ["Ana \"A\": Hi", "Ben: Hi"])
        #expect(requests.map { $0.value(at: "content.badge")?.integerValue } == [1, 2])
        #expect(requests.map { $0.value(at: "trigger.timeInterval")?.integerValue } == [60, 61])
        #expect(requests.map { $0["version"]?.integerValue } == [7, 8])
        #expect(requests.map { $0["collapseWindow"]?.integerValue } == [3, 0])
        #expect(
            requests.map { $0["expiration"]?.stringValue } == ["2026-11-21T09:00:01.500Z", "2026-11-21T09:01:00.000Z"]
        )
    }

    @Test("A list can also select whose notifications are cancelled")
    func cancel() throws {
        let engine = try Rules.engine(
            "rules: [{event: com.example.order.shipped, recipients: \"{{data.c}}\", cancel: i, version: \"{{data.v}}\"}]"
        )
        let (outputs, _) = Rules.apply(engine, .sample(data: #"{"c":["a","b"],"v":3}"#))
        #expect(outputs.map(\.isRemoval) == [true, true])
        for output in outputs {
            guard case .removal(let removal) = try RequestRecord.scan(output.value, key: output.key) else {
                Issue.record("not a removal")
                return
            }
            #expect(removal.version == 3)
            #expect(removal.scope == .all)
        }
    }

    @Test("Elements with the same key give one request, that of the first")
    func duplicates() throws {
        let engine = try fanOut(
            #"{from: "{{data.users}}", id: "{{item.id}}"}"#,
            "content: {body: \"{{item.name}}\"}"
        )
        let (outputs, failures) = Rules.apply(
            engine,
            .sample(data: #"{"users":[{"id":"a","name":"1"},{"id":"b","name":"2"},{"name":"3","id":"\u0061"}]}"#)
        )
        #expect(failures.isEmpty)
        #expect(outputs.map(\.key.recipient) == ["a", "b"])
        #expect(try JSONValue.parse(outputs[0].value).value(at: "content.body") == .string("1"))
    }

    @Test("With an identifier per element, one recipient can have several")
    func identifiers() throws {
        let engine = try Rules.engine(
            """
            rules:
              - event: com.example.order.shipped
                recipients: {from: "{{data.lines}}", id: "{{item.who}}"}
                identifier: "line-{{item.n}}"
                content: {body: x}
            """
        )
        let (outputs, _) = Rules.apply(engine, .sample(data: #"{"lines":[{"who":"a","n":1},{"who":"a","n":2}]}"#))
        #expect(outputs.map(\.key.description) == ["shop/a/line-1", "shop/a/line-2"])
    }

    @Test(
        "A list at its limit is accepted, a longer one is refused as a whole",
        arguments: [(nil, 1_000), (3, 3), (10_000, 10_000)]
    )
    func limit(limit: Int?, count: Int) throws {
        let engine = try fanOut(
            limit.map { "{from: \"{{data.c}}\", limit: \($0)}" } ?? "\"{{data.c}}\""
        )
        func event(_ count: Int) -> BusinessEvent {
            .sample(data: "{\"c\":[\((0..<count).map { "\"u\($0)\"" }.joined(separator: ","))]}")
        }
        let (outputs, failures) = Rules.apply(engine, event(count))
        #expect(failures.isEmpty)
        #expect(outputs.count == count)
        let error = try Rules.failure(engine, event(count + 1))
        #expect(error.reason == .tooManyRecipients)
        #expect(error.field == "recipients")
        #expect(error.detail.contains("\(count)"))
    }

    @Test("A million recipients are refused without creating a request")
    func million() throws {
        let engine = try fanOut("{from: \"{{data.c}}\", limit: 10000}")
        var data = Array("{\"c\":[0".utf8)
        data.append(contentsOf: repeatElement(Array(",0".utf8), count: 999_999).joined())
        data.append(contentsOf: "]}".utf8)
        var event = BusinessEvent.sample(data: "")
        event.data = data
        #expect(try Rules.failure(engine, event).reason == .tooManyRecipients)
    }

    @Test("The records of one event are bounded in bytes, and above the limit there are none")
    func size() throws {
        let engine = try fanOut("{from: \"{{data.c}}\", limit: 10000}", "content: {body: \"{{data.text}}\"}")
        let text = String(repeating: "x", count: 100_000)
        let list = (0..<1_000).map(String.init).joined(separator: ",")
        let error = try Rules.failure(engine, .sample(data: "{\"text\":\"\(text)\",\"c\":[\(list)]}"))
        #expect(error.reason == .tooLarge)
    }

    @Test(
        "A missing or invalid list is a dead letter; an empty one does nothing",
        arguments: [
            ("{}", ReasonCode.missingVariable, "data.c"), (#"{"c":null}"#, .missingVariable, "data.c"),
            (#"{"c":"ana"}"#, .invalid, "recipients"), (#"{"c":{}}"#, .invalid, "recipients"),
        ]
    )
    func noList(data: String, reason: ReasonCode, field: String) throws {
        let engine = try fanOut("\"{{data.c}}\"")
        let error = try Rules.failure(engine, .sample(data: data))
        #expect(error.reason == reason)
        #expect(error.field == field)
        guard case .skipped = engine.apply(to: .sample(data: #"{"c":[ ]}"#)) else {
            Issue.record("expected skipped")
            return
        }
    }

    @Test("One recipient's mistake does not suppress the others, and is reported with its index")
    func partial() throws {
        let engine = try fanOut("\"{{data.c}}\"")
        let (outputs, failures) = Rules.apply(engine, .sample(data: #"{"c":["a",null,{"id":"b"},"","c"]}"#))
        #expect(outputs.map(\.key.recipient) == ["a", "c"])
        #expect(failures.count == 1)
        #expect(failures.first?.error.reason == .missingVariable)
        #expect(failures.first?.error.detail.contains("recipient 1") == true)
        #expect(failures.first?.error.detail.contains("2 more") == true)
    }

    @Test(
        "Invalid recipients are refused with their line",
        arguments: [
            ("recipients: ana", 6, "variable"), ("recipients: \"x{{data.c}}\"", 6, "variable"),
            ("recipients: [a, b]", 6, "text"),
            ("recipients: \"{{item.c}}\"", 6, "from"), ("recipients: {id: \"{{item.id}}\"}", 6, "missing `from`"),
            ("recipients:\n  from: \"{{data.c}}\"\n  id: x", 8, "is constant"),
            ("recipients:\n  from: \"{{data.c}}\"\n  limit: 0", 8, "1 to 10000"),
            ("recipients:\n  from: \"{{data.c}}\"\n  limit: 10001", 8, "1 to 10000"),
            ("recipients:\n  from: \"{{data.c}}\"\n  limit: many", 8, "1 to 10000"),
            ("recipients:\n  from: \"{{data.c}}\"\n  max: 5", 8, "max"),
            ("recipients: \"{{data.c}}\"\nrecipient: r", 7, "one of them"),
        ]
    )
    func refused(fields: String, line: Int, words: String) {
        let found = Rules.problems(Rules.text(fields + "\n" + Self.content, recipient: nil))
        #expect(found.map(\.line) == [line], "\(found)")
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }

    @Test("`item` is available only with a list")
    func itemWithoutList() {
        let found = Rules.problems(Rules.text("content:\n  body: \"{{item.name}}\"\n  sound: \"{{item}}\""))
        #expect(found.map(\.line) == [7, 8])
        #expect(found.allSatisfy { $0.message.contains("`recipients`") })
    }
}
