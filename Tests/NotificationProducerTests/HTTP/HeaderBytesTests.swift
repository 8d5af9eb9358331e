import HTTPTesting
import Kafka
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Bytes of heads that are not UTF-8", .timeLimit(.minutes(10)))
struct HeaderBytesTests {
    private static let token = "a-secret-of-sixteen"
    private static let event = [
        ("ce-specversion", "1.0"), ("ce-source", "/shop"), ("ce-type", "t"), ("content-type", "application/json"),
        ("authorization", "Bearer \(token)"),
    ]

    /// A call with raw bytes in its header fields, as no proper client would send them.
    private func call(
        _ harness: ProducerHarness,
        _ method: String,
        _ target: [UInt8],
        _ headers: [(String, [UInt8])],
        body: String = ""
    ) async throws -> RawHTTP.Answer {
        var bytes = Array("\(method) ".utf8) + target + Array(" HTTP/1.1\r\nhost: localhost\r\n".utf8)
        for (name, value) in headers { bytes += Array("\(name): ".utf8) + value + Array("\r\n".utf8) }
        bytes += Array("connection: close\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        return try await harness.http.exchange(bytes)
    }

    private func post(
        _ harness: ProducerHarness,
        _ name: String,
        _ value: [UInt8]
    ) async throws -> RawHTTP.Answer {
        var headers = Self.event.filter { $0.0 != name }.map { ($0.0, Array($0.1.utf8)) }
        if name != "ce-id" { headers.append(("ce-id", Array("x".utf8))) }
        headers.append((name, value))
        return try await call(harness, "POST", Array("/v1/events".utf8), headers, body: "{}")
    }

    @Test("A header that is not UTF-8 is refused by name, so that two ids never become one")
    func headers() async throws {
        let fields: [(name: String, field: String)] = [
            ("ce-id", "id"), ("ce-source", "source"), ("ce-subject", "subject"), ("ce-partner", "partner"),
            ("content-type", "content-type"), ("traceparent", "traceparent"), ("idempotency-key", "idempotency-key"),
            ("authorization", "authorization"), ("x-other", "x-other"),
        ]
        try await ProducerHarness.with(tokens: "publish \(Self.token)\n") { harness in
            for (name, field) in fields {
                // Latin 1, a truncated sequence, an overlong one, a surrogate.
                for wrong: [UInt8] in [[0xE9], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80]] {
                    let answer = try await post(harness, name, Array("dup".utf8) + wrong)
                    #expect(answer.status == 400, "\(name) \(wrong): \(answer.text)")
                    #expect(answer["reason"] == "not-utf8", "\(name) \(wrong): \(answer.text)")
                    #expect(answer["field"] == field, "\(name) \(wrong): \(answer.text)")
                }
            }
            // Valid UTF-8 keeps its meaning, also percent-encoded as in the HTTP binding.
            #expect(try await post(harness, "ce-id", Array("dupé".utf8)).status == 202)
            #expect(try await post(harness, "ce-id", Array("dup%C3%A8%EF%BF%BD".utf8)).status == 202)
            let ids = try await harness.records(ProducerHarness.topics.businessEvents, count: 2)
                .compactMap { $0.header("ce_id") }
            #expect(Set(ids) == ["dupé", "dupè\u{FFFD}"])
        }
    }

    @Test("A percent-encoded header whose bytes are not UTF-8 is refused as well")
    func percentEncoded() async throws {
        try await ProducerHarness.with { harness in
            for value in ["dup%E9", "%C3", "%C0%AF", "%ED%A0%80"] {
                let answer = try await post(harness, "ce-id", Array(value.utf8))
                #expect(answer.status == 400, "\(value): \(answer.text)")
                #expect(answer["reason"] == "not-utf8", "\(value): \(answer.text)")
                #expect(answer["field"] == "id", "\(value): \(answer.text)")
            }
        }
    }

    @Test("A target with raw bytes that are not UTF-8 is refused")
    func target() async throws {
        try await ProducerHarness.with { harness in
            let targets = [
                Array("/v1/recipients/an".utf8) + [0xE9] + Array("/notifications/order".utf8),
                Array("/v1/recipients/ana/notifications/order".utf8) + [0xE9],
                Array("/v1/recipients/ana/notifications/order?application=sh".utf8) + [0xE9],
            ]
            for target in targets {
                let answer = try await call(harness, "DELETE", target, [])
                #expect(answer.status == 400, "\(answer.text)")
            }
            let good = Array("/v1/recipients/an%EF%BF%BD/notifications/order".utf8)
            #expect(try await call(harness, "DELETE", good, []).status == 202)
        }
    }

    @Test("An event on Kafka with such a header is a dead letter, and the next one is processed")
    func kafka() async throws {
        try await ProducerHarness.with(rules: IngestTests.rules) { harness in
            func record(_ name: String?, _ value: [UInt8] = [], id: String) -> KafkaProducerRecord {
                var record = BusinessEvent.sample(
                    id: id,
                    data: #"{"notify":true,"customer":"ana","order":"\#(id)"}"#
                ).record
                if let name {
                    record.headers.removeAll { $0.name == name }
                    record.headers.append(KafkaHeader(name: name, value: value))
                }
                return record
            }
            let wrong = ["ce_id", "ce_source", "ce_subject", "ce_partner", "content-type"]
            try await harness.produce(wrong.map { record($0, [0x64, 0xE9], id: "a") } + [record(nil, id: "good")])
            let letters = try await harness.records(ProducerHarness.topics.deadLetters, count: wrong.count)
            #expect(letters.allSatisfy { $0.header(DeadLetter.reasonHeader) == "not-utf8" })
            #expect(
                Set(letters.compactMap { $0.header(DeadLetter.fieldHeader) })
                    == ["id", "source", "subject", "partner", "datacontenttype"]
            )
            // The original bytes are unchanged.
            #expect(letters.allSatisfy { letter in letter.headers.contains { $0.value == [0x64, 0xE9] } })
            let requests = try await harness.records(ProducerHarness.topics.requests, count: 1)
            #expect(requests[0].keyText?.hasSuffix("good") == true)
        }
    }
}
