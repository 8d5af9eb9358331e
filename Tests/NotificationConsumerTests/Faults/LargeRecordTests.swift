import Kafka
import LocalBroker
import Logging
import NotificationModel
import NotificationState
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationConsumer

/// Records of the maximum size. None stops a lane.
@Suite(.timeLimit(.minutes(10)))
struct LargeRecordTests {
    private static let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    struct Setting: Sendable, CustomTestStringConvertible {
        var bytes: Int?
        var guarantee: DeliveryGuarantee
        var bound: RecordBound { RecordBound(bytes ?? 1_000_000) }
        var testDescription: String { "\(bytes.map(String.init) ?? "as usual"), \(guarantee.rawValue)" }
    }

    private static let settings = [
        Setting(bytes: nil, guarantee: .atLeastOnce), Setting(bytes: nil, guarantee: .exactlyOnce),
        Setting(bytes: 100_000, guarantee: .atLeastOnce), Setting(bytes: RecordBound.least, guarantee: .exactlyOnce),
    ]

    /// A record, and its outcome.
    private struct Case {
        var name: String
        var key: [UInt8]?
        var value: [UInt8]?
        var headers: [KafkaHeader] = []
        /// nil for a valid record.
        var reason: ReasonCode?
        var event: DeliveryEventName = .delivered
    }

    private func filler(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

    private func cases(_ bound: RecordBound) -> [Case] {
        func good(_ name: String, content: Int = 15, timed: Bool = false) -> [UInt8] {
            let trigger = timed ? #","trigger":{"type":"timeInterval","timeInterval":86400}"# : ""
            let text = String(repeating: "x", count: content - 12)
            return Array(#"{"requestId":"\#(name)","content":{"title":"\#(text)"}\#(trigger)}"#.utf8)
        }
        func key(_ name: String) -> [UInt8] { NotificationConsumerTests.key(name).encoded }
        let trace = KafkaHeader(name: "traceparent", text: Self.trace)
        func state(_ count: Int) -> [KafkaHeader] { [trace, KafkaHeader(name: "tracestate", value: filler(count))] }
        let bad = Array("{".utf8)
        let most = bound.content()
        var cases = [
            Case(name: "key", key: filler(999_850), value: bad, reason: .invalid),
            Case(name: "key and value", key: filler(500_000), value: filler(499_000), reason: .invalid),
            Case(name: "value", key: key("value"), value: filler(998_000), reason: .tooLarge),
            Case(
                name: "headers",
                key: key("headers"),
                value: bad,
                headers: (0..<4).map { KafkaHeader(name: "large-\($0)", value: filler(249_000)) },
                reason: .invalid
            ),
            Case(
                name: "many headers",
                key: key("many"),
                value: bad,
                headers: (0..<80_000).map { KafkaHeader(name: "h\($0)", value: []) },
                reason: .invalid
            ),
            Case(
                name: "field",
                key: key("field"),
                value: Array(#"{"content":{"title":"T"},"\#(String(repeating: "f", count: 200_000))":1}"#.utf8),
                reason: .unknownField
            ),
            Case(name: "no key", value: filler(999_000), reason: .invalid),
            Case(
                name: "timed",
                key: key("timed"),
                value: good("timed", timed: true),
                headers: state(170_000),
                event: .scheduled
            ),
            Case(name: "now", key: key("now"), value: good("now"), headers: state(995_000)),
            Case(name: "most", key: key("most"), value: good("most", content: most - 200), headers: state(512)),
            Case(
                name: "most timed",
                key: key("most-timed"),
                value: good("most-timed", content: most - 200, timed: true),
                event: .scheduled
            ),
            Case(name: "last", key: key("last"), value: good("last")),
        ]
        if most < ModelLimits.requestBytes {
            cases.insert(Case(name: "exactly", key: key("exact"), value: good("exact", content: most)), at: 0)
            cases.insert(
                Case(name: "above", key: key("above"), value: good("above", content: most + 1), reason: .tooLarge),
                at: 0
            )
        }
        return cases
    }

    @Test(arguments: settings)
    func `a record of any size becomes an event or a dead letter, and the next one follows`(_ setting: Setting)
        async throws
    {
        let broker = try FaultBroker(partitions: 1)
        var configuration = broker.configuration
        configuration.lane.start = .earliest
        configuration.guarantee = setting.guarantee
        if let bytes = setting.bytes { configuration.kafkaProperties["message.max.bytes"] = "\(bytes)" }
        let cases = cases(setting.bound)
        var client = broker.broker.clientConfiguration()
        client.properties["message.max.bytes"] = "3000000"
        let producer = try KafkaProducer(configuration: .init(client: client), logger: quiet)
        let bad = cases.filter { $0.reason != nil }
        try await consuming(configuration) { consumer in
            try await consumer.ready()
            // One after the other: the embedded broker keeps 5 MiB per partition.
            for one in cases {
                _ = try await producer.send(
                    KafkaProducerRecord(
                        topic: broker.topics.requests,
                        partition: 0,
                        key: one.key,
                        value: one.value,
                        headers: one.headers
                    )
                )
                let letters = bad.prefix { $0.name != one.name }.count + (one.reason == nil ? 0 : 1)
                try await eventually("an answer to \(one.name)") {
                    if one.reason != nil {
                        return try await broker.records(broker.topics.deadLetters).contains { $0.offset >= letters - 1 }
                    }
                    return try await broker.events(one.event).contains {
                        $0.request.description == one.key.map(lastPart)
                    }
                }
                guard let reason = one.reason else { continue }
                let letter = try #require(try await broker.records(broker.topics.deadLetters).last)
                #expect(letter.header("carillon-reason") == reason.rawValue, "\(one.name)")
                try check(letter, of: one, setting.bound)
            }
            let errors = consumer.log.lines(.error) + consumer.log.lines(.critical)
            #expect(errors.isEmpty, "\(errors)")
        }
        await producer.shutDown(within: .seconds(5))
        await broker.broker.shutDown()
    }

    private func lastPart(_ key: [UInt8]) -> String {
        String(decoding: key.split(separator: 0x2F).last ?? [], as: UTF8.self)
    }

    /// Complete if it fits; otherwise the missing parts are named.
    private func check(_ letter: KafkaConsumerRecord, of one: Case, _ bound: RecordBound) throws {
        let own = letter.headers.filter { $0.name.hasPrefix("kafka_dlt-") || $0.name.hasPrefix("carillon-") }
        let size = RecordBound.size(
            key: letter.key,
            value: letter.value,
            headers: letter.headers.map { ($0.name, $0.value) }
        )
        #expect(size <= bound.bytes, "\(one.name)")
        #expect(letter.header("kafka_dlt-original-topic") == TopicNames().requests)
        let omitted = letter.header("carillon-omitted") ?? ""
        #expect(
            letter.key == one.key || letter.key == nil && omitted.contains("key=\(one.key?.count ?? 0)"),
            "\(one.name)"
        )
        #expect(
            letter.value == one.value || letter.value == nil && omitted.contains("value=\(one.value?.count ?? 0)"),
            "\(one.name)"
        )
        let isWhole = letter.headers.count - own.count == one.headers.count
        #expect(isWhole || omitted.contains("headers="), "\(one.name)")
    }

    @Test(arguments: DeliveryGuarantee.allCases)
    func `an event with more devices than a record has room for lacks parts, and the next one follows`(
        _ guarantee: DeliveryGuarantee
    ) async throws {
        let bound = RecordBound(200_000)
        let broker = try FaultBroker(partitions: 1)
        var configuration = broker.configuration
        (configuration.lane.start, configuration.guarantee) = (.earliest, guarantee)
        configuration.kafkaProperties["message.max.bytes"] = "\(bound.bytes)"
        let recipient = "r0"
        let token = String(repeating: "t", count: 4_000)
        let devices = try (0..<15).map { number in
            let device = try NotificationKey.device("d\(number)", of: recipient, in: "shop")
            let registration = try DeviceRegistration(platform: "fcm", token: "\(token)\(number)")
            return FaultBroker.Record(
                topic: broker.topics.devices,
                partition: 0,
                key: device.encoded,
                value: registration.json
            )
        }
        let long = String(repeating: "l", count: ModelLimits.shortTextBytes)
        let actions = (0..<10).map { number in
            #"{"identifier":"a\#(number)","title":"\#(long)","icon":"\#(long)","#
                + #""textInput":{"buttonTitle":"\#(long)","placeholder":"\#(long)"}}"#
        }
        let categories = #"{"categories":[{"identifier":"C","actions":[\#(actions.joined(separator: ","))]}]}"#
        let set = try CategorySet(body: Array(categories.utf8))
        func request(_ name: String, content: Int) -> FaultBroker.Record {
            let text = String(repeating: "x", count: content - 37)
            return FaultBroker.Record(
                topic: broker.topics.requests,
                partition: 0,
                key: key(name, recipient: recipient).encoded,
                value: Array(#"{"requestId":"\#(name)","content":{"title":"\#(text)","categoryIdentifier":"C"}}"#.utf8)
            )
        }
        try await consuming(configuration) { consumer in
            try await consumer.ready()
            consumer.service.categories.set(set, of: "shop")
            try await broker.publish(devices)
            try await eventually("all devices are registered", orSay: { "\(consumer.log.lines(.error))" }) {
                consumer.metric("carillon_device_registrations_total{outcome=\"registered\"}") == 15
            }
            try await broker.publish([request("large", content: bound.content()), request("small", content: 50)])
            try await eventually("both are delivered", orSay: { "\(consumer.log.lines(.error))" }) {
                try await Set(broker.events(.delivered).map(\.request)) == [id("large"), id("small")]
            }
            let records = try await broker.records(broker.topics.deliveries)
                .filter { $0.header("ce_type") == "carillon.notification.delivered.v1" }
            let events = try records.map { try DeliveryEvent(json: $0.value ?? [], name: .delivered) }
            let large = try #require(events.first { $0.requestID == id("large") })
            #expect(large.omitted.contains(.actions) && large.actions == nil && large.content?.count == bound.content())
            let small = try #require(events.first { $0.requestID == id("small") })
            #expect(small.omitted.isEmpty && small.actions != nil)
            #expect(consumer.metric("carillon_events_shortened_total") == 1)
            #expect(consumer.log.lines(.error).isEmpty, "\(consumer.log.lines(.error))")
        }
        await broker.broker.shutDown()
    }

    @Test(arguments: DeliveryGuarantee.allCases)
    func `a batch that the broker rejects as too large is written in smaller batches`(_ guarantee: DeliveryGuarantee)
        async throws
    {
        let broker = try FaultBroker(partitions: 1)
        var configuration = broker.configuration
        configuration.lane.start = .earliest
        configuration.guarantee = guarantee
        try await consuming(configuration) { consumer in
            try await consumer.ready()
            // The embedded broker shows aborted records: a marker among them may be behind the first request. So one refusal
            // in transactions, and then another request.
            let isTransactional = guarantee == .exactlyOnce
            let refusals = Array(repeating: KafkaError.Code.messageTooLarge, count: isTransactional ? 1 : 2)
            broker.broker.inject(errors: [.init(rawValue: 0)] + refusals, on: .produce)
            try await broker.publish([broker.request("a")])
            try await eventually("the refusal", orSay: { "\(consumer.log.lines(.error))" }) {
                consumer.log.lines(.error).contains { $0.contains("message.max.bytes") }
            }
            let next = isTransactional ? "b" : "a"
            if isTransactional { try await broker.publish([broker.request(next)]) }
            try await eventually("the event", orSay: { "\(consumer.log.lines(.error))" }) {
                try await broker.events(.delivered).contains { $0.request == id(next) }
            }
        }
        await broker.broker.shutDown()
    }

    @Test(arguments: DeliveryGuarantee.allCases)
    func `a request accepted while records could be larger is suppressed at its next change`(
        _ guarantee: DeliveryGuarantee
    ) async throws {
        let broker = try FaultBroker(partitions: 1)
        var configuration = broker.configuration
        configuration.lane.start = .earliest
        configuration.guarantee = guarantee
        func record(_ name: String, of key: NotificationKey, _ value: String) -> FaultBroker.Record {
            .init(topic: broker.topics.requests, partition: 0, key: key.encoded, value: Array(value.utf8))
        }
        let text = String(repeating: "x", count: 90_000)
        let large =
            #"{"requestId":"large","content":{"title":"\#(text)"},"trigger":{"type":"timeInterval","timeInterval":86400}}"#
        try await consuming(configuration) { _ in
            try await broker.publish([record("large", of: key("large"), large)])
            try await eventually("it is scheduled") { try await broker.events(.scheduled).count == 1 }
        }
        configuration.kafkaProperties["message.max.bytes"] = "\(RecordBound.least)"
        try await consuming(configuration) { consumer in
            // Changes the entry, and keeps the large content in it.
            let touch = #"{"requestId":"touch","remove":"delivered"}"#
            try await broker.publish([record("touch", of: key("large"), touch), broker.request("next")])
            try await eventually("both are answered", orSay: { "\(consumer.log.lines(.error))" }) {
                let suppressed = try await broker.events(.suppressed)
                let delivered = try await broker.events(.delivered)
                return suppressed.map(\.request) == [id("large")] && delivered.map(\.request) == [id("next")]
            }
        }
        #expect(try await broker.pendingInState() == 0)
        await broker.broker.shutDown()
    }

    @Test func `a due notification larger than a record may now be is suppressed`() {
        var rules = LifecycleRules(retention: 1_000_000)
        rules.contentBytes = content.count
        var bench = Bench(rules)
        bench.apply(request("fits", interval(10)))
        #expect(bench.fire(10_000).summary == ["delivered fits!"])
        rules.contentBytes = content.count - 1
        bench = Bench(rules)
        bench.apply(request("large", interval(60, repeats: true)))
        let events = bench.fire(60_000)
        #expect(events.summary == ["suppressed large!"] && events.first?.reason == .payloadTooLarge)
        #expect(bench.entry(key("order"))?.pending == nil)
    }

    private static func size(_ change: StoreChange) -> Int {
        RecordBound.size(key: change.key, value: change.value, headers: [])
    }

    @Test func `an entry that does not fit a record is written without the content that it delivered`() throws {
        let bound = RecordBound(300_000)
        var rules = LifecycleRules(retention: 1_000_000)
        rules.contentBytes = bound.content()
        rules.keptContentBytes = bound.content(contents: 2)
        rules.recordBytes = bound.bytes
        func sized(_ name: String, _ bytes: Int, _ plan: CenterInput.Plan = .immediate(collapseWindow: 0))
            -> CenterInput
        {
            guard case .request(let input) = request(name, plan) else { return removal(name) }
            return .request(
                input.with(content: Array(#"{"title":"\#(String(repeating: "x", count: bytes - 12))"}"#.utf8)[...])
            )
        }
        var bench = Bench(rules)
        bench.apply(sized("a", 120_000))
        let alone = try #require(bench.center.cut(at: at(0), all: true).first)
        #expect(try StateEntry(json: alone.value ?? [], zones: nil).delivered?.details?.content?.count == 120_000)
        bench.apply(sized("b", 240_000, interval(3600)), 1)
        let both = try #require(bench.center.cut(at: at(1), all: true).first)
        #expect(Self.size(both) <= bound.bytes)
        let entry = try StateEntry(json: both.value ?? [], zones: nil)
        #expect(entry.delivered?.requestID == id("a") && entry.delivered?.details?.content == nil)
        #expect(entry.pending?.requestID == id("b") && entry.pending?.content.count == 240_000)
        // A restart before it is due, and what is sent then fits again.
        try bench.commit()
        bench.apply(removal("r", key("order"), .pending), 2)
        let after = try #require(bench.center.cut(at: at(2), all: true).first)
        #expect(Self.size(after) <= bound.bytes && after.due == nil)
    }

    @Test func `an entry that still does not fit is written without what devices told`() throws {
        var entry = StateEntry()
        entry.version = .init(number: 1, by: id("v"))
        let bare = StoreChange(key: key("order").encoded, value: entry.json, due: nil, touched: at(0))
        entry.marks = (0..<ModelLimits.deviceMarks).map {
            .init(requestID: id("q\($0)"), device: String(repeating: "d", count: 256), kinds: .received)
        }
        let store = MemoryEntryStore()
        store.write(
            [StoreChange(key: key("order").encoded, value: entry.json, due: nil, touched: at(0))],
            position: StorePosition(lineage: "l", offset: 1, writtenAt: at(0))
        )
        for (room, kept) in [(40_000, ModelLimits.deviceMarks), (4096, 0)] {
            var rules = LifecycleRules(retention: 1_000_000)
            rules.recordBytes = Self.size(bare) + room
            var bench = Bench(rules, over: store)
            bench.apply(request("q"))
            let change = try #require(bench.center.cut(at: at(0), all: true).first)
            #expect(Self.size(change) <= rules.recordBytes)
            #expect(try StateEntry(json: change.value ?? [], zones: nil).marks.count == kept)
        }
    }

    @Test func `a limit too small for any work prevents the start`() throws {
        let broker = try FaultBroker()
        var configuration = broker.configuration
        configuration.kafkaProperties["message.max.bytes"] = "\(RecordBound.least - 1)"
        let error = #expect(throws: KafkaError.self) { try RunningConsumer(configuration) }
        #expect(error?.reason.contains("message.max.bytes") == true)
    }
}
