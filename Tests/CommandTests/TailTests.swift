import Foundation
import NotificationModel
import NotificationState
import Testing

@testable import Kafka
@testable import carillon

@Suite("The output for a topic")
struct TailTests {
    @Test func `an existing payload of APNs has the words of its alert`() {
        func words(_ alert: String) -> String {
            RecordLine.summary(
                of: Array(#"{"requestId":"a","content":{"apns":{"aps":{"alert":\#(alert)}}},"version":7}"#.utf8)
            )
        }
        #expect(words(#"{"title":"T","body":"B"}"#) == #""T" B, a payload of APNs, version 7, request a"#)
        #expect(words(#""On its way""#).hasPrefix(#""On its way", a payload"#))
    }

    // MARK: Filters

    @Test func `a recipient is that of the key, decoded`() {
        let filter = RecordFilter(recipient: "ana/1")
        #expect(filter.takes(record(key: "shop/ana%2F1/order-1", value: "{}")))
        #expect(!filter.takes(record(key: "shop/ana/order-1", value: "{}")))
        #expect(!filter.takes(record(key: "ana%2F1/shop/order-1", value: "{}")))
        // The key counts, not the value.
        #expect(!filter.takes(record(key: "shop/ben/order-1", value: #"{"recipient":"ana/1"}"#)))
    }

    @Test func `for records with other keys the recipient is the key itself, or a field of the value`() {
        let filter = RecordFilter(recipient: "ana")
        #expect(filter.takes(record(key: "ana", value: nil)))
        #expect(filter.takes(record(key: nil, value: #"{"recipient":"ana"}"#)))
        #expect(!filter.takes(record(key: "ben", value: #"{"recipient":"cleo"}"#)))
        #expect(!filter.takes(record(key: nil, value: "not JSON")))
        #expect(!filter.takes(record(key: nil, value: nil)))
    }

    @Test func `an identifier is that of the key, or a field of the value; filters combine`() {
        let filter = RecordFilter(recipient: "ana", identifier: "order-1", types: ["delivered"])
        let type = "carillon.notification.delivered.v1"
        #expect(filter.takes(record(type: type)))
        #expect(!filter.takes(record(type: type, key: "shop/ana/order-2")))
        #expect(!filter.takes(record(type: type, key: "shop/ben/order-1")))
        #expect(!filter.takes(record(type: "carillon.notification.scheduled.v1")))
        #expect(RecordFilter(identifier: "order-1").takes(record(key: "ana", value: #"{"identifier":"order-1"}"#)))
        #expect(!RecordFilter(identifier: "order-1").takes(record(key: "ana", value: #"{"identifier":"x"}"#)))
    }

    @Test(arguments: [
        ("carillon.notification.delivered.v1", "delivered"),
        ("carillon.notification.cancellation.missed.v1", "cancellation.missed"),
        ("carillon.signal.response.v1", "response"), ("com.example.order.shipped", "com.example.order.shipped"),
    ])
    func `a type is matched in full or by its short name`(_ type: String, _ short: String) {
        #expect(RecordName(type: type).short == short)
        #expect(RecordFilter(types: [short, "other"]).takes(record(type: type)))
        #expect(RecordFilter(types: [type]).takes(record(type: type)))
        #expect(!RecordFilter(types: ["deliver"]).takes(record(type: type)))
    }

    @Test func `the type of a structured event is in its value`() {
        let event = record(
            value: #"{"specversion":"1.0","type":"com.example.a","source":"/a","id":"1"}"#,
            headers: [("content-type", Array("application/cloudevents+json; charset=utf-8".utf8))]
        )
        #expect(RecordName(event)?.short == "com.example.a")
        #expect(RecordName(record(value: #"{"type":"com.example.a"}"#)) == nil)
        #expect(!RecordFilter(types: ["com.example.a"]).takes(record(value: "{}")))
    }

    @Test func `since excludes older records, but not those without a time`() {
        let filter = RecordFilter(since: Timestamp(rawValue: 1_000))
        #expect(filter.takes(record(value: nil, timestamp: 1_000)))
        #expect(!filter.takes(record(value: nil, timestamp: 999)))
        #expect(filter.takes(record(value: nil, timestamp: nil)))
    }

    // MARK: Lines

    private func line(_ record: KafkaConsumerRecord) -> String {
        RecordLine.text(record, colours: false, now: Timestamp(rawValue: 1_795_000_000_000))
    }

    private func bigEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }

    private var deadLetter: KafkaConsumerRecord {
        let letter = DeadLetter(
            key: nil,
            value: nil,
            headers: [("ce_type", Array("carillon.notification.request.v1".utf8))],
            because: ModelError(.unknownField, field: "content.titel", "is no field\u{1B}[31m of this object"),
            from: DeadLetter.Origin(
                topic: "carillon.requests",
                partition: 3,
                offset: 1 << 40,
                timestamp: 1_795_000_000_000
            ),
            within: RecordBound(1_000_000)
        )
        return record(value: #"{"content":{"titel":"x"}}"#, headers: letter.headers)
    }

    @Test func `an event without a date shows its request`() {
        let text = line(
            record(
                value: #"{"requestId":"91dde4aa-ef6c-4210-99ce-4fdf44e616ca","application":"shop","closes":false}"#,
                headers: [("ce_type", Array("carillon.notification.scheduled.v1".utf8))]
            )
        )
        #expect(text.hasSuffix("scheduled  request 91dde4aa\n"), "\(text)")
    }

    @Test func `a delivered event shows its devices and actions, and a response what the person did`() {
        let devices =
            #"[{"device":"phone","outcome":"accepted","presentation":["banner","list","badge"],"badge":2},"#
            + #"{"device":"pad","outcome":"suppressed","reason":"not-authorized"}]"#
        let actions = #"[{"identifier":"track","title":"Track"},{"identifier":"reply","title":"Reply"}]"#
        let delivered = line(
            record(
                value: #"{"requestId":"91dde4aa-ef6c","closes":true,"devices":\#(devices),"actions":\#(actions)}"#,
                headers: [("ce_type", Array("carillon.notification.delivered.v1".utf8))]
            )
        )
        #expect(
            delivered.contains(
                "delivered  to phone (banner list badge 2), not to pad (not-authorized), actions track reply, request 91dde4aa"
            )
        )
        let response = line(
            record(
                value: #"{"actionIdentifier":"reply","userText":"Thank you","device":"phone","content":{"title":"T"}}"#,
                headers: [("ce_type", Array("carillon.notification.response.v1".utf8))]
            )
        )
        #expect(response.contains(#"response  reply "Thank you" on phone, "T""#), "\(response)")
    }

    @Test func `an instant of another day has its date, in the time of the record and in its value`() throws {
        let event = record(
            value: #"{"requestId":"r","closes":false,"nextTriggerDate":"2026-11-19T09:00:00.000Z"}"#,
            headers: [("ce_type", Array("carillon.notification.scheduled.v1".utf8))],
            timestamp: try #require(Timestamp(rfc3339: "2026-11-18T23:59:59.999Z")).rawValue
        )
        func line(at now: String) throws -> String {
            RecordLine.text(event, colours: false, now: try #require(Timestamp(rfc3339: now)))
        }
        let sameDay = try line(at: "2026-11-18T00:00:00Z")
        #expect(sameDay.hasPrefix("23:59:59.999  3/17  ") && sameDay.contains("due 2026-11-19 09:00:00.000, request r"))
        let next = try line(at: "2026-11-19T00:00:00Z")
        #expect(next.hasPrefix("2026-11-18 23:59:59.999  3/17  ") && next.contains("due 09:00:00.000, request r"))
    }

    @Test(arguments: [
        (
            "carillon.notification.device.attempted.v1",
            #"{"requestId":"a","application":"s","recipient":"r","identifier":"i","closes":false,"device":"phone","outcome":"rejected","detail":"BadTopic","late":true}"#,
            "device.attempted  phone rejected: BadTopic, late, request a"
        ),
        (
            "carillon.notification.device.attempted.v1",
            #"{"requestId":"a","closes":false,"device":"pad","outcome":"accepted"}"#,
            "device.attempted  pad accepted, request a"
        ),
        (
            "carillon.notification.removed.v1",
            #"{"requestId":"a","closes":true,"devices":[{"device":"phone","platform":"apns","token":"x","outcome":"revoked"}]}"#,
            "removed  revoked phone, request a"
        ),
        (
            "carillon.signal.report.v1",
            #"{"identifier":"order-1","requestId":"a","device":"phone","outcome":"unregistered"}"#,
            "report  phone unregistered, request a"
        ),
        (
            "carillon.signal.location.v1",
            #"{"device":"phone","latitude":31.23,"longitude":121.47,"accuracy":15,"at":"2026-11-18T06:26:39.000Z"}"#,
            "location  31.23, 121.47, accuracy 15 m, device phone, at "
        ),
    ])
    func `what happened to a device is told with the device and the outcome`(
        _ type: String,
        _ json: String,
        _ text: String
    ) {
        let told = line(record(value: json, headers: [("ce_type", Array(type.utf8))]))
        #expect(told.contains(text), "\(told)")
    }

    @Test func `an enrichment, a thread and a category are told in words, and once`() {
        let event =
            #"{"requestId":"a","closes":true,"content":{"title":"T","threadIdentifier":"orders","categoryIdentifier":"ORDER"},"#
            + #""enrichment":{"milliseconds":412,"attachments":[{"identifier":"photo","outcome":"attached"},"#
            + #"{"identifier":"map","outcome":"missing","reason":"timed-out"}]},"#
            + #""thread":{"identifier":"orders","count":3,"update":true}}"#
        #expect(
            RecordLine.summary(of: Array(event.utf8))
                == #""T", enriched in 412 ms (photo attached, map timed-out), thread orders, 3 in it, an update, "#
                + "category ORDER, request a"
        )
        let response =
            #"{"actionIdentifier":"default","categoryIdentifier":"ORDER","content":{"title":"T","categoryIdentifier":"ORDER"}}"#
        #expect(RecordLine.summary(of: Array(response.utf8)) == #"default, "T", category ORDER"#)
    }

    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("NotificationModelTests/Fixtures/valid")

    /// Another value of the same kind.
    private func changed(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text) where Timestamp(rfc3339: text) != nil: .string("2031-01-01T00:00:00.000Z")
        case .string: .string("other")
        case .number: .number("123456")
        case .bool(let flag): .bool(!flag)
        case .array: .array([.string("other")])
        case .object, .null: .object([.init("other", .number("1"))])
        }
    }

    @Test(arguments: ["request-", "event-", "signal-", "device-event-", "channel-event-", "response-event", "removal-"])
    func `records that differ in one member have different lines`(_ prefix: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.path).filter {
            $0.hasPrefix(prefix)
        }
        var count = 0
        for name in names {
            let bytes = Array(try Data(contentsOf: Self.fixtures.appendingPathComponent(name)))
            guard let value = try? JSONValue.parse(bytes), let members = value.objectValue else { continue }
            let before = RecordLine.summary(of: value.json)
            for (index, member) in members.enumerated() {
                // These are in the key, secret, or the same for an event of this name.
                guard !["application", "recipient", "identifier", "token", "closes"].contains(member.name) else {
                    continue
                }
                var others = members
                others[index] = .init(member.name, changed(member.value))
                count += 1
                #expect(
                    RecordLine.summary(of: JSONValue.object(others).json) != before,
                    "\(name) \(member.name): \(before)"
                )
            }
        }
        #expect(count > 3)
    }

    @Test func `a token is in no line`() {
        let registration = #"{"platform":"apns","token":"a1b2c3","environment":"production","locale":"de"}"#
        let told = line(record(topic: "carillon.devices", value: registration))
        #expect(told.contains("apns production, locale de") && !told.contains("a1b2c3"), "\(told)")
    }

    @Test func `a dead letter shows its reason, origin and original`() {
        let text = line(deadLetter)
        #expect(
            text.contains(
                "dead letter: unknown-field at content.titel from carillon.requests 3/1099511627776: is no field"
            )
        )
        #expect(text.contains("(request)"))
        #expect(text.contains(#"{"content":{"titel":"x"}}"#))
        #expect(!text.contains("\u{1B}"))
    }

    @Test func `a dead letter as JSON has its headers as readable text`() throws {
        let json = try JSONValue.parse(RecordJSON.line(deadLetter))
        #expect(json.value(at: "deadLetter.reason")?.stringValue == "unknown-field")
        #expect(json.value(at: "deadLetter.field")?.stringValue == "content.titel")
        #expect(json.value(at: "deadLetter.topic")?.stringValue == "carillon.requests")
        #expect(json.value(at: "deadLetter.partition")?.integerValue == 3)
        #expect(json.value(at: "deadLetter.offset")?.integerValue == 1 << 40)
        #expect(json.value(at: "deadLetter.timestamp")?.stringValue == Timestamp(rawValue: 1_795_000_000_000).rfc3339)
        #expect(try JSONValue.parse(RecordJSON.line(record(value: "{}")))["deadLetter"] == nil)
    }

    @Test func `a dead letter shows the omitted parts`() throws {
        var letter = deadLetter
        #expect(!line(letter).contains("left out"))
        letter.headers.append(KafkaHeader(name: "carillon-omitted", text: "value=1048000,key=999850"))
        #expect(line(letter).contains("(left out: value=1048000,key=999850)"))
        let json = try JSONValue.parse(RecordJSON.line(letter))
        #expect(json.value(at: "deadLetter.omitted")?.stringValue == "value=1048000,key=999850")
    }

    @Test func `headers of other programs that are not numbers are omitted`() {
        let letter = record(
            value: nil,
            headers: [
                ("carillon-reason", Array("invalid".utf8)), ("kafka_dlt-original-topic", Array("t".utf8)),
                ("kafka_dlt-original-partition", Array("3".utf8)), ("kafka_dlt-original-offset", nil),
            ]
        )
        #expect(line(letter).contains("dead letter: invalid from t  (no value: a tombstone)"))
        let negative = record(
            value: nil,
            headers: [("carillon-reason", []), ("kafka_dlt-original-partition", bigEndian(Int32(-1)))]
        )
        #expect(DeadLetterNote(negative)?.partition == -1)
    }

    @Test func `a marker shows where work continues`() {
        let marker = StateMarker(
            offsets: ["carillon.requests": 17, "carillon.signals": 3],
            wallTime: Timestamp(rawValue: 1_795_000_000_123),
            partitions: 8,
            timeZoneDataVersion: "2025b",
            firedThrough: Timestamp(rawValue: 1_795_000_000_000)
        )
        let text = line(
            record(topic: "carillon.state", key: "marker", value: String(decoding: marker.json, as: UTF8.self))
        )
        #expect(text.contains("marker  marker  next of carillon.requests 17, next of carillon.signals 3, written"))
        #expect(text.contains(".123, fired through "))
        #expect(text.contains("8 partitions"))
    }

    @Test func `an entry of state is described in words, and its kinds are types`() throws {
        var entry = StateEntry()
        entry.touched = Timestamp(rawValue: 1_795_000_000_000)
        let due = try #require(Timestamp(rfc3339: "2026-12-24T18:00:00.000Z"))
        entry.pending = .init(
            requestID: try RequestID(text: "0d8f4e6c-53a5-5f0e-9d0b-6a1f6f1c2a11"),
            content: Array(#"{"title":"On its \u200fway\u001b[1m"}"#.utf8)[...],
            expiration: nil,
            trace: .none,
            timer: .scheduled(
                .interval(.init(interval: 60_000, anchor: entry.touched, repeats: true, misfire: nil, jitter: 0)),
                occurrence: due
            ),
            due: due
        )
        entry.delivered = .init(requestID: try RequestID(text: "other-id-of-it"), at: entry.touched)
        entry.known = [.init(id: try RequestID(text: "old"), closed: entry.touched)]
        entry.version = .init(number: 7, by: try RequestID(text: "old"))
        var json: [UInt8] = []
        entry.write(to: &json)
        let state = record(topic: "carillon.state", value: String(decoding: json, as: UTF8.self))
        let text = line(state)
        #expect(
            text.contains(
                #"order-1  entry  pending "On its \u{200f}way\u{1b}[1m", due 2026-12-24 18:00:00.000, every 60.0 s"#
            )
        )
        #expect(text.contains("request 0d8f4e6c, delivered 2026-"))
        #expect(text.contains("version 7, 1 closed id known"))
        #expect(!text.contains(#"{"form""#))
        #expect(RecordFilter(types: ["entry"]).takes(state) && !RecordFilter(types: ["marker"]).takes(state))
        #expect(RecordFilter(types: ["tombstone"]).takes(record(topic: "carillon.state", value: nil)))
        #expect(RecordName.known.contains("entry"))
    }

    // MARK: Terminals

    /// C0, DEL, C1, bidirectional marks, separators, and zero-width characters.
    private static let hostile: [Unicode.Scalar] = [
        "\u{1B}", "\u{07}", "\u{0A}", "\u{7F}", "\u{85}", "\u{9B}", "\u{61C}", "\u{200B}", "\u{200E}", "\u{200F}",
        "\u{2028}", "\u{2029}", "\u{202A}", "\u{202E}", "\u{2060}", "\u{2066}", "\u{2069}", "\u{FEFF}",
    ]

    @Test(arguments: TailTests.hostile)
    func `characters that could control a terminal are escaped, as text and as JSON`(_ scalar: Unicode.Scalar) throws {
        let raw = "a\(Character(scalar))b"
        let value = JSONValue.object([
            .init(raw, .string(raw)), .init("content", .object([.init("title", .string(raw))])),
        ])
        let records = [
            record(
                key: raw,
                value: String(decoding: value.json, as: UTF8.self),
                headers: [("ce_type", Array(raw.utf8))]
            ),
            record(value: raw, headers: [(raw, Array(raw.utf8)), ("carillon-reason", Array(raw.utf8))]),
        ]
        for record in records {
            let text = line(record)
            #expect(!text.dropLast().unicodeScalars.contains(scalar), "\(text.debugDescription)")
            let json = PrintableText.escaped(json: RecordJSON.line(record))
            #expect(!String(decoding: json.dropLast(), as: UTF8.self).unicodeScalars.contains(scalar))
            // It is equivalent JSON.
            #expect(try JSONValue.parse(json) == JSONValue.parse(RecordJSON.line(record)))
        }
    }

    @Test func `other text is unchanged`() {
        let text = "Grüße, שלום, 你好, 👩‍👩‍👧, fi\u{200D}n"
        #expect(PrintableText.escaped(text) == text)
        #expect(PrintableText.escaped(json: Array(text.utf8)) == Array(text.utf8))
        #expect(PrintableText.escaped("a\nb\u{9B}", keepsLines: true) == "a\nb\\u{9b}")
    }

    @Test func `a tombstone is marked as one, and other bytes are counted`() {
        #expect(line(record(value: nil)).hasSuffix("  (no value: a tombstone)\n"))
        var bytes = record(value: "")
        bytes.value = [0, 1, 2]
        #expect(line(bytes).hasSuffix("  (3 bytes)\n"))
        #expect(line(record(value: "")).hasSuffix("  -  \n"))
    }

    @Test func `colours appear only on request`() {
        let delivered = record(type: "carillon.notification.delivered.v1")
        #expect(!RecordLine.text(delivered, colours: false).contains("\u{1B}"))
        #expect(RecordLine.text(delivered, colours: true).contains("\u{1B}[32mdelivered\u{1B}[0m"))
    }
}
