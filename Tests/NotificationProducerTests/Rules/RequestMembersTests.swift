import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Members of a request other than content")
struct RequestMembersTests {
    private static let time = Timestamp(rfc3339: "2026-11-21T09:00:00.000Z")

    private func event(_ data: String, time: Timestamp? = Self.time) -> BusinessEvent {
        var event = BusinessEvent.sample(data: data)
        event.time = time
        return event
    }

    // MARK: Expiration

    @Test(
        "An expiration is a time, or seconds after the event's time",
        arguments: [
            ("\"{{data.until}}\"", "2026-12-01T00:00:00Z"), ("2026-12-01T09:00:00Z", "2026-12-01T09:00:00Z"),
            ("{after: 3600}", "2026-11-21T10:00:00.000Z"), ("{after: 0.25}", "2026-11-21T09:00:00.250Z"),
            ("{after: \"{{data.seconds}}\"}", "2026-11-21T09:01:30.000Z"),
        ]
    )
    func expiration(written: String, time: String) throws {
        let engine = try Rules.rule("content: {body: x}\nexpiration: \(written)")
        let request = try Rules.request(engine, event(#"{"until":"2026-12-01T00:00:00Z","seconds":90}"#))
        #expect(request["expiration"] == .string(time))
    }

    @Test("Without an event time the arrival counts, and {{time}} is missing")
    func noTime() throws {
        let engine = try Rules.rule("content: {body: x}\nexpiration: {after: 3600}")
        let request = try Rules.request(engine, event("{}", time: nil))
        #expect(request["expiration"] == .string(RuleEngine.arrival.adding(milliseconds: 3_600_000).rfc3339))
        let named = try Rules.failure(try Rules.rule("content: {body: \"{{time}}\"}"), event("{}", time: nil))
        #expect(named.reason == .missingVariable && named.field == "time")
    }

    @Test(
        "Seconds from a variable must be a number in range",
        arguments: ["0", "-1", "\"60\"", "true", "1e300", "[]", "316224001"]
    )
    func wrongSeconds(value: String) throws {
        let engine = try Rules.rule("content: {body: x}\nexpiration: {after: \"{{data.s}}\"}")
        let error = try Rules.failure(engine, event("{\"s\":\(value)}"))
        #expect(error.reason == .invalid)
        #expect(error.field == "expiration")
        #expect(try Rules.failure(engine, event("{}")).reason == .missingVariable)
    }

    // MARK: Groups

    @Test(
        "A thread or a category with a control character is a dead letter, and refused where it is written in the rules",
        arguments: ["threadIdentifier", "categoryIdentifier"]
    )
    func controlCharacters(name: String) throws {
        let engine = try Rules.rule("content: {body: x, \(name): \"{{data.group}}\"}")
        for group in [#"a\nb"#, #"\u0000"#, #"\u0085"#] {
            let error = try Rules.failure(engine, event("{\"group\":\"\(group)\"}"))
            #expect(error.reason == .invalid && error.field == "content.\(name)")
        }
        #expect(try Rules.request(engine, event(#"{"group":"a b"}"#)).value(at: "content.\(name)") == .string("a b"))
        let found = Rules.problems(Rules.text("content: {body: x, \(name): \"a\\nb\"}"))
        #expect(found.map(\.line) == [6] && found.first?.message.contains(name) == true, "\(found)")
    }

    // MARK: Version and collapse window

    @Test(
        "A version is an integer, whatever it is composed of",
        arguments: [
            ("\"{{data.n}}\"", "7"), ("\"{{data.text}}\"", "8"), ("\"{{data.n}}00{{data.text}}\"", "7008"), ("3", "3"),
            ("\"{{data.zero}}\"", "0"), ("\"{{data.largest}}\"", "9223372036854775807"),
        ]
    )
    func version(written: String, number: String) throws {
        let data = #"{"n":7,"text":"8","zero":0,"largest":9223372036854775807}"#
        let engine = try Rules.rule("content: {body: x}\nversion: \(written)")
        #expect(try Rules.request(engine, event(data))["version"] == .number(number))
    }

    @Test(
        "A version that is not an integer from 0 is a dead letter and never injects JSON",
        arguments: [
            "-1", "1.5", "1e3", "\"\"", "\"x\"", "\" 1\"", "\"01\"", "\"+1\"", "9223372036854775808", "true", "[1]",
            #""1,\"content\":{\"body\":\"y\"}""#,
        ]
    )
    func wrongVersion(value: String) throws {
        for action in ["content: {body: x}", "cancel: i"] {
            let engine = try Rules.engine(
                "rules:\n  - event: com.example.order.shipped\n    recipient: r\n    \(action)\n    version: \"{{data.v}}\"\n"
                    + (action.hasPrefix("cancel") ? "" : "    identifier: i")
            )
            let error = try Rules.failure(engine, event("{\"v\":\(value)}"))
            #expect(error.reason == .invalid)
        }
    }

    @Test("A collapse window is in seconds, from the rule or the event")
    func collapseWindow() throws {
        let fixed = try Rules.rule("content: {body: x}\ncollapseWindow: 2.5")
        #expect(try Rules.request(fixed, event("{}"))["collapseWindow"] == .number("2.5"))
        let variable = try Rules.rule("content: {body: x}\ncollapseWindow: \"{{data.w}}\"")
        #expect(try Rules.request(variable, event(#"{"w":10}"#))["collapseWindow"] == .number("10"))
        #expect(try Rules.failure(variable, event(#"{"w":86401}"#)).field == "collapseWindow")
        #expect(try Rules.failure(variable, event(#"{"w":"10"}"#)).field == "collapseWindow")
    }

    @Test("A channel is a constant of the rule or the defaults, which a rule removes with null")
    func channel() throws {
        let file = "defaults: {channel: webhook}"
        for (fields, channel) in [("", "webhook"), ("\nchannel: events", "events"), ("\nchannel: null", nil)] {
            let engine = try Rules.rule("content: {body: x}\(fields)", file: file)
            #expect(try Rules.request(engine, event("{}"))["channel"]?.stringValue == channel)
        }
        for wrong in ["pigeon", "\"{{data.channel}}\"", "[events]", "1"] {
            let problems = Rules.problems(Rules.text("content: {body: x}\nchannel: \(wrong)"))
            #expect(
                problems.count == 1 && problems[0].message.contains("`channel` must be one of events, webhook, test")
            )
        }
        let cancel = Rules.problems(Rules.text("channel: events").replacing("identifier: i", with: "cancel: i"))
        #expect(cancel.count == 1 && cancel[0].message.contains("cannot be combined with `cancel`"))
    }

    // MARK: Attachments

    @Test("Attachments are templates, and their results are validated")
    func attachments() throws {
        let engine = try Rules.rule(
            """
            content:
              title: t
              attachments:
                - identifier: "photo-{{data.n}}"
                  url: "https://cdn.example.com/{{data.n}}.jpg"
                  options: {typeHint: public.jpeg, thumbnailTime: "{{data.at}}", thumbnailHidden: "{{data.hidden}}"}
                - {identifier: other, url: "{{data.url}}"}
            """
        )
        let good = #"{"n":1,"at":1.5,"hidden":true,"url":"https://example.com/a?b=c"}"#
        let request = try Rules.request(engine, event(good))
        #expect(request.value(at: "content.attachments.0.identifier") == .string("photo-1"))
        #expect(request.value(at: "content.attachments.0.options.thumbnailTime") == .number("1.5"))
        #expect(request.value(at: "content.attachments.0.options.thumbnailHidden") == .bool(true))
        #expect(request.value(at: "content.attachments.1.url") == .string("https://example.com/a?b=c"))
        for (data, field) in [
            (good.replacing("https://example.com/a?b=c", with: "file:///etc/passwd"), "content.attachments.1.url"),
            (good.replacing("https://example.com/a?b=c", with: "https://a@example.com/"), "content.attachments.1.url"),
            (good.replacing("\"n\":1", with: "\"n\":\" /\""), "content.attachments.0.url"),
            (good.replacing("1.5", with: "-1"), "content.attachments.0.options.thumbnailTime"),
        ] {
            #expect(try Rules.failure(engine, event(data)).field == field)
        }
    }

    // MARK: Defaults

    private static let defaults = """
        defaults:
          application: "app-{{data.n}}"
          content: {sound: default, categoryIdentifier: ORDER, interruptionLevel: passive, badge: "{{data.n}}"}
          expiration: {after: 3600}
          collapseWindow: 5
          recipients: {limit: 2}
        """

    @Test("Defaults apply to every rule that does not override them")
    func defaults() throws {
        let engine = try Rules.rule("content: {body: x, categoryIdentifier: OTHER}", file: Self.defaults)
        let request = try Rules.request(engine, event(#"{"n":1}"#))
        #expect(request["application"] == .string("app-1"))
        #expect(request["expiration"] == .string("2026-11-21T10:00:00.000Z"))
        #expect(request["collapseWindow"] == .number("5"))
        let content = try #require(request["content"])
        #expect(content["body"] == .string("x"))
        #expect(content["sound"] == .string("default"))
        #expect(content["categoryIdentifier"] == .string("OTHER"))
        #expect(content["interruptionLevel"] == .string("passive"))
        #expect(content["badge"] == .number("1"))
    }

    @Test("A rule overrides a default, or removes it with null")
    func takenBack() throws {
        let engine = try Rules.rule(
            """
            application: own
            content: {body: x, sound: null, badge: ~, interruptionLevel: active}
            expiration: null
            collapseWindow: null
            """,
            file: Self.defaults
        )
        let request = try Rules.request(engine, event(#"{"n":1}"#, time: nil))
        #expect(request["application"] == .string("own"))
        #expect(request["expiration"] == nil)
        #expect(request["collapseWindow"] == nil)
        let content = try #require(request["content"])
        #expect(content["sound"] == nil)
        #expect(content["badge"] == nil)
        #expect(content["interruptionLevel"] == .string("active"))
    }

    @Test("The limit of recipients can be a default too, and localizations get the default content")
    func otherDefaults() throws {
        let list = try Rules.rule("content: {body: x}\nrecipients: \"{{data.c}}\"", recipient: nil, file: Self.defaults)
        #expect(try Rules.failure(list, event(#"{"n":1,"c":["a","b","c"]}"#)).reason == .tooManyRecipients)
        let localized = try Rules.rule(
            "content: {body: x}\nlocale: \"{{data.l}}\"\nlocalizations: {en: {body: y, badge: 0}}",
            file: Self.defaults
        )
        let content = try #require(try Rules.request(localized, event(#"{"n":1,"l":"en"}"#))["content"])
        #expect(content["body"] == .string("y"))
        #expect(content["badge"] == .number("0"))
        #expect(content["sound"] == .string("default"))
    }

    @Test("A cancelling rule takes only the application from the defaults")
    func cancel() throws {
        let engine = try Rules.engine(
            Self.defaults + "\nrules: [{event: com.example.order.shipped, recipient: r, cancel: i}]"
        )
        let (outputs, failures) = Rules.apply(engine, event(#"{"n":1}"#, time: nil))
        #expect(failures.isEmpty)
        #expect(outputs.map(\.key.description) == ["app-1/r/i"])
    }

    @Test("Several rules for one event each create a request with its own id")
    func several() throws {
        let engine = try Rules.engine(
            """
            rules:
              - {event: com.example.order.shipped, recipient: a, identifier: i, content: {body: x}}
              - {event: com.example.order.shipped, recipient: a, identifier: i, content: {body: y}, when: data.n > 1}
              - {event: com.example.order.shipped, recipients: "{{data.c}}", identifier: i, content: {body: z}}
            """
        )
        let (outputs, _) = Rules.apply(engine, event(#"{"n":2,"c":["a","b"]}"#))
        #expect(outputs.map(\.key.recipient) == ["a", "a", "a", "b"])
        #expect(Set(outputs.map(\.requestID)).count == 4)
        #expect(Rules.apply(engine, event(#"{"n":1,"c":[]}"#)).outputs.count == 1)
    }

    @Test(
        "An invalid member is reported with its line",
        arguments: [
            ("content: {body: x}\nexpiration: {after: 0}", 7, "expiration.after"),
            ("content: {body: x}\nexpiration: {after: 316224001}", 7, "expiration.after"),
            ("content: {body: x}\nexpiration: {after: soon}", 7, "expiration.after"),
            ("content: {body: x}\nexpiration: {after: [1]}", 7, "expiration.after"),
            ("content: {body: x}\nexpiration: {after: 1, afer: 1}", 7, "did you mean `after`?"),
            ("content: {body: x}\nexpiration: {}", 7, "missing `after`"),
            ("content: {body: x}\nexpiration: tomorrow", 7, "expiration"),
            ("content: {body: x}\ncollapseWindow: -1", 7, "collapseWindow"),
            ("content: {body: x}\ncollapseWindow: long", 7, "collapseWindow"),
            ("content: {body: x}\ncollapseWindow: [1]", 7, "collapseWindow"),
            ("content: {body: x}\nversion: -1", 7, "version"), ("content: {body: x}\nversion: 1.5", 7, "version"),
            ("content: {body: x}\nversion: \"v{{data.n\"", 7, "`{{`"),
            ("content: {body: x}\nversion: one", 7, "version"),
            ("content: {sound: ~}", 6, "is empty"), ("content: {categoryIdentifier: C}", 6, "is empty"),
        ]
    )
    func refused(fields: String, line: Int, words: String) {
        let found = Rules.problems(Rules.text(fields))
        #expect(found.map(\.line) == [line], "\(found)")
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }

    @Test(
        "An invalid default is reported once, with its line",
        arguments: [
            ("defaults: [a]", 1, "mapping"), ("defaults: {sound: x}", 1, "`sound`"),
            ("defaults: {aplication: x}", 1, "did you mean"),
            ("defaults:\n  content: {sund: x}", 2, "did you mean `sound`?"),
            ("defaults:\n  content:\n    badge: -1", 3, "`defaults.content.badge`"),
            ("defaults:\n  content: {body: \"{{item.x}}\"}", 2, "`recipients`"),
            ("defaults:\n  collapseWindow: -1", 2, "collapse"),
            ("defaults:\n  expiration: {after: -1}", 2, "expiration"),
            ("defaults:\n  recipients: {limit: 0}", 2, "limit"),
            ("defaults:\n  application: \"\"", 2, "application"),
            ("defaults:\n  fallbackLocale: \"\"", 2, "fallbackLocale"),
        ]
    )
    func refusedDefaults(file: String, line: Int, words: String) {
        let found = Rules.problems(
            file + "\nrules: [{event: e, recipient: r, cancel: i}, {event: e, recipient: r, cancel: i}]"
        )
        #expect(found.map(\.line) == [line], "\(found)")
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }
}
