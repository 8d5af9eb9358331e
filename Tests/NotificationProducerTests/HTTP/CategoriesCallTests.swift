import Foundation
import HTTPTesting
import Kafka
import LocalBroker
import NotificationModel
import Testing
import TestSupport

@testable import NotificationProducer

@Suite("Calls about categories")
struct CategoriesCallTests {
    private static let path = "/v1/categories"
    private static let topic = ProducerHarness.topics.categories

    private static func body(_ category: String, action: String) -> String {
        #"{"categories":[{"identifier":"\#(category)","actions":[{"identifier":"\#(action)","title":"T"}]}]}"#
    }

    private static func withTopic(
        tokens: String? = nil,
        _ body: (ProducerHarness) async throws -> Void
    ) async throws {
        let broker = try ProducerHarness.makeBroker()
        try broker.createTopic(topic, partitions: 3)
        try await ProducerHarness.with(tokens: tokens, broker: broker) { harness in
            try await eventually("readiness") { harness.isReady }
            try await body(harness)
        }
        await broker.shutDown()
    }

    @Test("A set is on categories with its application as key and in its partition, and is answered at once")
    func put() async throws {
        try await Self.withTopic { harness in
            #expect(try await harness.http.send("GET", Self.path).status == 404)
            for (query, application) in [("", "shop"), ("?application=my%20bank", "my bank")] {
                let answer = try await harness.http.put(Self.path + query, Self.body("ORDER", action: "a"))
                #expect(answer.status == 202, "\(answer.text)")
                let partition = KafkaPartitioner.partition(forKey: Array(application.utf8), count: 3)
                #expect(answer["topic"] == Self.topic && answer["partition"] == "\(partition)")
                let shown = try await harness.http.send("GET", Self.path + query)
                #expect(shown.status == 200 && shown.text == Self.body("ORDER", action: "a"), "\(shown.text)")
                #expect(shown.headers["content-type"] == "application/json")
            }
            let records = try await harness.records(Self.topic, count: 2)
            #expect(Set(records.map(\.keyText)) == ["shop", "my%20bank"])
            for record in records {
                let application = try #require(record.keyText) == "shop" ? "shop" : "my bank"
                #expect(record.partition == KafkaPartitioner.partition(forKey: Array(application.utf8), count: 3))
                #expect(record.valueText == Self.body("ORDER", action: "a"))
            }
        }
    }

    @Test("A set replaces the one before as a whole, and its record remembers the former actions")
    func replace() async throws {
        try await Self.withTopic { harness in
            for (category, action) in [("A", "a"), ("B", "b"), ("A", "c")] {
                #expect(try await harness.http.put(Self.path, Self.body(category, action: action)).status == 202)
            }
            #expect(try await harness.http.send("GET", Self.path).text == Self.body("A", action: "c"))
            #expect(try await harness.http.put(Self.path, #"{"categories":[]}"#).status == 202)
            #expect(try await harness.http.send("GET", Self.path).text == #"{"categories":[]}"#)
            let records = try await harness.records(Self.topic, count: 4)
            let former = try records.map { try CategorySet(json: try #require($0.value)).formerActions }
            #expect(former == [[], ["a"], ["b", "a"], ["c", "b", "a"]])
        }
    }

    @Test("A service that starts later has the categories when it is ready")
    func restart() async throws {
        let broker = try ProducerHarness.makeBroker()
        try broker.createTopic(Self.topic, partitions: 3)
        try await ProducerHarness.with(broker: broker) { harness in
            try await eventually("readiness") { harness.isReady }
            #expect(try await harness.http.put(Self.path, Self.body("A", action: "a")).status == 202)
        }
        try await ProducerHarness.with(broker: broker) { harness in
            try await eventually("readiness") { harness.isReady }
            #expect(try await harness.http.send("GET", Self.path).text == Self.body("A", action: "a"))
        }
        await broker.shutDown()
    }

    @Test("An invalid set is refused with reason and field, and changes nothing")
    func invalid() async throws {
        func action(_ members: String) -> String {
            #"{"categories":[{"identifier":"A","actions":[{"identifier":"a","title":"T"},{\#(members)}]}]}"#
        }
        let cases: [(String, status: Int, reason: String, field: String?)] = [
            (#"{"categories":[{"identifier":"A"},{"identifier":"A"}]}"#, 400, "invalid", "categories.1.identifier"),
            (action(#""identifier":"a","title":"T""#), 400, "invalid", "categories.0.actions.1.identifier"),
            (action(#""identifier":"dismiss","title":"T""#), 400, "invalid", "categories.0.actions.1.identifier"),
            (action(#""identifier":"b""#), 400, "invalid", "categories.0.actions.1.title"),
            (
                action(#""identifier":"b","title":"T","options":["loud"]"#), 400, "invalid",
                "categories.0.actions.1.options.0"
            ),
            (#"{"categories":[{"identifier":"A","options":["loud"]}]}"#, 400, "invalid", "categories.0.options.0"),
            (#"{"categories":[{"identifier":"A","color":1}]}"#, 400, "unknown-field", "categories.0.color"),
            (#"{"categories":[],"formerActions":[]}"#, 400, "unknown-field", "formerActions"),
            ("{}", 400, "invalid", "categories"), ("[]", 400, "invalid", nil), ("{", 400, "invalid", nil),
            (String(repeating: " ", count: ModelLimits.categoryBodyBytes + 1), 413, "too-large", nil),
        ]
        try await Self.withTopic { harness in
            for entry in cases {
                let answer = try await harness.http.put(Self.path, entry.0)
                #expect(answer.status == entry.status && answer["reason"] == entry.reason, "\(entry): \(answer.text)")
                if let field = entry.field { #expect(answer["field"] == field, "\(answer.text)") }
            }
            let good = Self.body("A", action: "a")
            #expect(try await harness.http.put(Self.path + "?application=", good).status == 400)
            #expect(try await harness.http.put(Self.path + "?app=shop", good).status == 400)
            let text = try await harness.http.send(
                "PUT",
                Self.path,
                headers: [("content-type", "text/plain")],
                body: Array(good.utf8)
            )
            #expect(text.status == 415)
            #expect(try await harness.http.send("DELETE", Self.path).status == 405)
            #expect(try await harness.http.send("GET", Self.path).status == 404)
        }
    }

    private func respond(_ harness: ProducerHarness, _ action: String) async throws -> RawHTTP.Answer {
        let body = #"{"identifier":"i","requestId":"r","actionIdentifier":"\#(action)"}"#
        return try await harness.http.send(
            "POST",
            "/v1/recipients/ana/responses",
            headers: [("content-type", "application/json")],
            body: Array(body.utf8)
        )
    }

    @Test("A response with an action that no category has or had is refused")
    func unknownActions() async throws {
        try await Self.withTopic { harness in
            // Without categories nothing is known.
            let early = try await respond(harness, "c")
            #expect(early.status == 202)
            for action in ["a", "b"] {
                #expect(try await harness.http.put(Self.path, Self.body("A", action: action)).status == 202)
            }
            for action in ["a", "b", "default", "dismiss"] {
                #expect(try await respond(harness, action).status == 202)
            }
            let refused = try await respond(harness, "c")
            #expect(refused.status == 400 && refused["reason"] == "unknown-action")
            #expect(refused["field"] == "actionIdentifier")
        }
    }

    private func status(_ harness: ProducerHarness, _ method: String, _ token: String, _ query: String = "")
        async throws -> Int
    {
        let answer = try await harness.http.send(
            method,
            Self.path + query,
            headers: [("content-type", "application/json"), ("authorization", "Bearer \(token)")],
            body: method == "PUT" ? Array(Self.body("A", action: "a").utf8) : nil
        )
        return answer.status
    }

    @Test("To set categories takes the role publish, to read them the role query")
    func roles() async throws {
        let (writer, reader) = (String(repeating: "w", count: 16), String(repeating: "r", count: 16))
        try await Self.withTopic(tokens: "publish \(writer)\nquery \(reader)\n") { harness in
            let refused = try await status(harness, "PUT", reader)
            #expect(refused == 403)
            #expect(try await status(harness, "PUT", writer) == 202)
            #expect(try await status(harness, "GET", writer) == 403)
            #expect(try await status(harness, "GET", reader) == 200)
            // Of the default application; another one's do not exist.
            #expect(try await status(harness, "PUT", writer, "?application=bank") == 403)
            #expect(try await status(harness, "GET", reader, "?application=bank") == 404)
        }
    }
}
