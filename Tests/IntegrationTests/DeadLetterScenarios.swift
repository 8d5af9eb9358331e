import Foundation
import Testing

/// Invalid records, and the dead letters that a Python client reads.
extension ServiceScenarios {
    /// The error, and the record.
    private struct Case {
        var reason: String
        var record: TestRecord
        var field: String?
    }

    private func expect(_ cases: [Case], group: String, in stack: Stack) async throws {
        let places = try await stack.send(cases.map(\.record))
        try #require(places.count == cases.count)
        let letters = try await stack.deadLetters(of: places)
        for ((wrong, place), letter) in zip(zip(cases, places), letters) {
            let what = "\(wrong.record): \(letter)"
            #expect(letter.text("carillon-reason") == wrong.reason, "\(what)")
            if let field = wrong.field { #expect(letter.text("carillon-field") == field, "\(what)") }
            #expect(letter.key == wrong.record.key.map { Data($0.utf8) }, "\(what)")
            #expect(letter.value == wrong.record.value, "the original bytes: \(what)")
            #expect(letter.bigEndian("kafka_dlt-original-timestamp", bytes: 8) == place.timestamp, "\(what)")
            #expect(letter.text("kafka_dlt-original-consumer-group") == group, "\(what)")
            #expect(letter.text("kafka_dlt-exception-message")?.isEmpty == false, "\(what)")
            for (name, text) in wrong.record.headers { #expect(letter.text(name) == text, "\(what)") }
        }
        // kcat shows the same fields.
        let kcat = try await ChildProcess.run(
            try Tools.program("kcat"),
            [
                "-b", stack.cluster.bootstrapServers, "-C", "-t", stack.cluster.topic("dead-letters"), "-o",
                "beginning",
                "-e", "-q", "-f", "%h\n",
            ]
        )
        for wrong in cases { #expect(kcat.outputText.contains("carillon-reason=\(wrong.reason)")) }
    }

    @Test("the producer service writes invalid events to dead letters with reason, bytes, key, headers and origin")
    func deadLettersOfEvents() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        func event(
            _ reason: String,
            field: String? = nil,
            type: String = "com.example.test.now",
            without missing: String? = nil,
            contentType: String = "application/json",
            _ value: Data?
        ) -> Case {
            var headers = [
                "ce_specversion": "1.0", "ce_type": type, "ce_source": "/tests", "ce_id": UUID().uuidString,
                "content-type": contentType, "x-own": "kept",
            ]
            if let missing { headers[missing] = nil }
            let record = TestRecord(
                topic: stack.cluster.topic("business-events"),
                key: recipient,
                value: value,
                headers: headers,
                recipient: recipient
            )
            return Case(reason: reason, record: record, field: field)
        }
        let good = Data(#"{"recipient":"\#(recipient)","identifier":"order","title":"Test"}"#.utf8)
        let deep = Data((String(repeating: "[", count: 5000) + String(repeating: "]", count: 5000)).utf8)
        let cloudEvent = "application/cloudevents+json"
        try await expect(
            [
                event("no-rule", type: "com.example.unheard.of", good),
                event("missing-variable", Data(#"{"recipient":"\#(recipient)","title":"Test"}"#.utf8)),
                event("invalid", Data(#"{"recipient":"#.utf8)),
                event("not-utf8", Data([0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xFF, 0xFE, 0x22, 0x7D])),
                event("invalid", field: "id", without: "ce_id", good),
                event("invalid", field: "type", without: "ce_type", good),
                event("invalid", deep),
                event("missing-variable", nil),
                event("missing-variable", Data()),
                event("invalid", contentType: cloudEvent, Data(#"{"specversion":"1.0""#.utf8)),
                event("invalid", contentType: cloudEvent, nil),
                event(
                    "invalid",
                    field: "recipient",
                    Data(#"{"recipient":"","identifier":"order","title":"Test"}"#.utf8)
                ),
                event("invalid", Data(#"{"recipient":"\#(recipient)","identifier":"a\u0000b","title":"Test"}"#.utf8)),
                event("missing-variable", Data("[]".utf8)),
            ],
            group: "\(stack.deployment)-producer",
            in: stack
        )
        #expect(stack.all(recipient).isEmpty)
        // It continues with the next event.
        _ = try await stack.send(TestEvent(type: "now", recipient: recipient, identifier: "after"))
        _ = try await stack.event("delivered", recipient, "after")
    }

    @Test("the consumer service writes invalid requests to dead letters with reason, bytes, key, headers and origin")
    func deadLettersOfRequests() async throws {
        let stack = try Stack.shared()
        let recipient = stack.recipient()
        func wrong(
            _ reason: String,
            field: String? = nil,
            key: String? = "",
            value: Data?,
            shift: Int = 0
        ) -> Case {
            let record = TestRecord(
                topic: stack.cluster.topic("requests"),
                key: key == "" ? "shop/\(recipient)/order" : key,
                value: value,
                headers: ["traceparent": "00-33333333333333333333333333333333-4444444444444444-01", "x-own": "kept"],
                recipient: recipient,
                shift: shift
            )
            return Case(reason: reason, record: record, field: field)
        }
        func body(_ text: String) -> Data { Data(text.utf8) }
        func calendar(_ components: String, zone: String = "America/New_York", _ field: String) -> Case {
            let trigger = #"{"type":"calendar","dateComponents":\#(components),"timeZone":"\#(zone)"}"#
            return wrong("invalid", field: field, value: body(#"{"content":{"title":"T"},"trigger":\#(trigger)}"#))
        }
        let good = body(#"{"content":{"title":"Test"}}"#)
        try await expect(
            [
                wrong("invalid", value: body(#"{"content":"#)),
                wrong("misrouted", value: good, shift: 1),
                wrong("misrouted", value: nil, shift: 1),
                wrong(
                    "unknown-trigger",
                    field: "trigger.type",
                    value: body(#"{"content":{"title":"T"},"trigger":{"type":"moon"}}"#)
                ),
                wrong("unknown-field", field: "colour", value: body(#"{"content":{"title":"T"},"colour":"red"}"#)),
                wrong(
                    "invalid",
                    field: "trigger.region.latitude",
                    value: body(
                        #"{"content":{"title":"T"},"trigger":{"type":"location","region":{"latitude":91,"longitude":1,"radius":1},"notifyOnEntry":true}}"#
                    )
                ),
                calendar(#"{"month":9,"hour":23}"#, "trigger.dateComponents.day"),
                calendar(#"{"year":2100,"month":2,"day":29}"#, "trigger.dateComponents.day"),
                calendar(#"{"year":2020,"month":2,"day":29}"#, "trigger.dateComponents"),
                calendar(#"{"hour":9}"#, zone: "Asia/Beijing", "trigger.timeZone"),
                wrong(
                    "invalid",
                    field: "trigger.timeInterval",
                    value: body(
                        #"{"content":{"title":"T"},"trigger":{"type":"timeInterval","timeInterval":59,"repeats":true}}"#
                    )
                ),
                wrong("invalid", field: "content.title", value: body(#"{"content":{"title":1}}"#)),
                wrong("invalid", value: body(#"{"content":{"title":"T","badge":1e999}}"#)),
                wrong("not-utf8", value: body(#"{"content":{"title":""#) + Data([0xC3, 0x28]) + body(#""}}"#)),
                wrong("invalid", value: Data()),
                wrong("invalid", key: nil, value: good),
                wrong("invalid", key: "shop/\(recipient)", value: good),
                wrong("invalid", key: "shop/\(recipient)/a%zz", value: good),
                wrong("invalid", key: "shop/\(recipient)/a%00b", value: good),
                wrong("invalid", key: "shop/\(recipient)/", value: good),
                wrong(
                    "invalid",
                    field: "recipient",
                    value: body(#"{"recipient":"somebody-else","content":{"title":"T"}}"#)
                ),
                wrong("too-large", value: body(#"{"content":{"body":"\#(String(repeating: "x", count: 300_000))"}}"#)),
                wrong(
                    "invalid",
                    value: body(
                        #"{"content":{"title":"T","userInfo":"# + String(repeating: #"{"a":"#, count: 100) + "1"
                            + String(repeating: "}", count: 100) + "}}"
                    )
                ),
            ],
            group: "\(stack.deployment)-consumer",
            in: stack
        )
        #expect(stack.all(recipient).isEmpty)
        try await stack.put(recipient, "after")
        _ = try await stack.event("delivered", recipient, "after")
    }
}
