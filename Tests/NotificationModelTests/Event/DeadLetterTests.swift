import Testing

import NotificationDelivery
import TestSupport
@testable import NotificationModel
@testable import NotificationState

@Suite("Dead letters")
struct DeadLetterTests {
    private static let bounds = [RecordBound.least, 100_000, 1_000_000, 2_000_000]
    private static let origin = DeadLetter.Origin(
        topic: "carillon.requests",
        partition: 258,
        offset: 0x0102_0304_0506_0708,
        timestamp: 1,
        consumerGroup: "carillon"
    )
    private static let error = ModelError(.unknownField, field: "content.colour", "is no field")

    private func letter(
        key: [UInt8]? = nil,
        value: [UInt8]? = nil,
        headers: [DeadLetter.Header] = [],
        _ error: ModelError = error,
        _ origin: DeadLetter.Origin = origin,
        within bound: Int
    ) -> DeadLetter {
        DeadLetter(
            key: key,
            value: value,
            headers: headers,
            because: error,
            from: origin,
            within: RecordBound(bound)
        )
    }

    private func size(_ letter: DeadLetter) -> Int {
        RecordBound.size(key: letter.key, value: letter.value, headers: letter.headers)
    }

    private func filler(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }

    private func omitted(_ letter: DeadLetter) -> String? {
        letter.headers.last { $0.name == "carillon-omitted" }?.value.map { text($0) }
    }

    @Test("a dead letter keeps the record and has its reason and origin")
    func whole() {
        let original: [DeadLetter.Header] = [
            ("ce_id", bytes("1")), ("empty", nil), ("carillon-reason", bytes("old")),
            ("carillon-omitted", bytes("key=1")),
            ("kafka_dlt-original-offset", [9]),
        ]
        let letter = letter(key: bytes("k"), value: bytes("v"), headers: original, within: 1_000_000)
        #expect(letter.key == bytes("k") && letter.value == bytes("v"))
        #expect(
            letter.headers.map(\.name) == [
                "ce_id", "empty", "carillon-reason", "carillon-field", "kafka_dlt-original-topic",
                "kafka_dlt-original-partition", "kafka_dlt-original-offset", "kafka_dlt-original-timestamp",
                "kafka_dlt-original-timestamp-type", "kafka_dlt-original-consumer-group", "kafka_dlt-exception-message",
            ]
        )
        func value(_ name: String) -> [UInt8]? { letter.headers.first { $0.name == name }?.value }
        #expect(value("empty") == nil)
        #expect(value("carillon-reason") == bytes("unknown-field"))
        #expect(value("carillon-field") == bytes("content.colour"))
        #expect(value("kafka_dlt-original-partition") == [0, 0, 1, 2])
        #expect(value("kafka_dlt-original-offset") == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(value("kafka_dlt-original-timestamp") == [0, 0, 0, 0, 0, 0, 0, 1])
        #expect(value("kafka_dlt-original-timestamp-type") == bytes("CreateTime"))
        #expect(Self.origin.deadLetterPartition(of: 8) == 2)
    }

    @Test("at every limit a dead letter fits, and only parts that do not fit are omitted and listed", arguments: bounds)
    func aroundBounds(_ bound: Int) {
        let room = bound - size(letter(within: bound))
        for difference in [-100, -37, -11, -10, -1, 0, 1, 10, 11, 37, 100, 5_000, bound] {
            let part = filler(room + difference)
            let fits = difference <= 0
            let byKey = letter(key: part, within: bound)
            #expect(size(byKey) <= bound)
            #expect(byKey.key == (fits ? part : nil))
            #expect(omitted(byKey) == (fits ? nil : "key=\(part.count)"))

            let byValue = letter(key: nil, value: part, within: bound)
            #expect(size(byValue) <= bound)
            #expect(byValue.value == (fits ? part : nil))
            #expect(omitted(byValue) == (fits ? nil : "value=\(part.count)"))

            let header = (name: "large", value: Optional(filler(part.count - 15)))
            let byHeader = letter(headers: [header], within: bound)
            #expect(size(byHeader) <= bound)
            #expect(byHeader.headers.contains { $0.name == "large" } == fits)
            #expect(omitted(byHeader) == (fits ? nil : "headers=\(part.count - 10)"))

            // Small parts stay next to large ones.
            let small: [DeadLetter.Header] = [("ce_id", bytes("1")), header, ("ce_type", bytes("t"))]
            let mixed = letter(key: bytes("key"), value: bytes("value"), headers: small, within: bound)
            #expect(size(mixed) <= bound)
            #expect(mixed.key == bytes("key") && mixed.value == bytes("value"))
            #expect(mixed.headers.prefix(1).map(\.name) == ["ce_id"])
            #expect(mixed.headers.contains { $0.name == "ce_type" })
        }
    }

    @Test("all three too large: all are omitted, with their sizes", arguments: bounds)
    func everything(_ bound: Int) {
        let large = filler(bound)
        let letter = letter(key: large, value: large, headers: [("h", large), ("i", nil)], within: bound)
        #expect(size(letter) <= bound)
        #expect(letter.key == nil && letter.value == nil)
        #expect(letter.headers.first?.name == "i")
        #expect(
            omitted(letter).map { Set($0.split(separator: ",")) }
                == ["key=\(bound)", "value=\(bound)", "headers=\(bound + 1)"]
        )
    }

    @Test("many headers are too large together", arguments: bounds)
    func manyHeaders(_ bound: Int) {
        let headers = (0..<(bound / 12)).map { (name: "h\($0 % 10)", value: Optional([UInt8]())) }
        let letter = letter(key: bytes("key"), value: bytes("value"), headers: headers, within: bound)
        // The value is omitted before any of them: it is larger. No more headers are omitted than needed.
        #expect(size(letter) <= bound && size(letter) > bound - 200)
        #expect(omitted(letter)?.contains("headers=") == true)
    }

    @Test("any record's dead letter fits, and no remaining part is larger than an omitted one")
    func random() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<300 {
            let bound = Self.bounds[Int.random(in: 0..<3, using: &generator)]
            func part() -> [UInt8]? {
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: nil
                case 1: filler(Int.random(in: 0...10, using: &generator))
                case 2: filler(Int.random(in: 0...bound, using: &generator))
                case 3: filler(bound - Int.random(in: 0...4_000, using: &generator))
                default: filler(Int.random(in: 0...bound / 3, using: &generator))
                }
            }
            let headers = (0..<Int.random(in: 0...5, using: &generator)).map { (name: "h\($0)", value: part()) }
            let (key, value) = (part(), part())
            let letter = letter(key: key, value: value, headers: headers, within: bound)
            #expect(size(letter) <= bound)
            let kept = [letter.key?.count, letter.value?.count].compactMap(\.self)
            let gone = [
                letter.key == nil ? key?.count : nil, letter.value == nil ? value?.count : nil,
            ].compactMap(\.self)
            if let largest = kept.max(), let smallest = gone.min() { #expect(largest <= smallest) }
            let whole = self.letter(key: key, value: value, headers: headers, within: .max)
            #expect((omitted(letter) != nil) == (size(whole) > bound))
        }
    }

    @Test("the texts about a record are bounded, also with long quotations")
    func texts() {
        let long = String(repeating: "\u{1F514}", count: 100_000)
        let origin = DeadLetter.Origin(
            topic: long,
            partition: 0,
            offset: 0,
            timestamp: 0,
            timestampType: long,
            consumerGroup: long
        )
        let error = ModelError(.invalid, field: long, long)
        #expect(error.field?.utf8.count ?? 0 <= 256 && error.detail.utf8.count <= 1_024)
        #expect(error.field?.hasSuffix("\u{1F514}…") == true)
        #expect(error.inside(long).field?.utf8.count ?? 0 <= 256)
        #expect(size(letter(error, origin, within: RecordBound.least)) < 4_096)
        let exact = String(repeating: "x", count: 256)
        #expect(ModelError(.invalid, field: exact, "").field == exact)
        #expect(ModelError(.invalid, field: exact + "y", "").field == exact.prefix(253) + "…")
    }
}

@Suite("Record size limits")
struct RecordBoundTests {
    @Test("the largest entry and the largest event fit around their content")
    func around() throws {
        // JSON doubles each character, percent-encoding triples it.
        let longest = String(repeating: "\"", count: ModelLimits.keyComponentBytes)
        let key = try NotificationKey(application: longest, recipient: longest, identifier: longest)
        func id(_ number: Int) throws -> RequestID {
            try RequestID(text: String(repeating: "\"", count: ModelLimits.requestIDBytes - 3) + "\(100 + number)")
        }
        let trace = CarriedTrace(
            traceparent: bytes("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
                + [UInt8](repeating: 0x2D, count: 201),
            tracestate: [UInt8](repeating: 0x22, count: 512)
        )
        #expect(trace.traceparent?.count == 256 && trace.tracestate?.count == 512)
        let (time, content) = (Timestamp(rawValue: 4_000_000_000_000), bytes("{}")[...])
        var entry = StateEntry()
        (entry.touched, entry.applied[.requests].offset, entry.applied[.requests].life) = (time, .max, .max)
        entry.version = .init(number: .max, by: try id(0))
        let schedule = IntervalSchedule(interval: .max, anchor: time, repeats: true, misfire: .once, jitter: .max)
        entry.pending = .init(
            requestID: try id(1),
            content: content,
            expiration: time,
            trace: trace,
            timer: .scheduled(.interval(schedule), occurrence: time),
            due: time
        )
        var handover = StateEntry.Handover(
            showing: Showing(try id(2), time),
            content: content,
            expiration: time,
            trace: trace,
            closes: true,
            channel: nil,
            time: time
        )
        (handover.cancelledBy, handover.removedBy) = (try id(3), try id(4))
        entry.handover = handover
        var operation = ScreenOperation(
            .show(handover.showing),
            channel: .webhook,
            devices: [],
            at: time,
            sequence: .init(life: .max, offset: .max, time: time),
            trace: trace
        )
        (operation.attempt, operation.id) = (Int(Int32.max), UUIDValue(high: .max, low: .max))
        var screen = Screen()
        screen.operations = [operation]
        entry.screen = screen
        entry.delivered = .init(requestID: try id(5), occurrence: time, at: time)
        entry.known = try (0..<128).map { .init(id: try id($0 + 6), closed: time) }
        let entrySize = RecordBound.size(key: key.encoded, value: entry.json, headers: [])
        #expect(entrySize <= RecordBound.aroundContent, "\(entrySize)")

        var recipient = RecipientRecord()
        (recipient.touched, recipient.applied[.requests].offset, recipient.applied[.requests].life) = (time, .max, .max)
        recipient.removals = try (0..<128).map { .init(id: try id($0), offset: .max, closed: time) }
        let recipientSize = RecordBound.size(key: key.encoded, value: recipient.json, headers: [])
        #expect(recipientSize <= RecordBound.aroundContent, "\(recipientSize)")

        var event = DeliveryEvent(name: .scheduled, requestID: try id(0), key: key, closes: true, inDoubt: true)
        (event.occurrence, event.nextTriggerDate, event.until, event.first, event.last) = (time, time, time, time, time)
        (event.count, event.replaces, event.by, event.into) = (.max, try id(1), try id(2), try id(3))
        (event.known, event.reason, event.channel, event.content) = (.delivered, .capped, "events", content)
        var json: [UInt8] = []
        event.write(to: &json)
        let headers = ["ce_specversion", "ce_id", "ce_source", "ce_type", "ce_time", "ce_subject", "content-type"]
        let values: [DeadLetter.Header] =
            headers.map { ($0, $0 == "ce_subject" ? key.encoded : [UInt8](repeating: 0, count: 300)) }
            + [("traceparent", trace.traceparent), ("tracestate", trace.tracestate)]
        let eventSize = RecordBound.size(key: key.encoded, value: json, headers: values)
        #expect(eventSize <= RecordBound.aroundContent, "\(eventSize)")
    }

    @Test("a content gets the remaining bytes, and never more than a request's limit")
    func content() throws {
        #expect(RecordBound(1_000_000).content() == ModelLimits.requestBytes)
        #expect(RecordBound(1_000_000).content(contents: 2) == ModelLimits.requestBytes)
        #expect(RecordBound(100_000).content() == 100_000 - RecordBound.aroundContent)
        #expect(RecordBound(100_000).content(contents: 2) == (100_000 - RecordBound.aroundContent) / 2)
        #expect(RecordBound(RecordBound.least).content() == 8_192)
        #expect(RecordBound(0).content() == 0)
        try RecordBound(100_000).check(content: 100_000 - RecordBound.aroundContent)
        let error = failure { () throws(ModelError) in
            try RecordBound(100_000).check(content: 100_001 - RecordBound.aroundContent)
        }
        #expect(error?.reason == .tooLarge && error?.field == "content")
    }

    @Test("a trace is read within its limits, or not at all")
    func traces() {
        let parent = bytes("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        func trace(_ parent: [UInt8]?, _ state: [UInt8]?) -> CarriedTrace {
            CarriedTrace(traceparent: parent, tracestate: state)
        }
        for count in [1, 511, 512] {
            let state = [UInt8](repeating: 0x61, count: count)
            #expect(trace(parent, state).tracestate == state && trace(parent, state).traceparent == parent)
        }
        for state in [
            [], [UInt8](repeating: 0x61, count: 513), [UInt8](repeating: 0x61, count: 170_000), [0x61, 0x0A], [0xE9],
        ] {
            #expect(trace(parent, state).tracestate == nil && trace(parent, state).traceparent == parent)
        }
        for wrong in [nil, [], bytes("x"), parent + [0x61], [UInt8](repeating: 0x30, count: 900_000)] {
            #expect(trace(wrong, bytes("a=1")) == .none)
        }
    }
}
