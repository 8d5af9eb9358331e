import NotificationModel
import OutboundHTTP
import Testing

@testable import NotificationEnrichment

@Suite("Enricher with templates")
struct TemplateEnricherTests {
    private static let content = NotificationContent(
        title: "Sale \"now\"",
        body: "{{userInfo.name}}",
        badge: 3,
        mutableContent: true,
        userInfo: .object([
            .init("name", .string("Ana \\ 𝄞\n")), .init("price", .number("9.50")), .init("gift", .bool(true)),
            .init("lines", .array([.object([.init("sku", .string("A"))])])), .init("none", .null),
        ])
    )

    private func run(_ templates: [TemplateEnricher.Field: String]) async throws -> EnrichmentResult {
        let enricher = try TemplateEnricher(name: "template:t", templates: templates)
        return try await Sample.run("template:t", [enricher], Self.content)
    }

    @Test(
        "placeholders are replaced by the text of their values, and values are never read as templates",
        arguments: [
            ("plain", "plain"), ("Hi {{userInfo.name}}!", "Hi Ana \\ 𝄞\n!"), ("{{ userInfo.price }}", "9.50"),
            ("{{userInfo.lines.0.sku}}", "A"), ("{{userInfo.gift}}", "true"), ("{{content.badge}}", "3"),
            ("{{content.title}}", "Sale \"now\""), ("{{content.body}}", "{{userInfo.name}}"),
            ("{{content.userInfo.price}}", "9.50"), ("}{ {{content.badge}} }{", "}{ 3 }{"),
        ]
    )
    func rendering(template: String, text: String) async throws {
        let result = try await run([.subtitle: template])
        #expect(result.content?.subtitle == text)
        #expect(result.content?.title == Self.content.title)
        #expect(result.steps == ["template:t: applied"])
    }

    @Test(
        "a variable without a value fails the enricher and nothing is changed",
        arguments: [
            "{{userInfo.nothing}}", "{{userInfo.none}}", "{{userInfo.lines.1}}", "{{content.subtitle}}",
            "{{userInfo.name.first}}",
        ]
    )
    func missing(template: String) async throws {
        let result = try await run([.title: "new", .body: template])
        #expect(result.verdict == .original)
        #expect(result.steps == ["template:t: failed (missing-variable)"])
        guard case .failed(let failure)? = result.summary.enrichers.first?.outcome else { return }
        #expect(failure.detail == "the content has no \(template)")
    }

    @Test("a list or an object has no text", arguments: ["{{userInfo.lines}}", "{{userInfo.lines.0}}"])
    func composite(template: String) async throws {
        #expect(try await run([.body: template]).steps == ["template:t: failed (invalid)"])
    }

    @Test("all templates see the content as it was, and every field can be written")
    func fields() async throws {
        let templates = TemplateEnricher.Field.allCases.map { ($0, "\($0) {{content.title}}") }
        let content = try #require(try await run(Dictionary(uniqueKeysWithValues: templates)).content)
        let texts = [
            content.title, content.subtitle, content.body, content.threadIdentifier, content.targetContentIdentifier,
            content.summaryArgument,
        ]
        #expect(texts == TemplateEnricher.Field.allCases.map { "\($0) Sale \"now\"" })
    }

    @Test("a text replaces the localization of the same text")
    func localization() async throws {
        let content = NotificationContent(
            titleLocalization: Localization(key: "T"),
            bodyLocalization: Localization(key: "B"),
            mutableContent: true
        )
        let enricher = try TemplateEnricher(name: "t", templates: [.title: "Hello"])
        let result = try await Sample.run("t", [enricher], content)
        #expect(result.content?.title == "Hello")
        #expect(result.content?.titleLocalization == nil)
        #expect(result.content?.bodyLocalization == content.bodyLocalization)
    }

    @Test("a text that is too long for its field is a failure")
    func tooLong() async throws {
        let enricher = try TemplateEnricher(
            name: "t",
            templates: [.threadIdentifier: "{{content.body}}{{content.body}}"]
        )
        let content = NotificationContent(body: String(repeating: "x", count: 600), mutableContent: true)
        let result = try await Sample.run("t", [enricher], content)
        #expect(result.verdict == .original)
        #expect(result.steps == ["t: failed (invalid)"])
    }

    @Test(
        "a template that is not text and paths into the content is refused, and the error names its field",
        arguments: [
            "{{", "}}", "{{}}", "{{content}}", "{{userInfo}}", "{{title}}", "{{data.x}}", "{{item.x}}", "{{subject}}",
            "{{userInfo..x}}", "{{#userInfo.x}}", "{{userInfo.a b}}", "{{{userInfo.x}}}",
        ]
    )
    func refused(template: String) throws {
        let error = #expect(throws: TemplateSettingsError.self) {
            try TemplateEnricher(name: "t", templates: [.body: "x", .subtitle: template])
        }
        #expect(error?.field == "subtitle")
        #expect(error?.description.hasPrefix("subtitle: ") == true)
    }
}
