import Foundation
import HTTPTesting
import Kafka
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("POST of events", .timeLimit(.minutes(10)))
struct EventsCallTests {
    private static let json = "application/cloudevents+json"
    private static let batch = "application/cloudevents-batch+json"

    private func post(
        _ harness: ProducerHarness,
        _ type: String?,
        _ body: String,
        _ headers: [(String, String)] = []
    ) async throws -> RawHTTP.Answer {
        try await harness.http.send(
            "POST",
            "/v1/events",
            headers: (type.map { [("content-type", $0)] } ?? []) + headers,
            body: Array(body.utf8)
        )
    }

    @Test("Types of Carillon's own are refused in every mode, and nothing is published")
    func reservedTypes() async throws {
        try await ProducerHarness.with { harness in
            let type = "carillon.notification.response.v1"
            let binary = try await post(
                harness,
                "application/json",
                #"{"actionIdentifier":"reply","matched":true}"#,
                [("ce-specversion", "1.0"), ("ce-id", "b1"), ("ce-source", "/shop"), ("ce-type", type)]
            )
            #expect(
                binary.status == 400 && binary["reason"] == "invalid" && binary["field"] == "type",
                "\(binary.text)"
            )
            func event(_ type: String) -> String {
                #"{"specversion":"1.0","id":"\#(type)","source":"/shop","type":"\#(type)"}"#
            }
            let encoded = #"\u0063arillon.signal.response.v1"#
            for type in [type, "carillon.", "carillon.x", encoded] {
                let structured = try await post(harness, Self.json, event(type))
                #expect(structured.status == 400 && structured["field"] == "type", "\(structured.text)")
            }
            let batch = try await post(harness, Self.batch, "[\(event("t")),\(event(type))]")
            #expect(batch.status == 400 && batch["field"] == "1.type", "\(batch.text)")
            for type in ["carillon", "carillonx.y", "com.carillon.x", "Carillon.x"] {
                #expect(try await post(harness, Self.json, event(type)).status == 202, "\(type)")
            }
            #expect(try await harness.records(ProducerHarness.topics.businessEvents, count: 4).count == 4)
        }
    }

    @Test("All three modes give binary events with the key of their subject or source")
    func modes() async throws {
        try await ProducerHarness.with { harness in
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let binary = try await post(
                harness,
                "application/json",
                #"{"a":1}"#,
                [
                    ("ce-specversion", "1.0"), ("ce-id", "b1"), ("ce-source", "/shop"), ("ce-type", "t"),
                    ("ce-subject", "caf%C3%A9"), ("ce-time", "2026-11-21T09:00:00Z"), ("ce-partner", "x"),
                    ("traceparent", trace), ("tracestate", "v=1"),
                ]
            )
            #expect(binary.status == 202, "\(binary.text)")
            #expect(binary["id"] == "b1" && binary["topic"] == ProducerHarness.topics.businessEvents)
            let structured = try await post(
                harness,
                Self.json + "; charset=utf-8",
                #"{"specversion":"1.0","id":"s1","source":"/shop","type":"t","data":{"b":2}}"#,
                [("traceparent", "not a trace")]
            )
            #expect(structured.status == 202, "\(structured.text)")
            let several = (1...3).map {
                #"{"specversion":"1.0","id":"m\#($0)","source":"/shop","type":"t","subject":"s\#($0)"}"#
            }
            let batch = try await post(harness, Self.batch, "[\(several.joined(separator: ","))]")
            #expect(batch.status == 202, "\(batch.text)")
            let listed = try JSONSerialization.jsonObject(with: Data(batch.text.utf8)) as? [[String: Any]]
            #expect(listed?.map { $0["id"] as? String } == ["m1", "m2", "m3"])

            let records = try await harness.records(ProducerHarness.topics.businessEvents, count: 5)
            let byID = Dictionary(uniqueKeysWithValues: records.map { ($0.header("ce_id") ?? "", $0) })
            #expect(Set(byID.keys) == ["b1", "s1", "m1", "m2", "m3"])
            let first = try #require(byID["b1"])
            #expect(first.keyText == "café")
            #expect(binary["partition"] == "\(first.partition)" && binary["offset"] == "\(first.offset)")
            // Without rules in this process the answer does not mention them.
            #expect(binary["rules"] == nil)
            let place = listed?.first { $0["id"] as? String == "m2" }
            #expect(place?["partition"] as? Int == byID["m2"].map { Int($0.partition) })
            #expect(place?["offset"] as? Int == byID["m2"].map { Int($0.offset) })
            #expect(first.valueText == #"{"a":1}"#)
            #expect(first.header("ce_subject") == "café")
            #expect(first.header("ce_partner") == "x")
            #expect(first.header("ce_time") == "2026-11-21T09:00:00.000Z")
            #expect(first.header("traceparent") == trace)
            #expect(first.header("tracestate") == "v=1")
            #expect(first.partition == KafkaPartitioner.partition(forKey: first.key ?? [], count: 3))
            let second = try #require(byID["s1"])
            #expect(second.keyText == "/shop")
            #expect(try JSONValue.parse(second.value ?? []) == JSONValue.parse(Array(#"{"b":2}"#.utf8)))
            #expect(second.header("traceparent") == nil)
            #expect(byID["m2"]?.keyText == "s2")
        }
    }

    @Test("An invalid event is refused with the attribute's name, and a batch as a whole")
    func wrong() async throws {
        let good = #"{"specversion":"1.0","id":"x","source":"/s","type":"t"}"#
        let cases: [(type: String?, body: String, status: Int, reason: String, field: String?)] = [
            (Self.json, "", 400, "invalid", nil),
            (Self.json, "{", 400, "invalid", nil),
            (Self.json, "[]", 400, "invalid", nil),
            (Self.json, "{}", 400, "invalid", "specversion"),
            (Self.json, #"{"specversion":"0.3","id":"x","source":"/s","type":"t"}"#, 400, "invalid", "specversion"),
            (Self.json, #"{"specversion":"1.0","source":"/s","type":"t"}"#, 400, "invalid", "id"),
            (Self.json, #"{"specversion":"1.0","id":"","source":"/s","type":"t"}"#, 400, "invalid", "id"),
            (Self.json, #"{"specversion":"1.0","id":"x","type":"t"}"#, 400, "invalid", "source"),
            (Self.json, #"{"specversion":"1.0","id":"x","source":"/s"}"#, 400, "invalid", "type"),
            (
                Self.json, #"{"specversion":"1.0","id":"x","source":"/s","type":"t","time":"now"}"#, 400, "invalid",
                "time"
            ),
            (Self.json, #"{"specversion":"1.0","id":"x","source":"/s","type":"t","Ext":"now"}"#, 400, "invalid", "Ext"),
            (Self.batch, good, 400, "invalid", nil),
            (Self.batch, "[\(good),{\"specversion\":\"1.0\"}]", 400, "invalid", "1.id"),
            (Self.batch, "[\(good),5]", 400, "invalid", "1"),
            ("application/json", "{}", 400, "invalid", "specversion"),
            (nil, "", 400, "invalid", "specversion"),
            ("text/plain", "x", 415, "unsupported-media-type", nil),
            ("application/cloudevents+avro", "x", 415, "unsupported-media-type", nil),
            ("application/cloudevents", "x", 415, "unsupported-media-type", nil),
        ]
        try await ProducerHarness.with { harness in
            for entry in cases {
                let answer = try await post(harness, entry.type, entry.body)
                #expect(answer.status == entry.status, "\(entry): \(answer.text)")
                #expect(answer["reason"] == entry.reason, "\(entry): \(answer.text)")
                #expect(answer["field"] == entry.field, "\(entry): \(answer.text)")
            }
            // The most frequent mistake: a structured event with the content type of other JSON.
            let mistaken = try await post(harness, "application/json", good)
            #expect(mistaken.status == 400 && mistaken["field"] == "specversion", "\(mistaken.text)")
            for words in [#"content-type \"application/json\""#, "has the content-type application/cloudevents+json"] {
                #expect(mistaken.text.contains(words), "\(mistaken.text)")
            }
            let deep = NotificationInputTests.nested(10_000)
            let nested = try await post(
                harness,
                Self.json,
                #"{"specversion":"1.0","id":"x","source":"/s","type":"t","data":\#(deep)}"#
            )
            #expect(nested.status == 400)
            let control = try await post(
                harness,
                "application/json",
                "{}",
                [("ce-specversion", "1.0"), ("ce-id", "%00"), ("ce-source", "/s"), ("ce-type", "t")]
            )
            #expect(control.status == 400)
            #expect(control["field"] == "id")
            // Only the valid one is on the topic.
            #expect(try await post(harness, Self.json, good).status == 202)
            let records = try await harness.records(ProducerHarness.topics.businessEvents, count: 1)
            #expect(records[0].header("ce_id") == "x")
            #expect(records[0].offset == 0)
        }
    }

    @Test("The answer lists the matching rules and what becomes of the event, with the reason of a dead letter")
    func answer() async throws {
        let rules = """
            ignore: [com.example.audit.*]
            rules:
              - name: first
                event: com.example.order
                when: "data.notify == true"
                recipient: "{{data.customer}}"
                identifier: a
                content: {title: A}
              - event: com.example.order
                when: "data.count > 1"
                recipient: "{{data.customer}}"
                cancel: b
              - {event: com.example.many, recipients: "{{data.list}}", identifier: i, content: {body: "{{data.text}}"}}
            """
        try await ProducerHarness.with(rules: rules) { harness in
            func ask(_ type: String, _ data: String) async throws -> [String: Any]? {
                let event = #"{"specversion":"1.0","id":"e","source":"/s","type":"\#(type)","data":\#(data)}"#
                let answer = try await post(harness, Self.json, event)
                #expect(answer.status == 202, "\(answer.text)")
                return try JSONSerialization.jsonObject(with: Data(answer.text.utf8)) as? [String: Any]
            }
            func expect(
                _ type: String,
                _ data: String,
                rules: [String],
                _ outcome: String?,
                reason: String? = nil,
                detail: String = ""
            ) async throws {
                let answer = try await ask(type, data)
                let comment: Comment = "\(type) \(data.prefix(100)): \(answer ?? [:])"
                #expect(answer?["rules"] as? [String] == rules && answer?["outcome"] as? String == outcome, comment)
                #expect(answer?["reason"] as? String == reason, comment)
                let said = answer?["detail"] as? String ?? ""
                #expect(detail.isEmpty || said.contains(detail), comment)
            }
            let order = "com.example.order"
            try await expect(
                order,
                #"{"notify":true,"count":2,"customer":"ana"}"#,
                rules: ["first", "com.example.order#1"],
                "published"
            )
            try await expect(order, #"{"notify":false,"count":1}"#, rules: [], "skipped")
            // A `when` that cannot be evaluated, and a template that cannot be rendered.
            for (data, variable) in [
                (#"{"notify":true,"customer":"ana"}"#, "data.count"), (#"{"notify":true,"count":1}"#, "data.customer"),
            ] {
                try await expect(
                    order,
                    data,
                    rules: ["first"],
                    "dead-lettered",
                    reason: "missing-variable",
                    detail: variable
                )
            }
            try await expect(
                "com.example.ordre",
                "{}",
                rules: [],
                "dead-lettered",
                reason: "no-rule",
                detail: "com.example.ordre"
            )
            try await expect("com.example.audit.login", "{}", rules: [], "ignored")
            // More records than a call may make to find out: nothing is said of what becomes of it.
            let list = (0..<1_000).map { "\"u\($0)\"" }.joined(separator: ",")
            let text = String(repeating: "x", count: 8_000)
            let many = ["com.example.many#0"]
            try await expect("com.example.many", #"{"list":[\#(list)],"text":"x"}"#, rules: many, "published")
            try await expect("com.example.many", #"{"list":[\#(list)],"text":"\#(text)"}"#, rules: many, nil)

            let dead = try await harness.records(ProducerHarness.topics.deadLetters, count: 3)
            let reasons = dead.compactMap { $0.header(DeadLetter.reasonHeader) }.sorted()
            #expect(reasons == ["missing-variable", "missing-variable", "no-rule"])
        }
    }

    @Test("A batch of one source without subjects keeps its order")
    func batchOrder() async throws {
        try await ProducerHarness.with { harness in
            let ids = (0..<300).map { "e\($0)" }
            let batch = ids.map { #"{"specversion":"1.0","id":"\#($0)","source":"/shop","type":"t"}"# }
            let answer = try await post(harness, Self.batch, "[\(batch.joined(separator: ","))]")
            #expect(answer.status == 202, "\(answer.text)")
            let records = try await harness.records(ProducerHarness.topics.businessEvents, count: 300)
            #expect(Set(records.map(\.partition)).count == 1)
            #expect(records.map { $0.header("ce_id") ?? "" } == ids)
        }
    }

    @Test("The rules are applied to an event from HTTP, with its trace")
    func throughRules() async throws {
        try await ProducerHarness.with(rules: IngestTests.rules) { harness in
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let answer = try await post(
                harness,
                "application/json",
                #"{"notify":true,"customer":"ana/1","order":"7"}"#,
                [
                    ("ce-specversion", "1.0"), ("ce-id", "h1"), ("ce-source", "/shop"),
                    ("ce-type", "com.example.order.shipped"), ("traceparent", trace),
                ]
            )
            #expect(answer.status == 202)
            let record = try await harness.records(ProducerHarness.topics.requests, count: 1)[0]
            #expect(record.keyText == "shop/ana%2F1/order-7")
            #expect(record.header("traceparent") == trace)
        }
    }
}
