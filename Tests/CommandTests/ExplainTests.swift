import Foundation
import Kafka
import LocalBroker
import NotificationModel
import ServiceSupport
import Testing

@testable import carillon

@Suite("The life of one notification")
struct ExplainTests {
    private static let now = Timestamp(rawValue: 1_795_000_000_000)

    private static func filter(_ identifier: String = "order-1") throws -> LifeFilter {
        let key = try NotificationKey(application: "shop", recipient: "ana", identifier: identifier)
        return LifeFilter(key, defaultApplication: "default")
    }

    private static func event(_ name: String, _ value: String) -> KafkaConsumerRecord {
        record(value: value, headers: [("ce_type", Array("carillon.notification.\(name).v1".utf8))])
    }

    // MARK: Which records

    @Test func `it has the records of its key, and the removals of all that the recipient has`() throws {
        let filter = try Self.filter()
        #expect(filter.takes(record(value: "{}")) && filter.takes(record(value: nil)))
        #expect(filter.takes(record(key: "shop/ana/", value: #"{"remove":"all"}"#)))
        #expect(!filter.takes(record(key: "shop/ana/order-2", value: "{}")))
        #expect(!filter.takes(record(key: "bank/ana/order-1", value: "{}")))
        #expect(!filter.takes(record(key: nil, value: "{}")))
    }

    @Test func `it has the signals that name it, in its application`() throws {
        let filter = try Self.filter()
        #expect(filter.takes(record(key: "ana", value: #"{"application":"shop","identifier":"order-1"}"#)))
        #expect(!filter.takes(record(key: "ana", value: #"{"application":"bank","identifier":"order-1"}"#)))
        #expect(!filter.takes(record(key: "ana", value: #"{"identifier":"order-1"}"#)))
        #expect(!filter.takes(record(key: "ana", value: #"{"application":"shop","identifier":"order-2"}"#)))
        #expect(!filter.takes(record(key: "ana", value: "not JSON")))
    }

    @Test func `it has the end of a device that may show it still`() throws {
        let left = record(key: "shop/ana/phone", value: #"{"shows":["order-1"]}"#)
        #expect(try Self.filter().takes(left))
        #expect(try !Self.filter("order-2").takes(left))
    }

    // MARK: Words

    @Test func `each step is a line, and what its reasons mean follows, each once`() {
        let suppressed = Self.event(
            "suppressed",
            """
            {"requestId":"0d8f31aa-0000-4000-8000-000000000001","closes":true,"reason":"not-authorized","devices":[\
            {"device":"phone","outcome":"suppressed","reason":"not-authorized"},\
            {"device":"tablet","outcome":"suppressed","reason":"disabled"}]}
            """
        )
        let lines = LifeText.text(.step(suppressed), colours: false, now: Self.now).split(separator: "\n")
        #expect(lines.count == 3 && lines[0].contains("  suppressed          ") && lines[0].hasSuffix("3/17"))
        #expect(lines[1].hasSuffix("not-authorized: the person has not allowed notifications"))
        #expect(lines[2].hasSuffix("disabled: the device's settings allow nothing of it"))
    }

    @Test func `a doubt, an answer to nothing that is kept, and a dead letter are explained`() {
        let doubt = Self.event("delivered", #"{"requestId":"a","closes":true,"inDoubt":true}"#)
        #expect(LifeStep.reasons(doubt).first?.hasPrefix("in doubt") == true)
        let answer = Self.event("response", #"{"requestId":"a","actionIdentifier":"default","matched":false}"#)
        #expect(LifeStep.name(of: answer) == "answered" && LifeStep.reasons(answer).count == 1)
        let letter = record(value: "{", headers: [("carillon-reason", Array("invalid".utf8))])
        #expect(LifeStep.name(of: letter) == "dead letter" && LifeStep.reasons(letter).count == 1)
    }

    @Test func `text of others cannot control the terminal`() {
        let hostile = Self.event("delivered", "{\"requestId\":\"a\",\"closes\":true,\"channel\":\"\\u001B[2J\"}")
        #expect(!LifeText.text(.step(hostile), colours: false, now: Self.now).contains("\u{1B}"))
    }

    @Test func `for programs each part is one object`() throws {
        let step = try JSONValue.parse(LifeJSON.line(.step(Self.event("held", #"{"reason":"digest"}"#))).dropLast())
        #expect(step["what"]?.stringValue == "held" && step["why"]?.arrayValue?.count == 1)
        #expect(step["record"]?["offset"]?.integerValue == 17)
        #expect(LifeJSON.line(.now(nil)) == Array("{\"now\":[]}\n".utf8))
    }

    // MARK: Topics

    /// Publishes a record of the notification, in the partition of its recipient.
    private static func publish(_ value: String, key: String, to topic: String, _ connection: Connection) throws {
        let stop = StopSignal()
        var message = NumberedMessages(count: 1) { _ throws(ModelError) in
            OutgoingMessage(
                label: .event(id: "1", source: "/test"),
                partitionKey: Array("ana".utf8),
                key: Array(key.utf8),
                value: Array(value.utf8),
                headers: KafkaHeaderBuffer()
            )
        }
        let output = Sender.Output(acknowledged: { _, _, _ in }, trouble: { _ in }, progress: { _ in })
        var sender = try Sender(Sender.Configuration(connection: connection, topic: topic), stop: stop, output: output)
        #expect(sender?.run(&message).acknowledged == 1)
    }

    private static func read(_ connection: Connection, _ identifier: String) throws -> (isFound: Bool, lines: [String])
    {
        let key = try NotificationKey(application: "shop", recipient: "ana", identifier: identifier)
        let reader = LifeReader(connection: connection, key: key, since: nil, until: nil, follows: false)
        var lines: [String] = []
        let isFound = try reader.read(until: StopSignal()) { part in
            guard case .step(let record) = part else { return lines.append("now") }
            lines.append("\(record.topic) \(String(decoding: record.value ?? [], as: UTF8.self))")
        }
        return (isFound, lines)
    }

    @Test func `it is told in the order of time, with what is kept at the end; nothing is told of another one`()
        async throws
    {
        let names = TopicNames()
        let broker = try LocalBroker.withCarillonTopics(names, partitions: 4)
        let connection = Connection(
            bootstrapServers: broker.bootstrapServers,
            properties: [:],
            topics: names,
            defaultApplication: "default",
            timeout: .seconds(30)
        )
        let (known, unknown) = try await KafkaThread.run(name: "explain") {
            let key = "shop/ana/order-1"
            try Self.publish(#"{"n":1}"#, key: key, to: names.requests, connection)
            try Self.publish(#"{"n":2}"#, key: key, to: names.deliveries, connection)
            try Self.publish(#"{"n":3}"#, key: "shop/ana/order-2", to: names.requests, connection)
            try Self.publish(
                #"{"application":"shop","identifier":"order-1"}"#,
                key: "ana",
                to: names.signals,
                connection
            )
            try Self.publish(#"{"remove":"all"}"#, key: key, to: names.requests, connection)
            return (try Self.read(connection, "order-1"), try Self.read(connection, "order-3"))
        }
        #expect(
            known.lines == [
                names.requests + #" {"n":1}"#, names.deliveries + #" {"n":2}"#,
                names.signals + #" {"application":"shop","identifier":"order-1"}"#,
                names.requests + #" {"remove":"all"}"#, "now",
            ]
        )
        #expect(known.isFound && !unknown.isFound && unknown.lines.isEmpty)
        await broker.shutDown()
    }
}
