import HTTPTesting
import Kafka
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationProducer

/// Input that does not fit in a record is refused before anything is published.
@Suite("Calls larger than a record", .timeLimit(.minutes(10)))
struct LargeCallTests {
    private static let batch = "application/cloudevents-batch+json"
    private static let key = "/v1/recipients/ana/notifications/order"

    private func post(_ harness: ProducerHarness, _ type: String, _ body: String) async throws -> RawHTTP.Answer {
        try await harness.http.send("POST", "/v1/events", headers: [("content-type", type)], body: Array(body.utf8))
    }

    private func event(_ id: String, data: Int = 2) -> String {
        let text = String(repeating: "x", count: data - 2)
        return #"{"specversion":"1.0","id":"\#(id)","source":"/s","type":"t","subject":"same","data":"\#(text)"}"#
    }

    /// The largest data of such an event that fits in a record.
    private func largest(_ bound: Int) throws -> Int {
        let type = "application/cloudevents+json"
        let events = try BusinessEvent.parse(httpHeaders: [("content-type", type)], body: Array(event("12345").utf8))
        let parsed = try #require(events.first)
        let headers = parsed.kafkaHeaders().map { ($0.name, Optional($0.value)) }
        return 2 + bound - RecordBound.size(key: parsed.kafkaKey, value: parsed.kafkaValue, headers: headers)
    }

    @Test(
        "A batch with one event too large publishes nothing, and the answer names the event",
        arguments: [100_000, nil]
    )
    func batch(_ bytes: Int?) async throws {
        let bound = bytes ?? 1_000_000
        let most = try largest(bound)
        try await ProducerHarness.with(configure: { configuration in
            if let bytes { configuration.kafkaProperties["message.max.bytes"] = "\(bytes)" }
        }) { harness in
            for (index, place) in [0, 1, 2].enumerated() {
                var events = (0..<3).map { event("a\(index)-\($0)") }
                events[place] = event("12345", data: most + 1)
                let answer = try await post(harness, Self.batch, "[\(events.joined(separator: ","))]")
                #expect(answer.status == 413, "\(answer.text)")
                #expect(answer["reason"] == "too-large")
                #expect(answer["field"] == "\(place)")
                #expect(answer["detail"]?.contains("\(bound)") == true, "\(answer.text)")
            }
            let alone = try await post(harness, "application/cloudevents+json", event("12345", data: most + 1))
            #expect(alone.status == 413)
            #expect(alone["field"] == nil)
            // The largest event that fits is accepted, and is the first on the topic.
            let last = "[\(event("small")),\(event("12345", data: most))]"
            let answer = try await post(harness, Self.batch, last)
            #expect(answer.status == 202, "\(answer.text)")
            let records = try await harness.records(ProducerHarness.topics.businessEvents, count: 2)
            #expect(Set(records.map(\.offset)) == [0, 1])
            #expect(Set(records.compactMap { $0.header("ce_id") }) == ["small", "12345"])
        }
    }

    @Test("A notification that is too large for the consumer service's records is refused")
    func notification() async throws {
        let bound = RecordBound(100_000)
        func body(_ content: Int) -> String {
            #"{"content":{"title":"\#(String(repeating: "x", count: content - 12))"}}"#
        }
        try await ProducerHarness.with(configure: { $0.kafkaProperties["message.max.bytes"] = "\(bound.bytes)" }) {
            harness in
            let refused = try await harness.http.put(Self.key, body(bound.content() + 1))
            #expect(refused.status == 413, "\(refused.text)")
            #expect(refused["field"] == "content")
            #expect(refused["detail"]?.contains("\(bound.content())") == true)
            // White space is not content, but it does not fit in the record either.
            let spaced = try await harness.http.put(Self.key, body(20) + String(repeating: " ", count: 100_000))
            #expect(spaced.status == 413, "\(spaced.text)")
            #expect(try await harness.http.put(Self.key, body(bound.content())).status == 202)
            let records = try await harness.records(ProducerHarness.topics.requests, count: 1)
            #expect(records[0].offset == 0)
        }
    }

    @Test("A removal of several identifiers of maximum length fits in the smallest record")
    func removals() async throws {
        let recipient = String(repeating: "%22", count: 256)
        try await ProducerHarness.with(configure: { configuration in
            configuration.kafkaProperties["message.max.bytes"] = "\(RecordBound.least)"
        }) { harness in
            let identifiers = (0..<20).map { "identifier=\(String(repeating: "%22", count: 253))\(100 + $0)" }
            let target = "/v1/recipients/\(recipient)/notifications?\(identifiers.joined(separator: "&"))"
            let answer = try await harness.http.send("DELETE", target)
            #expect(answer.status == 202, "\(answer.text)")
            #expect(try await harness.records(ProducerHarness.topics.requests, count: 20).count == 20)
        }
    }
}
