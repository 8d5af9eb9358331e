import NotificationModel
import Testing

@testable import Kafka
@testable import carillon

@Suite("Output of tail --json can be sent again")
struct TailLineTests {
    private static let id = "0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11"

    private func request(_ line: [UInt8]) throws -> OutgoingMessage {
        try RequestMessages(source: "/test").message(
            json: line,
            defaults: .init(application: "other", recipient: "other")
        )
    }

    private func expectSame(_ message: OutgoingMessage, _ record: KafkaConsumerRecord) {
        #expect(message.key == record.key)
        #expect(message.value == record.value)
        #expect(message.timestamp == record.timestamp)
        #expect(message.headers.headers.map(\.name) == record.headers.map(\.name))
        #expect(message.headers.headers.map(\.value) == record.headers.map(\.value))
    }

    @Test(arguments: [
        #"{"requestId":"\#(id)","content":{"title":"T"},"trigger":{"type":"timeInterval","timeInterval":3600}}"#,
        #"{ "requestId": "\#(id)", "content": {"title": "\u00fc\/"}, "version": 7}"#,
        #"{"remove":"pending"}"#, nil,
    ])
    func `a request, a removal and a null value, byte for byte`(_ value: String?) throws {
        let original = record(
            topic: "old.requests",
            key: "shop/a%2Fb/order-1",
            value: value,
            headers: [
                ("ce_type", Array("carillon.notification.request.v1".utf8)), ("ce_id", Array(Self.id.utf8)),
                ("binary", [0, 0xFF]), ("none", nil), ("mark", Array("\u{200F}".utf8)),
            ]
        )
        let line = PrintableText.escaped(json: RecordJSON.line(original))
        let message = try request(line)
        expectSame(message, original)
        #expect(message.partitionKey == Array("a/b".utf8))
        if value?.contains(Self.id) == true { #expect(message.label == .request(try RequestID(text: Self.id))) }
    }

    @Test func `an event in binary and in structured mode`() throws {
        let binary = record(
            topic: "carillon.business-events",
            key: "order-1",
            value: "not JSON",
            headers: [
                ("ce_specversion", Array("1.0".utf8)), ("ce_id", Array("1".utf8)), ("ce_source", Array("/s".utf8)),
                ("ce_type", Array("com.example.a".utf8)), ("content-type", Array("text/plain".utf8)),
            ]
        )
        expectSame(try EventMessages.message(json: RecordJSON.line(binary)), binary)
        let structured = record(
            key: nil,
            value: #"{"specversion":"1.0","id":"2","source":"/s","type":"a","data":{"n":1.50}}"#,
            headers: [("content-type", Array("application/cloudevents+json".utf8))]
        )
        let message = try EventMessages.message(json: RecordJSON.line(structured))
        expectSame(message, structured)
        #expect(message.label == .event(id: "2", source: "/s"))
        // Without a key its partition is that of its derived key.
        #expect(message.partitionKey == Array("/s".utf8))
    }

    @Test func `lines of other topics, and broken lines, are refused with the member`() throws {
        func refusal(_ line: [UInt8]) -> ModelError? {
            do throws(ModelError) {
                _ = try RequestMessages(source: "/test").message(json: line, defaults: .init(application: "a"))
                return nil
            } catch { return error }
        }
        let delivered = RecordJSON.line(record(type: "carillon.notification.delivered.v1"))
        #expect(refusal(delivered)?.field == "topic")
        let dead = record(value: "{}", headers: [("carillon-reason", Array("invalid".utf8))])
        #expect(refusal(RecordJSON.line(dead))?.field == "topic")
        // A marker has no recipient.
        #expect(refusal(RecordJSON.line(record(key: "marker", value: "{}")))?.field == "key")
        #expect(refusal(RecordJSON.line(record(key: nil, value: nil)))?.field == "key")
        func broken(_ member: String) -> [UInt8] {
            Array(#"{"topic":"t","partition":0,"offset":0,"headers":{"a":1},"key":"a/b/c",\#(member)}"#.utf8)
        }
        #expect(refusal(broken(#""value":null"#))?.field == "headers.a")
        let line = String(decoding: broken(#""valueBase64":"!""#), as: UTF8.self).replacing(#"{"a":1}"#, with: "{}")
        #expect(refusal(Array(line.utf8))?.field == "valueBase64")
        // Neither is a line of tail.
        #expect(
            refusal(Array(#"{"topic":"t","recipient":"r","identifier":"i","content":{"title":"T"}}"#.utf8))?.reason
                == .unknownField
        )
    }
}
