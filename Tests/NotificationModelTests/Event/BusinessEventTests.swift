import NotificationModel
import Testing

@Suite("Business events")
struct BusinessEventTests {
    private let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    private func kafka(_ headers: [(String, String?)], _ value: String? = nil) throws(ModelError) -> BusinessEvent {
        try BusinessEvent(
            kafkaHeaders: headers.map { (name: $0.0, value: $0.1.map { bytes($0) }) },
            value: value.map { bytes($0) }
        )
    }

    private func http(_ headers: [(String, String)], _ body: String) throws(ModelError) -> [BusinessEvent] {
        try BusinessEvent.parse(httpHeaders: headers.map { (name: $0.0, value: $0.1) }, body: bytes(body))
    }

    private let required = [("ce_specversion", "1.0"), ("ce_id", "e-1"), ("ce_source", "/shop"), ("ce_type", "t")]

    @Test("binary mode on Kafka: headers are attributes, the value is the data")
    func kafkaBinary() throws {
        let event = try kafka(
            required + [
                ("ce_time", "2026-11-21T08:00:00+08:00"), ("ce_subject", "1001"), ("ce_region", "北京"),
                ("content-type", "application/json; charset=utf-8"), ("traceparent", trace), ("other", "x"),
            ],
            #"{"a": 1}"#
        )
        #expect(event.id == "e-1" && event.source == "/shop" && event.type == "t" && event.subject == "1001")
        #expect(event.time?.rfc3339 == "2026-11-21T00:00:00.000Z")
        #expect(event.dataContentType == "application/json; charset=utf-8" && event.isJSON)
        #expect(event.data == bytes(#"{"a": 1}"#))
        #expect(event.extensions == ["region": "北京", "traceparent": trace])
    }

    @Test("an event published in binary mode is read back equal")
    func published() throws {
        let event = BusinessEvent(
            id: "1",
            source: "/s",
            type: "t",
            subject: "u",
            time: Timestamp(rawValue: 1_795_251_600_000),
            dataContentType: "application/json",
            dataSchema: "https://e.com/s",
            data: bytes("{}"),
            extensions: ["traceparent": trace, "tracestate": "a=b", "seq": "7"]
        )
        let headers = event.kafkaHeaders()
        #expect(headers.map(\.name).filter { !$0.hasPrefix("ce_") } == ["content-type", "traceparent", "tracestate"])
        let again = try BusinessEvent(
            kafkaHeaders: headers.map { (name: $0.name, value: $0.value) },
            value: event.kafkaValue
        )
        #expect(again == event)
    }

    @Test("the key is the partition key, else the subject, else the source; never the id")
    func key() throws {
        func key(_ more: (String, String?)...) throws -> String {
            String(decoding: try kafka(required + more).kafkaKey, as: UTF8.self)
        }
        #expect(try key() == "/shop")
        #expect(try key(("ce_subject", "order-1")) == "order-1")
        #expect(try key(("ce_subject", "order-1"), ("ce_partitionkey", "ana")) == "ana")
        #expect(try key(("ce_partitionkey", "北京")) == "北京")
        #expect(try key(("ce_subject", "order-1"), ("ce_partitionkey", "")) == "order-1")
        #expect(try key(("partitionkey", "no attribute")) == "/shop")
    }

    @Test(
        "structured mode is recognized by its content type in any case",
        arguments: [
            "application/cloudevents+json", "Application/CloudEvents+JSON; charset=UTF-8", "application/cloudevents",
        ]
    )
    func structured(_ contentType: String) throws {
        let json = #"{"specversion":"1.0","id":"e","source":"s","type":"t","data":{ "n" : 1.50 }}"#
        #expect(try kafka([("Content-Type", contentType)], json).data == bytes(#"{ "n" : 1.50 }"#))
        #expect(try http([("Content-Type", contentType)], json).first?.id == "e")
    }

    @Test("structured data: JSON stays raw, text of another type is unescaped, base64 is decoded")
    func data() throws {
        func data(_ rest: String) throws -> [UInt8] {
            try kafka(
                [("content-type", "application/cloudevents+json")],
                #"{"specversion":"1.0","id":"e","source":"s","type":"t","# + rest + "}"
            ).data
        }
        #expect(try data(#""data":"a\nb""#) == bytes(#""a\nb""#))
        #expect(try data(#""datacontenttype":"text/plain","data":"a\nb""#) == bytes("a\nb"))
        #expect(try data(#""data":"a\nb","datacontenttype":"application/vnd.x+json""#) == bytes(#""a\nb""#))
        #expect(try data(#""data":null"#) == bytes("null"))
        #expect(try data(#""data_base64":"AAEC/w==""#) == [0, 1, 2, 255])
        #expect(try data(#""data_base64":"""#) == [])
    }

    @Test(
        "invalid base64 is refused",
        arguments: ["A", "AA", "AA=", "AAA=A", "A===", "AAAA=", "AB==", "A A=", "AA==AA=="]
    )
    func base64(_ encoded: String) {
        let error = failure { () throws(ModelError) in
            try kafka(
                [("content-type", "application/cloudevents+json")],
                #"{"specversion":"1.0","id":"e","source":"s","type":"t","data_base64":""# + encoded + "\"}"
            )
        }
        #expect(error?.field == "data_base64")
    }

    @Test("HTTP binary mode decodes its headers and reads the trace context")
    func httpBinary() throws {
        let event = try #require(
            try http(
                [
                    ("CE-SpecVersion", "1.0"), ("ce-id", "a%20b"), ("ce-source", "/s%2541"), ("ce-type", "\"t\""),
                    ("ce-subject", "Euro%20%E2%82%AC"), ("Content-Type", "application/json"), ("traceparent", trace),
                ],
                "{}"
            ).first
        )
        #expect(event.id == "a b" && event.source == "/s%41" && event.type == "t" && event.subject == "Euro €")
        #expect(event.extensions["traceparent"] == trace)
        let bad = failure { () throws(ModelError) in
            try http([("ce-specversion", "1.0"), ("ce-id", "%zz"), ("ce-source", "s"), ("ce-type", "t")], "")
        }
        #expect(bad?.field == "id" && bad?.reason == .invalid)
    }

    @Test("a malformed trace is ignored, and an event's own trace has priority")
    func traces() throws {
        for bad in ["", "x", trace.uppercased(), String(trace.dropLast()), trace + "x"] {
            #expect(try kafka(required + [("traceparent", bad), ("tracestate", "a=b")]).extensions.isEmpty)
        }
        let garbage = try BusinessEvent(
            kafkaHeaders: required.map { (name: $0.0, value: bytes($0.1)) } + [
                ("traceparent", [0xFF]), ("tracestate", [0]),
            ],
            value: nil
        )
        #expect(garbage.extensions.isEmpty)
        let own = try kafka(required + [("ce_traceparent", "mine"), ("traceparent", trace), ("tracestate", "a=b")])
        #expect(own.extensions == ["traceparent": "mine"])
        let both = try kafka(required + [("tracestate", "a=b"), ("traceparent", trace)])
        #expect(both.extensions == ["traceparent": trace, "tracestate": "a=b"])
    }

    @Test("a batch is read completely, and an error names the event")
    func batch() throws {
        let one = #"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#
        let type = [("content-type", "application/cloudevents-batch+json")]
        #expect(try http(type, "[\(one),\(one)]").count == 2)
        #expect(try http(type, "[]").isEmpty)
        let bad = #"{"specversion":"1.0","source":"s","type":"t"}"#
        #expect(failure { () throws(ModelError) in try http(type, "[\(one),\(bad)]") }?.field == "1.id")
        #expect(failure { () throws(ModelError) in try http(type, one) }?.reason == .invalid)
        let many =
            "[" + Array(repeating: one, count: ModelLimits.businessEventsInBatch + 1).joined(separator: ",") + "]"
        #expect(failure { () throws(ModelError) in try http(type, many) }?.reason == .tooLarge)
    }

    @Test("errors name the attribute", arguments: ["specversion", "id", "source", "type"])
    func missing(_ attribute: String) {
        let headers = required.filter { $0.0 != "ce_" + attribute }
        #expect(failure { () throws(ModelError) in try kafka(headers) }?.field == attribute)
        #expect(
            failure { () throws(ModelError) in try kafka(headers + [("ce_" + attribute, nil)]) }?.field == attribute
        )
        let twice = failure { () throws(ModelError) in try kafka(required + [("CE_" + attribute, "x")]) }
        #expect(twice?.field == attribute)
    }

    @Test(
        "invalid attributes are refused",
        arguments: [
            ("ce_time", "yesterday", "time"), ("ce_subject", "", "subject"), ("ce_my-ext", "x", "my-ext"),
            ("ce_", "x", ""), ("ce_" + String(repeating: "x", count: 21), "x", String(repeating: "x", count: 21)),
            ("ce_ext", "a\u{0}", "ext"), ("ce_subject", String(repeating: "x", count: 4097), "subject"),
        ]
    )
    func refused(_ name: String, _ value: String, _ field: String) {
        #expect(failure { () throws(ModelError) in try kafka(required + [(name, value)]) }?.field == field)
    }

    @Test("a record without CloudEvents headers, of another format, not UTF-8 or too large is refused")
    func notAnEvent() {
        #expect(failure { () throws(ModelError) in try kafka([], "{}") }?.field == "specversion")
        #expect(
            failure { () throws(ModelError) in try kafka([("content-type", "application/cloudevents+avro")], "{}") }?
                .field
                == "content-type"
        )
        let latin = failure { () throws(ModelError) in
            try BusinessEvent(kafkaHeaders: [("ce_specversion", bytes("1.0")), ("ce_id", [0xE9])], value: nil)
        }
        #expect(latin?.reason == .notUTF8 && latin?.field == "id")
        let large = String(repeating: "x", count: ModelLimits.businessEventBytes + 1)
        #expect(failure { () throws(ModelError) in try kafka(required, large) }?.reason == .tooLarge)
        let structured = failure { () throws(ModelError) in
            try kafka([("content-type", "application/cloudevents+json")], large)
        }
        #expect(structured?.reason == .tooLarge)
    }
}
