import Foundation
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("deploy/rules.schema.json and deploy/rules.yaml")
struct RulesSchemaTests {
    private static let deploy = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("deploy")

    private let schema: JSONValue

    init() throws {
        schema = try JSONValue.parse(
            Array(try Data(contentsOf: Self.deploy.appendingPathComponent("rules.schema.json")))
        )
    }

    /// The keys that an object of the schema may have, when it may have no others.
    private func keys(_ path: [String]) throws -> Set<String> {
        let object = try #require(schema.value(at: path))
        #expect(object["additionalProperties"] == .bool(false), "\(path)")
        return Set(try #require(object["properties"]?.objectValue).map(\.name))
    }

    @Test("The schema has exactly the keys of the rules")
    func keys() throws {
        #expect(try keys([]) == RuleCompiler.fileKeys)
        #expect(try keys(["properties", "defaults"]) == RuleCompiler.defaultKeys)
        #expect(try keys(["$defs", "rule"]) == RuleCompiler.ruleKeys)
        #expect(try keys(["$defs", "content"]) == Set(RuleShape.content.keys))
        #expect(try keys(["$defs", "rule", "properties", "trigger"]) == Set(RuleShape.trigger.keys))
        for (field, shape) in RuleShape.limits {
            #expect(try keys(["$defs", "\(field)"]) == Set(shape.keys))
        }
    }

    @Test("The schema has the limits of the rules")
    func bounds() throws {
        let ignored = try #require(schema.value(at: ["properties", "ignore"]))
        #expect(ignored["maxItems"]?.integerValue == Int64(EventPattern.maximumCount))
        #expect(ignored.value(at: "items.maxLength")?.integerValue == Int64(EventPattern.maximumBytes))
        let rule = ["$defs", "rule", "properties"]
        let limit = try #require(schema.value(at: ["properties", "defaults", "properties", "recipients"]))
        #expect(limit.value(at: "properties.limit.maximum")?.integerValue == Int64(FanOut.maximumLimit))
        let length = schema.value(at: rule + ["when", "maxLength"])
        #expect(length?.integerValue == Int64(ExpressionParser.maximumLength))
        let locales = schema.value(at: rule + ["localizations", "maxProperties"])
        #expect(locales?.integerValue == Int64(LocaleTable.maximumCount))
        let tag = schema.value(at: rule + ["fallbackLocale", "maxLength"])
        #expect(tag?.integerValue == Int64(LocaleTable.maximumTagBytes))
    }

    @Test("The rules of the demonstration do what their comments say")
    func demonstration() throws {
        let rules = try RuleFile.load(path: Self.deploy.appendingPathComponent("rules.yaml").path)
        let engine = RuleEngine(rules: rules, defaultApplication: "shop")
        let placed = BusinessEvent.sample(
            type: "com.example.order.placed",
            data: #"{"customer":"ana","order":1,"locale":"zh-Hans-CN"}"#
        )
        #expect(try Rules.request(engine, placed).value(at: "content.title") == .string("谢谢"))
        #expect(try Rules.request(engine, placed).value(at: "content.categoryIdentifier") == .string("ORDER"))
        func response(_ action: String) -> BusinessEvent {
            .sample(
                type: "carillon.notification.response.v1",
                data:
                    #"{"recipient":"ana","identifier":"order-1-placed","matched":true,"actionIdentifier":"\#(action)","#
                    + #""categoryIdentifier":"ORDER","userText":"Hello"}"#
            )
        }
        let answer = try Rules.request(engine, response("reply"))
        #expect(answer.value(at: "identifier") == .string("order-1-placed-answer"))
        #expect(answer.value(at: "content.body") == .string("You wrote: Hello"))
        #expect(Rules.apply(engine, response("track")).outputs.isEmpty)
        var sale = BusinessEvent.sample(
            type: "com.example.sale.opened",
            data: #"{"sale":7,"discount":25,"country":"DE","members":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}"#
        )
        sale.time = Timestamp(rfc3339: "2026-11-21T09:00:00Z")
        let (outputs, failures) = Rules.apply(engine, sale)
        #expect(failures.isEmpty)
        #expect(outputs.map(\.key.description) == ["shop/a/sale-7", "shop/b/sale-7"])
    }
}
