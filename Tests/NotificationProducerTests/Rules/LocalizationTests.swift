import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Localized content")
struct LocalizationTests {
    private static let fields = """
        locale: "{{data.locale}}"
        content: {title: base, body: "base {{data.n}}", categoryIdentifier: ORDER}
        localizations:
          en: {title: english}
          zh: {title: chinese}
          zh-Hans: {title: simplified, body: "{{data.n}} simplified", threadIdentifier: t}
          pt-BR: {body: ~, subtitle: brasil}
        """

    private func content(_ locale: String, _ fields: String = Self.fields, file: String = "") throws -> JSONValue {
        let engine = try Rules.rule(fields, file: file)
        let data = locale.isEmpty ? #"{"n":1}"# : #"{"n":1,"locale":\#(locale)}"#
        return try #require(try Rules.request(engine, .sample(data: data))["content"])
    }

    @Test(
        "The variant is looked up by RFC 4647, from the locale to shorter ones",
        arguments: [
            ("zh-Hans-CN", "simplified"), ("zh-Hans", "simplified"), ("ZH-HANS-cn", "simplified"),
            ("zh_Hans_CN", "simplified"),
            ("zh-Hant-TW", "chinese"), ("zh", "chinese"), ("en-GB", "english"), ("en-GB-x-private", "english"),
            ("zh-Hans-x-a-b", "simplified"), ("en_US.UTF-8", "english"), ("en_US@calendar=japanese", "english"),
            ("de", "base"), ("e", "base"), ("", "base"), ("english", "base"), ("-", "base"), ("*", "base"),
            ("zh-", "chinese"),
            ("pt", "base"),
        ]
    )
    func lookUp(locale: String, title: String) throws {
        #expect(try content(Rules.quoted(locale))["title"] == .string(title))
    }

    @Test("Fields missing in a variant come from the base, and null removes a field")
    func merge() throws {
        let chinese = try content("\"zh-Hans\"")
        #expect(chinese["title"] == .string("simplified"))
        #expect(chinese["body"] == .string("1 simplified"))
        #expect(chinese["categoryIdentifier"] == .string("ORDER"))
        #expect(chinese["threadIdentifier"] == .string("t"))
        let brasil = try content("\"pt-BR\"")
        #expect(brasil["body"] == nil)
        #expect(brasil["title"] == .string("base"))
        #expect(brasil["subtitle"] == .string("brasil"))
    }

    @Test("An event without a matching locale gets the fallback locale, then the base")
    func fallback() throws {
        let file = "defaults: {locale: \"{{data.locale}}\", fallbackLocale: zh-Hans-SG}"
        let fields = Self.fields.split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(try content("", fields, file: file)["title"] == .string("simplified"))
        #expect(try content("null", fields, file: file)["title"] == .string("simplified"))
        #expect(try content("\"de\"", fields, file: file)["title"] == .string("simplified"))
        #expect(try content("\"en-AU\"", fields, file: file)["title"] == .string("english"))
        #expect(try content("\"de\"", fields + "\nfallbackLocale: en", file: file)["title"] == .string("english"))
        #expect(try content("\"de\"", fields + "\nfallbackLocale: fr", file: file)["title"] == .string("base"))
    }

    @Test("A locale that is not text is an error, not a missing one")
    func noText() throws {
        let engine = try Rules.rule(Self.fields)
        let error = try Rules.failure(engine, .sample(data: #"{"n":1,"locale":["en"]}"#))
        #expect(error.reason == .invalid)
        #expect(error.field == "data.locale")
    }

    @Test("An overlong locale costs no more than a tag")
    func longLocale() throws {
        #expect(try content(Rules.quoted(String(repeating: "en-", count: 100_000) + "en"))["title"] == .string("base"))
    }

    @Test("Each recipient of a list has its own locale")
    func items() throws {
        let engine = try Rules.rule(
            Self.fields.replacing("{{data.locale}}", with: "{{item.locale}}")
                + "\nrecipients: {from: \"{{data.users}}\", id: \"{{item.id}}\"}",
            recipient: nil
        )
        let data = #"{"n":1,"users":[{"id":"a","locale":"zh-TW"},{"id":"b"},{"id":"c","locale":"en"}]}"#
        let (outputs, failures) = Rules.apply(engine, .sample(data: data))
        #expect(failures.isEmpty)
        let titles = try outputs.map { try JSONValue.parse($0.value).value(at: "content.title")?.stringValue }
        #expect(titles == ["chinese", "base", "english"])
    }

    @Test("The base may be empty if the fallback locale never is")
    func baseWithoutText() throws {
        let fields = """
            locale: "{{data.locale}}"
            fallbackLocale: en
            content: {categoryIdentifier: ORDER}
            localizations: {en: {title: english}}
            """
        #expect(try content("\"de\"", fields)["title"] == .string("english"))
        let found = Rules.problems(Rules.text(fields.replacing("fallbackLocale: en", with: "fallbackLocale: fr")))
        #expect(found.map(\.line) == [8])
        #expect(found.first?.message.contains("is empty") == true)
    }

    @Test("Without a locale from the event the request carries the variants, for the locale of each device")
    func byDevice() throws {
        let fields = #"""
            content: {title: base, body: "base {{data.n}}"}
            localizations: {de: {title: "deutsch {{data.n}}"}, zh-Hans: {title: simplified, body: b}}
            """#
        let expected = #"{"de":{"title":"deutsch 1"},"zh-Hans":{"title":"simplified","body":"b"}}"#
        let found = try content("\"de\"", fields)
        #expect(found["title"] == .string("base") && found["body"] == .string("base 1"))
        #expect(try found["localizations"] == JSONValue.parse(Array(expected.utf8)))
        // A rule may take back the locale of all rules.
        let file = "defaults: {locale: \"{{data.locale}}\", fallbackLocale: de}"
        let own = try content("\"de\"", fields + "\nlocale: null", file: file)
        #expect(own["title"] == .string("base") && own["localizations"] != nil)
        #expect(try content("\"de\"", fields, file: file)["localizations"] == nil)
    }

    @Test(
        "Invalid localizations are refused with their line",
        arguments: [
            ("content: {body: x}\nlocalizations: {en: {badge: 1}}", 7, "without a `locale`"),
            ("content: {body: x}\nlocalizations: {en: {body: ~}}", 7, "without a `locale`"),
            ("content: {body: x}\nfallbackLocale: en\nlocalizations: {en: {body: y}}", 7, "`fallbackLocale` needs"),
            ("content: {badge: 1}\nlocalizations: {en: {body: y}}", 6, "`content.localizations`"),
            ("content: {body: x}\nlocale: \"{{data.l}}\"", 7, "only with `localizations`"),
            ("content: {body: x}\nfallbackLocale: en", 7, "only with `localizations`"),
            ("content: {body: x}\nlocale: en\nlocalizations: [en]", 8, "mapping"),
            ("content: {body: x}\nlocale: en\nlocalizations:\n  e_n: {body: y}", 9, "not a locale"),
            ("content: {body: x}\nlocale: en\nlocalizations:\n  en: {body: y}\n  EN: {body: z}", 10, "twice"),
            ("content: {body: x}\nlocale: en\nlocalizations:\n  en:\n    bady: y", 10, "did you mean `body`?"),
            ("content: {body: x}\nlocale: en\nlocalizations:\n  en:\n    badge: -1", 10, "`localizations.en.badge`"),
            ("content: {body: x}\nlocale: en\nlocalizations:\n  en: {body: ~}", 9, "`localizations.en`"),
            (
                "content: {body: x}\nlocale: en\nfallbackLocale: \"{{data.l}}\"\nlocalizations: {en: {body: y}}", 8,
                "without variables"
            ),
            ("content: {body: x}\nlocale: en\nfallbackLocale: 中\nlocalizations: {en: {body: y}}", 8, "not a locale"),
        ]
    )
    func refused(fields: String, line: Int, words: String) {
        let found = Rules.problems(Rules.text(fields))
        #expect(found.map(\.line) == [line], "\(found)")
        #expect(found.first?.message.contains(words) == true, "\(found)")
    }

    @Test("The number of localizations is bounded")
    func bound() {
        let tags = (0..<201).map { "  en-a\(1_000 + $0): {body: y}" }
        let text = Rules.text("content: {body: x}\nlocale: en\nlocalizations:\n" + tags.joined(separator: "\n"))
        #expect(Rules.problems(text).first?.message.contains("200") == true)
    }
}
