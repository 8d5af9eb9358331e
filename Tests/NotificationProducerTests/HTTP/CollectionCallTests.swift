import HTTPTesting
import Kafka
import NotificationModel
import ServiceSupport
import Testing

@testable import NotificationProducer

@Suite("POST and DELETE of a recipient's notifications", .timeLimit(.minutes(10)))
struct CollectionCallTests {
    private static let target = "/v1/recipients/ana%2F1/notifications"

    private func removals(_ answer: RawHTTP.Answer) -> [[String: Any]] {
        answer.json?["removals"] as? [[String: Any]] ?? []
    }

    @Test("A notification without an identifier gets one, returns its location, and can be replaced and removed there")
    func post() async throws {
        try await ProducerHarness.with { harness in
            var identifiers: Set<String> = []
            for query in ["", "?application=my%20bank"] {
                let answer = try await harness.http.send(
                    "POST",
                    Self.target + query,
                    headers: [("content-type", "application/json")],
                    body: Array(#"{"content":{"body":"x"}}"#.utf8)
                )
                #expect(answer.status == 202, "\(answer.text)")
                let identifier = try #require(answer["identifier"])
                identifiers.insert(identifier)
                let location = try #require(answer.headers["location"])
                #expect(location == "\(Self.target)/\(identifier)\(query)")
                #expect(answer["topic"] == ProducerHarness.topics.requests)
                #expect(answer["requestId"] != identifier)
                #expect(try await harness.http.send("DELETE", location).status == 202)
            }
            #expect(identifiers.count == 2)
            let records = try await harness.records(ProducerHarness.topics.requests, count: 4)
            var keys: Set<String> = []
            for identifier in identifiers {
                for application in ["shop", "my%20bank"] { keys.insert("\(application)/ana%2F1/\(identifier)") }
            }
            #expect(records.allSatisfy { keys.contains($0.keyText ?? "") })
            #expect(Set(records.compactMap(\.keyText)).count == 2)
            for record in records {
                let key = try NotificationKey(encoded: try #require(record.key))
                _ = try RequestRecord.scan(try #require(record.value), key: key)
            }
        }
    }

    @Test("Several removals are one record each, acknowledged before the answer lists them; repeats count once")
    func several() async throws {
        try await ProducerHarness.with { harness in
            let answer = try await harness.http.send(
                "DELETE",
                "\(Self.target)?identifier=b&state=pending&identifier=a%2Fx&identifier=b&identifier=%C3%A9&identifier=e%CC%81"
            )
            #expect(answer.status == 202, "\(answer.text)")
            let listed = removals(answer)
            // Two encodings of é are two notifications.
            #expect(
                listed.map { ($0["identifier"] as? String).map { Array($0.utf8) } }
                    == ["b", "a/x", "é", "e\u{301}"].map { Array($0.utf8) }
            )
            let records = try await harness.records(ProducerHarness.topics.requests, count: 4)
            for (record, removal) in zip(
                records.sorted { $0.offset < $1.offset },
                listed.sorted { ($0["offset"] as? Int ?? 0) < ($1["offset"] as? Int ?? 0) }
            ) {
                let id = try #require(removal["requestId"] as? String)
                #expect(record.valueText == #"{"requestId":"\#(id)","remove":"pending"}"#)
                #expect(record.header("ce_type") == "carillon.notification.removal.v1")
                #expect(Int(record.partition) == removal["partition"] as? Int)
                #expect(Int(record.offset) == removal["offset"] as? Int)
                let key = try NotificationKey(encoded: try #require(record.key))
                #expect(key.identifier == removal["identifier"] as? String)
                #expect(key.recipient == "ana/1")
            }
        }
    }

    @Test("Without identifiers one record removes all of the recipient's", arguments: ["", "?state=delivered"])
    func all(query: String) async throws {
        try await ProducerHarness.with { harness in
            let answer = try await harness.http.send("DELETE", Self.target + query)
            #expect(answer.status == 202, "\(answer.text)")
            let record = try #require(try await harness.records(ProducerHarness.topics.requests, count: 1).first)
            #expect(record.keyText == "shop/ana%2F1/")
            let id = try #require(answer["requestId"])
            #expect(record.valueText == #"{"requestId":"\#(id)","remove":"\#(query.isEmpty ? "all" : "delivered")"}"#)
        }
    }

    @Test("The limit of identifiers is enforced, and a call above it publishes nothing")
    func bound() async throws {
        try await ProducerHarness.with { harness in
            func remove(_ count: Int) async throws -> RawHTTP.Answer {
                let query = (0..<count).map { "identifier=order-\($0)" }.joined(separator: "&")
                return try await harness.http.send("DELETE", "\(Self.target)?state=all&\(query)")
            }
            for count in [10_000, 1_001] {
                let answer = try await remove(count)
                #expect(answer.status == 413, "\(answer.text)")
                #expect(answer["reason"] == "too-large")
                #expect(answer["field"] == "identifier")
            }
            let answer = try await remove(1_000)
            #expect(answer.status == 202, "\(answer.text.prefix(200))")
            #expect(Set(removals(answer).compactMap { $0["identifier"] as? String }).count == 1_000)
            #expect(try await harness.distinctIDs(ProducerHarness.topics.requests, count: 1_000).count == 1_000)
            #expect(try await harness.records(ProducerHarness.topics.requests, count: 1_000).count == 1_000)
        }
    }

    @Test("A call whose records exceed the memory limit gets 503, and publishes nothing")
    func memory() async throws {
        try await ProducerHarness.with {
            $0.http.callBytes = 1 << 20
        } _: { harness in
            func remove(_ count: Int) async throws -> RawHTTP.Answer {
                let query = (0..<count).map { "identifier=order-\($0)" }.joined(separator: "&")
                return try await harness.http.send("DELETE", "\(Self.target)?\(query)")
            }
            let answer = try await remove(1_000)
            #expect(answer.status == 503, "\(answer.text.prefix(200))")
            #expect(answer["reason"] == "overloaded")
            #expect(answer.headers["retry-after"] == "1")
            // Reserved memory is released, however often.
            for _ in 0..<3 { #expect(try await remove(500).status == 202) }
            #expect(try await harness.records(ProducerHarness.topics.requests, count: 1_500).count == 1_500)
        }
    }

    @Test("Invalid input is refused with its field, above all input that would remove too much")
    func refused() async throws {
        try await ProducerHarness.with { harness in
            let cases: [(String, String, String, String)] = [
                ("DELETE", "?identifier=", "invalid", "identifier"), ("DELETE", "?identifier", "invalid", "identifier"),
                ("DELETE", "?identifier=a&identifier=", "invalid", "identifier"),
                ("DELETE", "?identifier=%00", "invalid", "identifier"),
                ("DELETE", "?identifier=\(String(repeating: "a", count: 257))", "invalid", "identifier"),
                ("DELETE", "?identifier=%ff", "not-utf8", "identifier"), ("DELETE", "?state=gone", "invalid", "state"),
                ("DELETE", "?state=all&state=all", "invalid", "state"), ("DELETE", "?id=a", "unknown-field", "id"),
                ("POST", "?identifier=a", "unknown-field", "identifier"),
                ("POST", "?state=all", "unknown-field", "state"),
            ]
            for (method, query, reason, field) in cases {
                let answer = try await harness.http.send(
                    method,
                    Self.target + query,
                    headers: [("content-type", "application/json")],
                    body: Array(#"{"content":{"body":"x"}}"#.utf8)
                )
                #expect(answer.status == 400, "\(query): \(answer.text)")
                #expect(answer["reason"] == reason, "\(query): \(answer.text)")
                #expect(answer["field"] == field, "\(query): \(answer.text)")
            }
            for method in ["GET", "PUT", "PATCH"] {
                let answer = try await harness.http.send(method, Self.target)
                #expect(answer.status == 405)
                #expect(answer.headers["allow"] == "POST, DELETE")
            }
            #expect(try await harness.http.send("POST", "\(Self.target)/").status == 405)
            #expect(try await harness.http.send("DELETE", "\(Self.target)/").status == 400)
            for unknown in ["/v1/recipients/u/nosuch/d", "/v1/nosuch", "/v1/recipients/u/nosuch"] {
                #expect(try await harness.http.send("PUT", unknown).status == 404)
            }
            #expect(try await harness.http.put("\(Self.target)/last", #"{"content":{"body":"x"}}"#).status == 202)
            let records = try await harness.records(ProducerHarness.topics.requests, count: 1)
            #expect(records.map(\.keyText) == ["shop/ana%2F1/last"])
        }
    }

    @Test("A body at its limit is refused when its record would exceed the limit, and accepted just below")
    func recordBound() async throws {
        try await ProducerHarness.with { harness in
            func put(_ count: Int) async throws -> RawHTTP.Answer {
                let frame = #"{"content":{"body":""}}"#
                let text = String(repeating: "x", count: count - frame.utf8.count)
                return try await harness.http.put("\(Self.target)/i", #"{"content":{"body":"\#(text)"}}"#)
            }
            let refused = try await put(ModelLimits.requestBytes)
            #expect(refused.status == 413, "\(refused.text.prefix(300))")
            #expect(refused["reason"] == "too-large")
            let bound = try #require(refused["detail"]?.split(separator: " ").compactMap { Int($0) }.first)
            #expect(try await put(bound + 1).status == 413)
            #expect(try await put(bound).status == 202)
            let record = try #require(try await harness.records(ProducerHarness.topics.requests, count: 1).first)
            _ = try RequestRecord.scan(
                try #require(record.value),
                key: try NotificationKey(encoded: try #require(record.key))
            )
        }
    }
}
