import HTTPTesting
import Kafka
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("PUT and DELETE of a notification")
struct NotificationCallTests {
    @Test("A request is on its topic with key, partition, value and headers before it is answered")
    func put() async throws {
        try await ProducerHarness.with { harness in
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            let answer = try await harness.http.put(
                "/v1/recipients/user-42/notifications/order-1001",
                #" {"content":{"title":"é"},"version":7,"trigger":{"type":"timeInterval","timeInterval":3600}} "#,
                headers: [("traceparent", trace), ("tracestate", "a=1")]
            )
            #expect(answer.status == 202, "\(answer.text)")
            let topic = ProducerHarness.topics.requests
            let record = try #require(try await harness.records(topic, count: 1).first)
            #expect(answer["topic"] == topic)
            #expect(answer["partition"] == "\(record.partition)")
            #expect(answer["offset"] == "\(record.offset)")
            let id = try #require(answer["requestId"])
            #expect(record.keyText == "shop/user-42/order-1001")
            #expect(record.partition == KafkaPartitioner.partition(forKey: Array("user-42".utf8), count: 3))
            let value = try JSONValue.parse(try #require(record.value))
            #expect(value["requestId"] == .string(id))
            #expect(value["application"] == .string("shop"))
            #expect(value["recipient"] == .string("user-42"))
            #expect(value["identifier"] == .string("order-1001"))
            #expect(value["version"] == .number("7"))
            #expect(value.value(at: "content.title") == .string("é"))
            #expect(record.header("ce_specversion") == "1.0")
            #expect(record.header("ce_id") == id)
            #expect(record.header("ce_source") == "/carillon/test")
            #expect(record.header("ce_type") == "carillon.notification.request.v1")
            #expect(record.header("ce_time") == ProducerHarness.now.rfc3339)
            #expect(record.header("ce_subject") == "shop/user-42/order-1001")
            #expect(record.header("content-type") == "application/json")
            #expect(record.header("traceparent") == trace)
            #expect(record.header("tracestate") == "a=1")
        }
    }

    @Test("A payload of APNs is published as a content, and the answer lists what no content says")
    func existingPayload() async throws {
        try await ProducerHarness.with { harness in
            let path = "/v1/recipients/user-42/notifications"
            let body = #"{"content":{"apns":{"aps":{"alert":"A","url-args":["a"]},"n":1}}}"#
            for (method, path) in [("PUT", "\(path)/order-1001"), ("POST", path)] {
                let answer = try await harness.http.send(
                    method,
                    path,
                    headers: [("content-type", "application/json")],
                    body: Array(body.utf8)
                )
                #expect(answer.status == 202, "\(answer.text)")
                let json = try JSONValue.parse(Array(answer.text.utf8))
                #expect(json["notConverted"] == .array([.string("aps.url-args")]))
            }
            for record in try await harness.records(ProducerHarness.topics.requests, count: 2) {
                let content = try JSONValue.parse(try #require(record.value))["content"]
                #expect(content == (try JSONValue.parse(Array(#"{"body":"A","userInfo":{"n":1}}"#.utf8))))
            }
            let wrong = try await harness.http.put("\(path)/a", #"{"content":{"apns":{"aps":{"badge":"1"}}}}"#)
            #expect(wrong.status == 400 && wrong["field"] == "content.apns.aps.badge")
        }
    }

    @Test(
        "A removal is on its topic, with scope all by default",
        arguments: [nil, "pending", "delivered", "all"]
    )
    func delete(state: String?) async throws {
        try await ProducerHarness.with { harness in
            let query = state.map { "&state=\($0)" } ?? ""
            let answer = try await harness.http.send(
                "DELETE",
                "/v1/recipients/user-42/notifications/order-1001?application=bank\(query)",
                headers: [("traceparent", "nonsense")]
            )
            #expect(answer.status == 202, "\(answer.text)")
            let record = try #require(try await harness.records(ProducerHarness.topics.requests, count: 1).first)
            #expect(record.keyText == "bank/user-42/order-1001")
            #expect(record.header("ce_type") == "carillon.notification.removal.v1")
            #expect(record.header("traceparent") == nil)
            let id = try #require(answer["requestId"])
            #expect(record.valueText == #"{"requestId":"\#(id)","remove":"\#(state ?? "all")"}"#)
        }
    }

    @Test("Path parameters are decoded exactly once, and never treated as paths")
    func odd() async throws {
        let cases: [(recipient: String, identifier: String, key: String)] = [
            ("ana%2F1", "a", "shop/ana%2F1/a"), ("ana%252F1", "a", "shop/ana%252F1/a"), ("u", "..", "shop/u/.."),
            ("u", ".", "shop/u/."),
            ("..", "..", "shop/../.."), ("u", "%25", "shop/u/%25"), ("u", "a+b", "shop/u/a%2Bb"),
            ("u", "%E4%BD%A0", "shop/u/%E4%BD%A0"),
            ("u", "%2e%2E", "shop/u/.."), ("u", "a%3Fb%23c", "shop/u/a%3Fb%23c"), ("u", "~-._", "shop/u/~-._"),
            ("u", String(repeating: "a", count: 256), "shop/u/" + String(repeating: "a", count: 256)),
        ]
        try await ProducerHarness.with { harness in
            for entry in cases {
                let answer = try await harness.http.put(
                    "/v1/recipients/\(entry.recipient)/notifications/\(entry.identifier)",
                    #"{"content":{"body":"x"}}"#
                )
                #expect(answer.status == 202, "\(entry): \(answer.text)")
            }
            let records = try await harness.records(ProducerHarness.topics.requests, count: cases.count)
            #expect(Set(records.map(\.keyText)) == Set(cases.map(\.key)))
            for record in records {
                let key = try NotificationKey(encoded: try #require(record.key))
                #expect(record.partition == KafkaPartitioner.partition(forKey: key.recipientBytes, count: 3))
                _ = try RequestRecord.scan(try #require(record.value), key: key)
            }
        }
    }
}
