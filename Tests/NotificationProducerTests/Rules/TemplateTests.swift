import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Templates")
struct TemplateTests {
    private func context(_ json: String, subject: String? = "order-7", extensions: [String: String] = [:]) throws
        -> RuleContext
    {
        try RuleContext(
            event: .sample(subject: subject, extensions: extensions, data: json),
            data: JSONValue.parse(Array(json.utf8))
        )
    }

    private func render(_ template: String, _ json: String) throws -> String {
        var out: [UInt8] = []
        try Template(template).render(context(json), into: &out)
        return String(decoding: out, as: UTF8.self)
    }

    @Test(
        "Text and variables are put together",
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
        "A variable that is missing or null is an error that names it, never an empty text",
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

    @Test("What a value holds is never read as a template and cannot leave its JSON string")
    func injection() throws {
        let nasty = "{{data.secret}}\"},\"badge\":9,\"x\":\"\\\n\u{0}\u{1F}\u{7F}é𝄞"
        var json: [UInt8] = Array(#"{"secret":"S","name":"#.utf8)
        JSONWriter.append(string: nasty, to: &json)
        json += Array("}".utf8)
        let context = RuleContext(event: .sample(data: ""), data: try JSONValue.parse(json))
        for template in ["{{data.name}}", "a {{data.name}} b"] {
            var out: [UInt8] = []
            try Template(template).renderJSONString(context, into: &out)
            let parsed = try JSONValue.parse(out)
            #expect(parsed == .string(template == "{{data.name}}" ? nasty : "a \(nasty) b"))
        }
        var out: [UInt8] = []
        try context.appendJSON(of: VariablePath("data.name"), to: &out)
        #expect(try JSONValue.parse(out) == .string(nasty))
    }

    @Test(
        "What is not text and variables is refused",
        arguments: [
            "{{", "a {{data.x", "}}", "{{}}", "{{ }}", "{{#data.items}}x{{/data.items}}", "{{^data.x}}", "{{/data.x}}",
            "{{> partial}}",
            "{{! comment}}", "{{&data.x}}", "{{{data.x}}}", "{{=<% %>=}}", "{{data..x}}", "{{data.}}", "{{.}}",
            "{{data.a b}}",
            "{{customer.name}}", "{{Subject}}",
        ]
    )
    func refused(template: String) {
        #expect(throws: TemplateError.self) { try Template(template) }
    }

    @Test(
        "`when` is false for nothing, false, null, zero and what is empty, and true for the rest",
        arguments: [
            ("{{data.missing}}", false), ("{{data.null}}", false), ("{{data.no}}", false), ("{{data.zero}}", false),
            ("{{data.zeroText}}", false), ("{{data.empty}}", false), ("{{data.falseText}}", false),
            ("{{data.list}}", false),
            ("{{data.object}}", false), ("false", false), ("", false), ("x{{data.missing}}", false),
            ("{{correlationid}}", false),
            ("{{data.yes}}", true), ("{{data.one}}", true), ("{{data.text}}", true), ("{{data.full}}", true),
            ("true", true),
            ("{{subject}}", true), ("{{data.no}}{{data.one}}", true),
        ]
    )
    func truth(condition: String, holds: Bool) throws {
        let json = #"""
            {"null":null,"no":false,"zero":0.0,"zeroText":"0","empty":"","falseText":"false","list":[],"object":{},
             "yes":true,"one":-1,"text":"no","full":[0]}
            """#
        #expect(try context(json).isTrue(Template(condition)) == holds)
    }
}
