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

    // MARK: The page

    private static func page(_ parts: LifePart..., identifier: String = "order-1") throws -> String {
        var page = LifePage(
            try NotificationKey(application: "shop", recipient: "ana", identifier: identifier),
            made: now
        )
        for part in parts { page.add(part) }
        return page.html
    }

    @Test func `as a page it has each step with its parts and reasons, what is gone, and what is kept now`() throws {
        let delivered = Self.event(
            "delivered",
            """
            {"requestId":"a","closes":true,"enrichment":{"milliseconds":412,"attachments":[]},"devices":[\
            {"device":"phone","platform":"apns","token":"SECRET","outcome":"accepted","presentation":["banner"]},\
            {"device":"old","platform":"apns","token":"SECRET","outcome":"rejected","reason":"unregistered"}]}
            """
        )
        let html = try Self.page(.gone(topic: "carillon.requests", before: Self.now), .step(delivered), .now(nil))
        let steps = ["delivered", "enriched", "in 412 ms", "accepted", "phone banner", "rejected", "old unregistered"]
        var rest = Substring(html)
        for word in ["Records of carillon.requests before"] + steps + ["unregistered: the platform", "nothing is kept"]
        {
            let found = try #require(rest.range(of: word), "\(word) is not in the rest of \(html)")
            rest = rest[found.upperBound...]
        }
        #expect(!html.contains("SECRET"))
        #expect(html.contains("<time datetime=\"\(Self.now.rfc3339)\">"))
    }

    @Test func `what is in records is text, and the policy lets nothing run or load but the page's own style`() throws {
        let hostile = #"</style><script>alert(1)</script><img src=x onerror=alert(1)>"' & \u202E \u0000"#
        let value =
            #"{"requestId":"a","closes":true,"channel":"\#(hostile.replacing("\"", with: "\\\""))","reason":"x"}"#
        let identifier = #"</title><script>alert('x')</script>"#
        let html = try Self.page(.step(Self.event("delivered", value)), identifier: identifier)
        #expect(html.contains("&lt;script&gt;alert(1)") && html.contains("&lt;script&gt;alert(&#39;x&#39;)"))
        for tag in ["<script", "<img", "<link", "<iframe", "<a ", "javascript:", "\u{202E}", "\u{0}"] {
            #expect(!html.contains(tag), "\(tag.debugDescription) in \(html)")
        }
        #expect(html.matches(of: /<style>/).count == 1 && html.matches(of: /<\/style>/).count == 1)
        #expect(LifePage.policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        #expect(html.contains("http-equiv=\"Content-Security-Policy\" content=\"\(LifePage.policy)\""))
    }

    @Test func `a page is written once, so it is not followed`() {
        #expect(refusal(["explain", "ana", "order-1", "--html", "life.html"]) == nil)
        for other in ["--follow", "--json"] {
            #expect(refusal(["explain", "ana", "order-1", "--html", "life.html", other])?.status == 64)
        }
    }

    // MARK: Topics

    /// The embedded broker, and what is written to it.
    private struct Desk: Sendable {
        let names = TopicNames()
        let connection: Connection

        init(_ broker: LocalBroker) {
            connection = Connection(
                bootstrapServers: broker.bootstrapServers,
                properties: [:],
                topics: names,
                defaultApplication: "default",
                timeout: .seconds(30)
            )
        }

        /// Publishes a record in the partition of the recipient.
        func publish(_ value: String, key: String = "shop/ana/order-1", to topic: String) throws {
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
            let configuration = Sender.Configuration(connection: connection, topic: topic)
            var sender = try Sender(configuration, stop: StopSignal(), output: output)
            #expect(sender?.run(&message).acknowledged == 1)
        }

        func reader(
            _ identifier: String = "order-1",
            since: Timestamp? = nil,
            until: Timestamp? = nil,
            follows: Bool = false
        ) throws -> LifeReader {
            LifeReader(
                connection: connection,
                key: try NotificationKey(application: "shop", recipient: "ana", identifier: identifier),
                since: since,
                until: until,
                follows: follows
            )
        }

        func lines(_ reader: LifeReader) throws -> [String] {
            var lines: [String] = []
            let isFound = try reader.read(until: StopSignal()) { lines.append(Self.text($0)) }
            #expect(isFound != lines.isEmpty)
            return lines
        }

        static func text(_ part: LifePart) -> String {
            switch part {
            case .step(let record): "\(record.topic) \(String(decoding: record.value ?? [], as: UTF8.self))"
            case .now: "now"
            case .gone: "gone"
            case .dropped(let count): "dropped \(count)"
            }
        }
    }

    private static func with(_ body: @escaping @Sendable (Desk) throws -> Void) async throws {
        let broker = try LocalBroker.withCarillonTopics(TopicNames(), partitions: 4)
        let desk = Desk(broker)
        try await KafkaThread.run(name: "explain") { try body(desk) }
        await broker.shutDown()
    }

    @Test func `it is told in the order of time, with what is kept at the end; nothing is told of another one`()
        async throws
    {
        try await Self.with { desk in
            let names = desk.names
            try desk.publish(#"{"n":1}"#, to: names.requests)
            try desk.publish(#"{"n":2}"#, to: names.deliveries)
            try desk.publish(#"{"n":3}"#, key: "shop/ana/order-2", to: names.requests)
            let signal = #"{"application":"shop","identifier":"order-1"}"#
            try desk.publish(signal, key: "ana", to: names.signals)
            try desk.publish(#"{"remove":"all"}"#, to: names.requests)
            let told = try desk.lines(desk.reader())
            let values = [#"{"n":1}"#, #"{"n":2}"#, signal, #"{"remove":"all"}"#]
            let topics = [names.requests, names.deliveries, names.signals, names.requests]
            #expect(told == zip(topics, values).map { "\($0) \($1)" } + ["now"])
            #expect(try desk.lines(desk.reader("order-3")).isEmpty)
        }
    }

    @Test func `a time ends or begins it, and of many steps the newest are told`() async throws {
        try await Self.with { desk in
            for number in 1...3 { try desk.publish("\(number)", to: desk.names.requests) }
            let (past, future) = (Timestamp(rawValue: 1_000), SystemClock.now().adding(milliseconds: 3_600_000))
            #expect(try desk.lines(desk.reader(until: past)).isEmpty)
            #expect(try desk.lines(desk.reader(since: future)).isEmpty)
            #expect(try desk.lines(desk.reader(since: past, until: future)).count == 3)
            var bounded = try desk.reader()
            bounded.maximumSteps = 2
            let requests = desk.names.requests
            #expect(try desk.lines(bounded) == ["dropped 1", "\(requests) 2", "\(requests) 3", "now"])
        }
    }

    @Test func `it goes on with what happens, and tells nothing twice`() async throws {
        try await Self.with { desk in
            try desk.publish("1", to: desk.names.requests)
            let stop = StopSignal()
            var lines: [String] = []
            let isFound = try desk.reader(follows: true).read(until: stop) { part in
                lines.append(Desk.text(part))
                if lines.last == "now" { try? desk.publish("2", to: desk.names.deliveries) }
                if lines.count == 3 { stop.request() }
            }
            #expect(isFound && lines == ["\(desk.names.requests) 1", "now", "\(desk.names.deliveries) 2"])
        }
    }
}
