import HTTPTesting
import Kafka
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("POST of responses, receipts, reports, app states and retirements")
struct SignalCallTests {
    private static let recipient = "/v1/recipients/ana%2F1"
    private static let json = ("content-type", "application/json")
    private static let at = ProducerHarness.now.rfc3339

    /// The path of each type, and a body.
    private static let calls: [(String, SignalType, String)] = [
        (
            "responses", .response,
            #"{"identifier":"i","requestId":"q","responseId":"r","device":"d","actionIdentifier":"reply","userText":"hi"}"#
        ),
        ("receipts", .receipt, #"{"identifier":"i","requestId":"q","device":"d","receipt":"opened"}"#),
        ("reports", .report, #"{"identifier":"i","requestId":"q","device":"d","outcome":"unregistered"}"#),
        ("app-states", .appState, #"{"device":"d","state":"foreground","badge":2,"at":"\#(at)"}"#),
        ("retirements", .retirement, #"{"device":"d","token":"AB","gone":"\#(at)"}"#),
    ]

    @Test(
        "A signal is on signals with its recipient's key and partition, and its application",
        arguments: [nil, "bank"]
    )
    func post(application: String?) async throws {
        try await ProducerHarness.with { harness in
            for (count, (path, type, body)) in Self.calls.enumerated() {
                let query = application.map { "?application=\($0)" } ?? ""
                let answer = try await harness.http.send(
                    "POST",
                    "\(Self.recipient)/\(path)\(query)",
                    headers: [Self.json, ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")],
                    body: Array(body.utf8)
                )
                #expect(answer.status == 202, "\(answer.text)")
                #expect(answer["responseId"] == (type == .response ? "r" : nil))
                let records = try await harness.records(ProducerHarness.topics.signals, count: count + 1)
                let record = try #require(records.first { $0.header("ce_type") == type.eventType })
                #expect(answer["topic"] == ProducerHarness.topics.signals && answer["offset"] == "\(record.offset)")
                #expect(record.keyText == "ana%2F1")
                #expect(record.partition == KafkaPartitioner.partition(forKey: Array("ana/1".utf8), count: 3))
                #expect(record.header("ce_source") == "/carillon/test")
                #expect(record.header("traceparent")?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
                var expected = try Signal(type, body: Array(body.utf8))
                expected.application = application ?? "shop"
                #expect(try Signal(type, json: try #require(record.value)) == expected)
            }
        }
    }

    @Test("A response without an id gets one; a repeat with the same Idempotency-Key gets the same")
    func responseIDs() async throws {
        let body = Array(#"{"identifier":"i","requestId":"q","actionIdentifier":"default"}"#.utf8)
        try await ProducerHarness.with { harness in
            func id(_ headers: [(String, String)]) async throws -> String {
                let answer = try await harness.http.send(
                    "POST",
                    "\(Self.recipient)/responses",
                    headers: [Self.json] + headers,
                    body: body
                )
                return try #require(answer["responseId"])
            }
            let first = try await id([])
            #expect(try await id([]) != first)
            let repeated = try await id([("idempotency-key", "\"k\"")])
            #expect(try await id([("idempotency-key", "\"k\"")]) == repeated && repeated != first)
            #expect(try await id([("idempotency-key", "\"l\"")]) != repeated)
            let records = try await harness.records(ProducerHarness.topics.signals, count: 5)
            let values = try records.map { String(decoding: try #require($0.value), as: UTF8.self) }
            #expect(values.filter { $0.contains("\"responseId\":\"\(repeated)\"") }.count == 2)
        }
    }

    @Test("An invalid signal is refused with reason and field, and nothing is published")
    func invalid() async throws {
        func response(_ member: String) -> String {
            #"{"identifier":"i","requestId":"q","actionIdentifier":"a",\#(member)}"#
        }
        let future = ProducerHarness.now.adding(milliseconds: 300_001).rfc3339
        let long = String(repeating: "x", count: 10_240)
        let cases: [(path: String, body: String, status: Int, reason: String, field: String?)] = [
            ("responses", response(#""userText":"\#(long)""#), 413, "too-large", "userText"),
            ("responses", response(#""userText":"a\u0007b""#), 400, "invalid", "userText"),
            ("responses", response(#""device":"a\nb""#), 400, "invalid", "device"),
            ("responses", response(#""text":"a""#), 400, "unknown-field", "text"),
            ("responses", response(#""application":"shop""#), 400, "unknown-field", "application"),
            ("responses", #"{"identifier":"i","actionIdentifier":"a"}"#, 400, "invalid", "requestId"),
            ("responses", #"{"identifier":"","requestId":"q","actionIdentifier":"a"}"#, 400, "invalid", "identifier"),
            (
                "receipts", #"{"identifier":"i","requestId":"q","device":"d","receipt":"seen"}"#, 400, "invalid",
                "receipt"
            ),
            ("receipts", #"{"identifier":"i","requestId":"q","receipt":"opened"}"#, 400, "invalid", "device"),
            ("reports", #"{"identifier":"i","requestId":"q","device":"d","outcome":1}"#, 400, "invalid", "outcome"),
            ("app-states", #"{"device":"d","state":"asleep"}"#, 400, "invalid", "state"),
            ("app-states", #"{"device":"d","state":"background","at":"\#(future)"}"#, 400, "in-future", "at"),
            ("retirements", #"{"device":"d","token":"ab"}"#, 400, "invalid", "gone"),
            ("retirements", #"{"device":"d","gone":"\#(future)"}"#, 400, "in-future", "gone"),
            ("responses", "[]", 400, "invalid", nil), ("responses", #"{"identifier":"#, 400, "invalid", nil),
            ("responses", #"{"a":"\#(String(repeating: "x", count: 70_000))"}"#, 413, "too-large", nil),
        ]
        try await ProducerHarness.with { harness in
            for entry in cases {
                let answer = try await harness.http.send(
                    "POST",
                    "\(Self.recipient)/\(entry.path)",
                    headers: [Self.json],
                    body: Array(entry.body.utf8)
                )
                #expect(answer.status == entry.status && answer["reason"] == entry.reason, "\(entry): \(answer.text)")
                if let field = entry.field { #expect(answer["field"] == field, "\(answer.text)") }
                #expect(!answer.text.contains("xxxx"))
            }
            for (path, _, body) in Self.calls {
                let text = try await harness.http.send(
                    "POST",
                    "\(Self.recipient)/\(path)",
                    headers: [("content-type", "text/plain")],
                    body: Array(body.utf8)
                )
                #expect(text.status == 415)
                #expect(try await harness.http.send("GET", "\(Self.recipient)/\(path)").status == 405)
                let query = try await harness.http.send(
                    "POST",
                    "\(Self.recipient)/\(path)?device=d",
                    headers: [Self.json],
                    body: Array(body.utf8)
                )
                #expect(query.status == 400 && query["reason"] == "unknown-field")
            }
            let (path, _, body) = Self.calls[0]
            let last = try await harness.http.send(
                "POST",
                "\(Self.recipient)/\(path)",
                headers: [Self.json],
                body: Array(body.utf8)
            )
            #expect(last.status == 202 && last["offset"] == "0", "\(last.text)")
        }
    }
}
