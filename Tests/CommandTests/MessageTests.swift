import ArgumentParser
import Foundation
import Kafka
import LocalBroker
import NotificationModel
import NotificationPublisher
import Testing
import TestSupport

@testable import carillon

@Suite("Messages from options and from JSON", .timeLimit(.minutes(10)))
struct MessageTests {
    private static let now = Timestamp(rawValue: 1_795_000_000_000)
    private let messages = RequestMessages(source: "/test", now: { now })
    private let defaults = RequestMessages.Defaults(application: "shop")

    private func value(_ message: OutgoingMessage) throws -> JSONValue {
        try JSONValue.parse(message.value ?? [])
    }

    /// The error of a refused line: `reason at field`.
    private func refusal(_ json: String, _ defaults: RequestMessages.Defaults? = nil) -> String? {
        do throws(ModelError) {
            _ = try messages.message(json: Array(json.utf8), defaults: defaults ?? self.defaults)
            return nil
        } catch {
            return "\(error.reason.rawValue) at \(error.field ?? "-")"
        }
    }

    // MARK: Requests

    @Test func `a request and a removal are the records that NotificationPublisher creates`() async throws {
        let broker = try LocalBroker(topics: ["r": 5])
        let producer = try KafkaProducer(configuration: .init(client: broker.clientConfiguration()), logger: quiet)
        let publisher = NotificationPublisher(
            producer: producer,
            configuration: .init(topic: "r", source: "/test"),
            now: { Self.now }
        )
        let key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "order 1")
        let request = NotificationRequest(
            requestID: try RequestID(text: "id-1"),
            key: key,
            version: 3,
            content: NotificationContent(title: "é"),
            trigger: .timeInterval(.init(timeInterval: 60))
        )
        let removal = NotificationRemoval(requestID: try RequestID(text: "id-2"), key: key, scope: .pending)
        let first = try await publisher.publish(request)
        try await publisher.remove(removal)
        await producer.shutDown(within: .seconds(5))
        let read = KafkaConsumerRecords(
            configuration: .init(client: broker.clientConfiguration()),
            topics: ["r"],
            start: .beginning,
            logger: quiet
        )
        var published: [KafkaConsumerRecord] = []
        for try await record in read {
            published.append(record)
            if published.count == 2 { break }
        }
        let made = [try messages.message(request, at: Self.now), try messages.message(removal)]
        for (record, message) in zip(published, made) {
            #expect(record.key == message.key)
            #expect(record.value == message.value)
            #expect(record.headers == message.headers.headers)
            #expect(KafkaPartitioner.partition(forKey: message.partitionKey, count: 5) == first.partition)
        }
        await broker.shutDown()
    }

    @Test func `a line has all fields of a request, and gets an id and its missing fields`() throws {
        let line = """
            {"recipient":"ana","identifier":"order-1","version":7,"content":{"title":"T","userInfo":{"a":[1.50]}},
             "trigger":{"type":"timeInterval","timeInterval":60,"repeats":true},"collapseWindow":10}
            """
        let message = try messages.message(json: Array(line.utf8), defaults: defaults)
        #expect(message.key == Array("shop/ana/order-1".utf8))
        #expect(message.partitionKey == Array("ana".utf8))
        #expect(message.timestamp == Self.now.rawValue)
        let value = try value(message)
        #expect(value["application"]?.stringValue == "shop")
        #expect(value["version"]?.integerValue == 7)
        #expect(value.value(at: "content.userInfo.a.0") == .number("1.50"))
        #expect(value.value(at: "trigger.repeats")?.boolValue == true)
        guard case .request(let id) = message.label else {
            Issue.record("\(message.label)")
            return
        }
        #expect(value["requestId"]?.stringValue == id.description)
    }

    @Test func `the line overrides the options`() throws {
        let filled = RequestMessages.Defaults(application: "a", recipient: "b", identifier: "c")
        func key(_ line: String) throws -> String {
            String(decoding: try messages.message(json: Array(line.utf8), defaults: filled).key ?? [], as: UTF8.self)
        }
        #expect(try key(#"{"content":{"title":"T"}}"#) == "a/b/c")
        #expect(
            try key(#"{"application":"x","recipient":"y/1","identifier":"z","content":{"title":"T"}}"#) == "x/y%2F1/z"
        )
        #expect(try key(#"{"identifier":"","remove":"all"}"#) == "a/b/")
    }

    @Test func `an object with remove is a removal; all of a recipient's must be explicit`() throws {
        let line = #"{"recipient":"ana","identifier":"order-1","requestId":"r","remove":"pending"}"#
        let message = try messages.message(json: Array(line.utf8), defaults: defaults)
        #expect(message.label == .request(try RequestID(text: "r")))
        #expect(try value(message)["remove"]?.stringValue == "pending")
        #expect(
            message.headers.headers.first { $0.name == "ce_type" }?.value
                == Array("carillon.notification.removal.v1".utf8)
        )
        #expect(refusal(#"{"recipient":"ana","remove":"all"}"#) == "invalid at identifier")
    }

    @Test(arguments: [
        (#"{"recipient":"a","identifier":"b","content":{"titel":"T"}}"#, "unknown-field at content.titel"),
        (#"{"recipient":"a","identifier":"b","content":{"title":"T"},"extra":1}"#, "unknown-field at extra"),
        (#"{"identifier":"b","content":{"title":"T"}}"#, "invalid at recipient"),
        (#"{"recipient":"a","content":{"title":"T"}}"#, "invalid at identifier"),
        (#"{"recipient":"a","identifier":"","content":{"title":"T"}}"#, "invalid at identifier"),
        (#"{"recipient":7,"identifier":"b","content":{"title":"T"}}"#, "invalid at recipient"),
        (#"{"recipient":"","identifier":"b","content":{"title":"T"}}"#, "invalid at recipient"),
        (#"{"recipient":"a","identifier":"b"}"#, "invalid at content"),
        (
            #"{"recipient":"a","identifier":"b","content":{"title":"T"},"trigger":{"type":"soon"}}"#,
            "unknown-trigger at trigger.type"
        ),
        (#"{"recipient":"a","identifier":"b","remove":"some"}"#, "invalid at remove"),
        (#"["recipient"]"#, "invalid at -"), (#"{"recipient":"#, "invalid at -"), ("\u{FEFF}{}", "invalid at -"),
    ])
    func `an invalid line is refused with its field`(_ line: String, _ expected: String) {
        #expect(refusal(line) == expected)
    }

    @Test func `an instant becomes an interval from the record's own time, and is now when it has passed`() throws {
        let options = try ContentOptions.parse(["--title", "T", "--at", Self.now.adding(milliseconds: 90_123).rfc3339])
        guard case .timeInterval(let trigger) = try options.trigger(at: Self.now) else {
            Issue.record("no interval")
            return
        }
        #expect(trigger.intervalMilliseconds == 90_123)
        #expect(try options.trigger(at: Self.now.adding(milliseconds: 90_123)) == .push)
        #expect(try options.trigger(at: Self.now.adding(milliseconds: 100_000)) == .push)
        #expect(try ContentOptions.parse(["--title", "T"]).trigger(at: Self.now) == .push)
    }

    // MARK: Events

    @Test func `an event is in binary mode, with the subject or the source as its key`() throws {
        let line =
            #"{"specversion":"1.0","id":"1","source":"/shop","type":"com.example.a","subject":"ana","data":{"a":1.50}}"#
        let message = try EventMessages.message(json: Array(line.utf8))
        #expect(message.key == Array("ana".utf8))
        #expect(message.partitionKey == message.key)
        #expect(message.value == Array(#"{"a":1.50}"#.utf8))
        #expect(message.label == .event(id: "1", source: "/shop"))
        #expect(message.headers.headers.first { $0.name == "ce_type" }?.value == Array("com.example.a".utf8))
        let without = try EventMessages.message(
            json: Array(line.replacingOccurrences(of: "subject", with: "other").utf8)
        )
        #expect(without.key == Array("/shop".utf8))
    }

    @Test(arguments: [
        (#"{"id":"1","source":"/s","type":"t"}"#, "specversion"),
        (#"{"specversion":"1.0","source":"/s","type":"t"}"#, "id"),
        (#"{"specversion":"1.0","id":"1","source":"/s","type":"t","time":"now"}"#, "time"),
    ])
    func `an invalid event is refused with its attribute`(_ line: String, _ field: String) {
        let error = #expect(throws: ModelError.self) { try EventMessages.message(json: Array(line.utf8)) }
        #expect(error?.field == field)
    }

    // MARK: Copies

    private func all(_ source: inout some MessageSource) throws -> [String] {
        var found: [String] = []
        while true {
            switch try source.next(within: .seconds(120)) {
            case .found(let place):
                do throws(ModelError) {
                    let message = try source.make()
                    found.append(String(decoding: message.key ?? [], as: UTF8.self))
                } catch {
                    found.append("\(place.split(separator: ":").last ?? ""): \(error.field ?? "-")")
                }
            case .refused, .nothingYet: Issue.record("unexpected")
            case .end: return found
            }
        }
    }

    private func read(_ text: String, copies: Int?) throws -> [String] {
        let file = try TemporaryFile(text)
        var source = ReadMessages(try JSONInput(path: file.path), copies: copies) { json throws(ModelError) in
            try messages.message(json: json, defaults: defaults)
        }
        #expect(source.total == nil)
        return try all(&source)
    }

    @Test func `each line is sent as often as requested, with its number; {n} needs a count`() throws {
        let text = """
            {"recipient":"a-{n}","identifier":"i","content":{"badge":{n}}}
            {"recipient":"b","identifier":"i","content":{"title":"{n}"}}
            """
        #expect(try read(text, copies: 2) == ["shop/a-1/i", "shop/a-2/i", "shop/b/i", "shop/b/i"])
        #expect(try read(text, copies: 1) == ["shop/a-1/i", "shop/b/i"])
        #expect(try read(text, copies: nil) == ["1: -", "shop/b/i"])
    }

    @Test func `copies with the same id are refused after the first, and the next line is read`() throws {
        let text = """
            {"recipient":"a","identifier":"i","requestId":"r","content":{"title":"T"}}
            {"recipient":"b","identifier":"i","requestId":"r-{n}","content":{"title":"T"}}
            """
        #expect(try read(text, copies: 3) == ["shop/a/i", "1: requestId", "shop/b/i", "shop/b/i", "shop/b/i"])
    }

    @Test func `options are sent as often as requested, and an invalid copy is reported by its number`() throws {
        var source = NumberedMessages(count: 3) { number throws(ModelError) in
            guard number != 2 else { throw ModelError(.invalid, field: "f", "is wrong") }
            return try messages.message(
                NotificationRemoval(
                    key: NotificationKey(application: "a", recipient: "r-\(number)", identifier: ""),
                    scope: .all
                )
            )
        }
        #expect(source.total == 3)
        #expect(try all(&source) == ["a/r-1/", "number 2: f", "a/r-3/"])
    }
}
