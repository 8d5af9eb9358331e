import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("A payload of APNs as the content of a rule")
struct ExistingPayloadRuleTests {
    @Test("A payload of the event, and one of the rule with variables, become the content")
    func converted() throws {
        let event = BusinessEvent.sample(data: #"{"push":{"aps":{"alert":"É","url-args":[]},"order":1},"title":"T"}"#)
        let whole = try Rules.rule("content: {apns: \"{{data.push}}\"}")
        let content = try Rules.request(whole, event)["content"]
        #expect(content == (try JSONValue.parse(Array(#"{"body":"É","userInfo":{"order":1}}"#.utf8))))
        #expect(Rules.apply(whole, event).outputs.map(\.notConverted) == [["aps.url-args"]])
        let written = try Rules.rule("content: {apns: {aps: {alert: {title: \"{{data.title}}\"}, badge: 1}}}")
        let made = try Rules.request(written, event)["content"]
        #expect(made == (try JSONValue.parse(Array(#"{"title":"T","badge":1}"#.utf8))))
    }

    @Test("A payload of an event that cannot be converted is a dead letter that names its place")
    func invalid() throws {
        let engine = try Rules.rule("content: {apns: \"{{data.push}}\"}")
        for (push, field) in [
            (#"{"alert":"A"}"#, "content.apns.aps"), (#"{"aps":{"badge":"1"}}"#, "content.apns.aps.badge"),
            ("7", "content.apns"),
        ] {
            let error = try Rules.failure(engine, .sample(data: "{\"push\":\(push)}"))
            #expect(error.reason == .invalid && error.field == field)
        }
        #expect(try Rules.failure(engine, .sample(data: "{}")).reason == .missingVariable)
    }

    @Test("What is wrong with a constant payload is found when the rules are read, at its line")
    func problems() {
        let wrong = Rules.problems(Rules.text("content:\n  apns:\n    aps: {badge: x}"))
        #expect(wrong.count == 1 && wrong.first?.message.contains("content.apns.aps.badge") == true, "\(wrong)")
        let payload = "apns: {aps: {alert: A}}"
        for text in [
            Rules.text("content: {\(payload), title: T}"),
            Rules.text("content: {\(payload)}", file: "defaults: {content: {sound: default}}"),
            Rules.text("content: {\(payload)}\nlocale: en\nlocalizations: {en: {title: T}}"),
        ] {
            let found = Rules.problems(text)
            #expect(!found.isEmpty && found.allSatisfy { $0.message.contains("cannot be combined") }, "\(found)")
        }
        let removed = Rules.text("content: {\(payload), sound: null}", file: "defaults: {content: {sound: default}}")
        #expect(Rules.problems(removed).isEmpty)
    }

    @Test("A constant payload with more than a content says gets one warning")
    func warning() throws {
        let text = Rules.text("content: {apns: {aps: {alert: A, url-args: [a]}}}")
        let rules = try RuleFile.parse(text, file: "rules.yaml")
        #expect(rules.warnings.count == 1 && rules.warnings[0].message.contains("aps.url-args"), "\(rules.warnings)")
    }

    @Test("A digest takes its group from the payload")
    func digest() throws {
        let digest = "\ndigest: {by: thread, window: 60}"
        #expect(Rules.problems(Rules.text("content: {apns: {aps: {alert: A, thread-id: t}}}" + digest)).isEmpty)
        #expect(Rules.problems(Rules.text("content: {apns: {aps: {alert: A}}}" + digest)).count == 1)
        let engine = try Rules.rule("content: {apns: \"{{data.push}}\"}" + digest)
        let grouped = try Rules.request(engine, .sample(data: #"{"push":{"aps":{"alert":"A","thread-id":"t"}}}"#))
        #expect(grouped.value(at: "content.threadIdentifier") == .string("t"))
        #expect(try Rules.failure(engine, .sample(data: #"{"push":{"aps":{"alert":"A"}}}"#)).field == "digest.by")
    }
}
