import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Templates")
struct TemplateTests {
    private func event(_ json: String) -> BusinessEvent {
        .sample(subject: "order-7", data: json)
    }

    private func render(_ template: String, _ json: String) throws -> String {
        let engine = try Rules.rule("content: {title: t, body: \(Rules.quoted(template))}")
        let body = try Rules.request(engine, event(json)).value(at: "content.body")
        return try #require(body?.stringValue)
    }

    @Test(
        "Text and variables are concatenated",
        arguments: [
            ("plain", "plain"), ("", ""), ("order-{{data.order}}", "order-1001"), ("{{ data.order }}!", "1001!"),
            ("{{data.lines.1.sku}}", "B"),
            ("{{id}} {{type}} {{source}} {{subject}}", "e1 com.example.order.shipped /shop order-7"),
            ("{{data.price}}/{{data.big}}", "9.50/123456789012345678901234567890"), ("{{data.gift}}", "true"),
            ("}{ {{data.order}} }{", "}{ 1001 }{"),
        ]
    )
    func rendering(template: String, text: String) throws {
        let json =
            #"{"order":1001,"price":9.50,"big":123456789012345678901234567890,"gift":true,"lines":[{"sku":"A"},{"sku":"B"}]}"#
        #expect(try render(template, json) == text)
    }

    @Test(
        "A missing or null variable is an error that names it, never an empty text",
        arguments: [
            "{{data.nothing}}", "x{{data.order.deeper}}", "{{data.lines.9}}", "{{correlationid}}", "{{data.null}}",
            "{{time}}",
        ]
    )
    func missing(template: String) throws {
        let name = template.drop { $0 != "{" }.dropFirst(2).dropLast(2)
        let error = #expect(throws: ModelError.self) { try render(template, #"{"order":1,"lines":[],"null":null}"#) }
        #expect(error?.reason == .missingVariable)
        #expect(error?.field == String(name))
    }

    @Test("An object or a list has no text", arguments: ["{{data}}", "{{data.lines}}"])
    func composite(template: String) throws {
        let error = #expect(throws: ModelError.self) { try render(template, #"{"lines":[1]}"#) }
        #expect(error?.reason == .invalid)
    }

    @Test(
        "A value is never parsed as a template and cannot leave its JSON string",
        arguments: ["{{data.name}}", "a {{data.name}} b", "{{source}}"]
    )
    func injection(template: String) throws {
        let nasty = "{{data.secret}}\"},\"badge\":9,\"x\":\"\\\n\u{0}\u{1F}\u{7F}é𝄞"
        let engine = try Rules.rule(
            "content: {title: t, body: \"\(template)\", userInfo: {own: \"\(template)\", text: \" \(template)\"}}"
        )
        let json = #"{"secret":"S","name":\#(Rules.quoted(nasty))}"#
        let request = try Rules.request(engine, .sample(source: nasty, data: json))
        let text = template == "a {{data.name}} b" ? "a \(nasty) b" : nasty
        #expect(request.value(at: "content.body") == .string(text))
        #expect(request.value(at: "content.userInfo.own") == .string(text))
        #expect(request.value(at: "content.userInfo.text") == .string(" " + text))
        #expect(request.value(at: "content.badge") == nil)
    }

    @Test("Of members with the same name the last counts, and fields missing in it are missing")
    func repeatedMembers() throws {
        #expect(try render("{{data.a.b}}", #"{"a":{"b":1},"a":{"b":2}}"#) == "2")
        #expect(throws: ModelError.self) { try render("{{data.a.b}}", #"{"a":{"b":1},"a":{"c":2}}"#) }
    }

    @Test(
        "Anything other than text and variables is refused",
        arguments: [
            "{{", "a {{data.x", "}}", "{{}}", "{{ }}", "{{#data.items}}x{{/data.items}}", "{{^data.x}}", "{{/data.x}}",
            "{{> partial}}",
            "{{! comment}}", "{{&data.x}}", "{{{data.x}}}", "{{=<% %>=}}", "{{data..x}}", "{{data.}}", "{{.}}",
            "{{data.a b}}",
            "{{customer.name}}", "{{Subject}}", "{{#a}}", "{{#data.items}}{{#data.items}}", "{{> rules}}{{> rules}}",
            "{{#data.a}}{{/data.b}}", "{{data" + String(repeating: ".a", count: 40) + "}}",
        ]
    )
    func refused(template: String) {
        #expect(throws: TemplateError.self) { try Template<VariablePath>(template) }
    }
}
