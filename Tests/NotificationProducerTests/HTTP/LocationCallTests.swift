import HTTPTesting
import Kafka
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("POST of a location")
struct LocationCallTests {
    private static let path = "/v1/recipients/ana%2F1/locations"
    private static let body =
        #"{"device":"phone","latitude":31.23,"longitude":121.47,"accuracy":15,"at":"\#(ProducerHarness.now.rfc3339)"}"#
    private static let json = ("content-type", "application/json")

    @Test("A location is on signals with the recipient as key and in its partition", arguments: [nil, "bank"])
    func post(application: String?) async throws {
        try await ProducerHarness.with { harness in
            let query = application.map { "?application=\($0)" } ?? ""
            let answer = try await harness.http.send(
                "POST",
                Self.path + query,
                headers: [Self.json],
                body: Array(Self.body.utf8)
            )
            #expect(answer.status == 202, "\(answer.text)")
            let record = try #require(try await harness.records(ProducerHarness.topics.signals, count: 1).first)
            #expect(answer["topic"] == ProducerHarness.topics.signals && answer["offset"] == "\(record.offset)")
            #expect(record.keyText == "ana%2F1")
            #expect(record.partition == KafkaPartitioner.partition(forKey: Array("ana/1".utf8), count: 3))
            #expect(record.header("ce_type") == "carillon.signal.location.v1")
            #expect(record.header("ce_source") == "/carillon/test" && record.header("ce_specversion") == "1.0")
            let fix = try LocationFix(json: try #require(record.value))
            #expect(fix.application == application ?? "shop" && fix.device == "phone" && fix.accuracy == 15)
        }
    }

    @Test("An invalid location is refused with reason and field")
    func invalid() async throws {
        func with(_ field: String, _ value: String) -> String {
            var members = ["device": #""d""#, "latitude": "1", "longitude": "2", "at": #""2020-01-01T00:00:00Z""#]
            members[field] = value
            return "{\(members.map { "\"\($0)\":\($1)" }.joined(separator: ","))}"
        }
        let future = ProducerHarness.now.adding(milliseconds: 300_001).rfc3339
        let cases: [(String, status: Int, reason: String, field: String?)] = [
            (with("latitude", "90.5"), 400, "invalid", "latitude"),
            (with("longitude", "-181"), 400, "invalid", "longitude"),
            (with("accuracy", "-1"), 400, "invalid", "accuracy"),
            (with("device", #""""#), 400, "invalid", "device"),
            (with("at", "\"\(future)\""), 400, "in-future", "at"),
            (with("speed", "3"), 400, "unknown-field", "speed"),
            (with("application", #""shop""#), 400, "unknown-field", "application"),
            (with("latitude", "NaN"), 400, "invalid", nil),
            ("{}", 400, "invalid", "device"),
            ("[]", 400, "invalid", nil),
            (with("device", "\"\(String(repeating: "x", count: 70_000))\""), 413, "too-large", nil),
        ]
        try await ProducerHarness.with { harness in
            for entry in cases {
                let answer = try await harness.http.send(
                    "POST",
                    Self.path,
                    headers: [Self.json],
                    body: Array(entry.0.utf8)
                )
                #expect(answer.status == entry.status && answer["reason"] == entry.reason, "\(entry): \(answer.text)")
                if let field = entry.field { #expect(answer["field"] == field, "\(answer.text)") }
            }
            let text = try await harness.http.send(
                "POST",
                Self.path,
                headers: [("content-type", "text/plain")],
                body: Array(Self.body.utf8)
            )
            #expect(text.status == 415)
            #expect(try await harness.http.send("GET", Self.path).status == 405)
        }
    }
}
