import NotificationModel
import Testing
import TestSupport

@Suite("UUIDs and request ids")
struct RequestIDTests {
    private func uuid(_ text: String) throws -> UUIDValue {
        let value = bytes(text).withUnsafeBytes { UUIDValue(canonical: $0) }
        return try #require(value)
    }

    @Test(
        "version 5 agrees with Python's uuid.uuid5",
        arguments: [
            ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "python.org", "886313e1-3b8a-5372-9b90-0c9aee199e5d"),
            ("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com", "2ed6657d-e927-568b-95e1-2665a8aea6a2"),
            ("6ba7b811-9dad-11d1-80b4-00c04fd430c8", "", "1b4db7eb-4057-5ddf-91e0-36dec72071f5"),
            (
                "6ba7b812-9dad-11d1-80b4-00c04fd430c8", String(repeating: "1.3.6.1.张三", count: 20),
                "e7f9cd81-c565-5653-a5de-c391b7371d72"
            ),
        ]
    )
    func version5(_ namespace: String, _ name: String, _ expected: String) throws {
        #expect(UUIDv5.make(namespace: try uuid(namespace), name: bytes(name)).description == expected)
    }

    @Test("the namespaces match their documentation")
    func namespaces() throws {
        let url = try uuid("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
        #expect(
            UUIDv5.make(namespace: url, name: bytes("urn:carillon:notification:request")) == UUIDv5.requestNamespace
        )
        #expect(UUIDv5.make(namespace: url, name: bytes("urn:carillon:notification:event")) == UUIDv5.eventNamespace)
    }

    @Test("derived ids match another implementation")
    func derived() throws {
        let key = try NotificationKey(application: "shop", recipient: "user-42", identifier: "order-1001")
        #expect(
            RequestID.derive(source: "/shop", id: "e-1", rule: "shipped", key: key).description
                == "68fd5757-20b4-5adc-b327-82ca1c9865e5"
        )
        #expect(
            RequestID.derive(caller: "ana", idempotencyKey: "k-1").description == "123c5186-eaf7-5c17-b4cb-0411909b8547"
        )
        #expect(
            RequestID.derive(topic: "carillon.requests", partition: 3, offset: 42).description
                == "9113f161-9c0a-5ae8-a1e6-cbcfd366827a"
        )
    }

    @Test("pieces that concatenate to the same bytes give different ids")
    func unambiguous() {
        #expect(
            RequestID.derive(caller: "a", idempotencyKey: "bc") != RequestID.derive(caller: "ab", idempotencyKey: "c")
        )
    }

    @Test("only canonical lower-case UUIDs are stored inline; other text is unchanged")
    func forms() throws {
        let lower = "0d8f8a5e-3b0c-5d53-9f57-6f6f0a4f2a11"
        guard case .uuid = try RequestID(text: lower) else {
            Issue.record("not inline")
            return
        }
        #expect(try RequestID(text: lower).description == lower)
        for other in [lower.uppercased(), "{\(lower)}", lower.replacing("-", with: ""), "x", "注文 1", "a/b%"] {
            guard case .text = try RequestID(text: other) else {
                Issue.record("inline: \(other)")
                continue
            }
            #expect(try RequestID(text: other).description == other)
        }
    }

    @Test(
        "empty, oversized and control-character ids are refused",
        arguments: ["", String(repeating: "x", count: 129), "a\u{0}", "a\n", "\u{7F}", "\u{85}"]
    )
    func refused(_ text: String) {
        #expect(failure { () throws(ModelError) in try RequestID(text: text) }?.reason == .invalid)
    }

    @Test("texts that are equivalent in Unicode but have different bytes are different ids")
    func byteEquality() throws {
        let composed = try RequestID(text: "\u{E9}")
        let decomposed = try RequestID(text: "e\u{301}")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test("random ids are UUIDs of version 4")
    func random() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<100 {
            let text = Array(RequestID.random(using: &generator).description)
            #expect(text.count == 36 && text[14] == "4" && "89ab".contains(text[19]))
        }
    }
}

@Suite("Notification keys")
struct NotificationKeyTests {
    @Test(
        "components of any content are preserved",
        arguments: ["order-1001", "a/b", "..", "%", "%00", "50% off", "张三", "a b+c", "~._-", "\u{1F4E6}", "a%2Fb"]
    )
    func roundTrip(_ component: String) throws {
        let key = try NotificationKey(application: component, recipient: component, identifier: component)
        #expect(key.application == component)
        #expect(key.recipient == component)
        #expect(key.identifier == component)
        #expect(key.recipientBytes == bytes(component))
        #expect(key.encoded.filter { $0 == 0x2F }.count == 2)
        let again = try NotificationKey(encoded: key.encoded)
        #expect(again == key)
        #expect(again.encoded == key.encoded)
        #expect(again.withRecipientBytes { Array($0) } == bytes(component))
        var json: [UInt8] = [0x7B]
        key.writeJSONFields(to: &json)
        json.append(0x7D)
        #expect(try JSONValue.parse(json)["recipient"]?.stringValue == component)
    }

    @Test("the encoding keeps unreserved characters and escapes all others in upper case")
    func encoding() throws {
        let key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "50% é")
        #expect(key.description == "shop/ana%2F1/50%25%20%C3%A9")
    }

    @Test("noncanonical spellings of a key become canonical")
    func canonical() throws {
        let key = try NotificationKey(encoded: bytes("shop/us%65r%2d42/a b%c3%a9"))
        #expect(key.description == "shop/user-42/a%20b%C3%A9")
        #expect(key == (try NotificationKey(application: "shop", recipient: "user-42", identifier: "a bé")))
    }

    @Test("an empty identifier means all of the recipient's notifications")
    func whole() throws {
        let key = try NotificationKey(encoded: bytes("shop/user-42/"))
        #expect(key.isWholeRecipient)
        #expect(key.identifier.isEmpty)
        #expect(try NotificationKey(application: "shop", recipient: "user-42", identifier: "") == key)
    }

    @Test(
        "invalid keys are refused with the offending component",
        arguments: [
            ("", "key"), ("shop", "key"), ("shop/u", "key"), ("a/b/c/d", "key"), ("/u/i", "application"),
            ("a//i", "recipient"), ("a/u/%", "identifier"), ("a/u/%2", "identifier"), ("a/u/%zz", "identifier"),
            ("a/%00/i", "recipient"), ("a/u/%0A", "identifier"), ("a/u/\u{7}", "identifier"),
            ("a/u/%C2%85", "identifier"),
            ("a/u/" + String(repeating: "x", count: 257), "identifier"),
            (String(repeating: "%41", count: 257) + "/u/i", "application"),
        ]
    )
    func refused(_ encoded: String, _ field: String) {
        let error = failure { () throws(ModelError) in try NotificationKey(encoded: bytes(encoded)) }
        #expect(error?.reason == .invalid)
        #expect(error?.field == field)
    }

    @Test("a component that is not UTF-8 is refused", arguments: ["a/%FF/i", "a/%C0%AF/i", "a/%ED%A0%80/i"])
    func notUTF8(_ encoded: String) {
        #expect(failure { () throws(ModelError) in try NotificationKey(encoded: bytes(encoded)) }?.reason == .notUTF8)
    }

    @Test("components of 256 bytes are allowed, and the limit counts decoded bytes")
    func limit() throws {
        let long = String(repeating: "/", count: 256)
        #expect(try NotificationKey(application: long, recipient: long, identifier: long).identifier == long)
        let over = failure { () throws(ModelError) in
            try NotificationKey(application: "a", recipient: long + "x", identifier: "i")
        }
        #expect(over?.field == "recipient")
    }
}

@Suite("Percent encoding, topic names")
struct NameTests {
    @Test(
        "a path parameter is decoded exactly once",
        arguments: [("ana%2F1", "ana/1"), ("%2541", "%41"), ("a+b", "a+b"), ("..", ".."), ("%e5%bc%a0", "张"), ("", "")]
    )
    func once(_ encoded: String, _ decoded: String) throws {
        #expect(try PercentEncoding.decodeOnce(encoded) == decoded)
    }

    @Test(
        "invalid escapes and control characters are refused",
        arguments: ["%", "%4", "%4g", "a%", "%00", "%0d%0a", "%7F", "a\u{1}"]
    )
    func refused(_ encoded: String) {
        #expect(failure { () throws(ModelError) in try PercentEncoding.decodeOnce(encoded) }?.reason == .invalid)
    }

    @Test("text that is not UTF-8 after decoding is refused")
    func notUTF8() {
        #expect(failure { () throws(ModelError) in try PercentEncoding.decodeOnce("%ff") }?.reason == .notUTF8)
    }

    @Test("names get the prefix unless they are set")
    func names() throws {
        let names = TopicNames(prefix: "x.", requests: "my-requests")
        #expect(names.requests == "my-requests")
        #expect(names.deadLetters == "x.dead-letters")
        try names.validate()
        #expect(TopicNames().businessEvents == "carillon.business-events")
    }

    @Test(
        "names that Kafka refuses, and two topics of one name, are refused",
        arguments: ["", ".", "..", "a b", "ä", "a/b", String(repeating: "x", count: 250)]
    )
    func invalidNames(_ name: String) {
        #expect(failure { () throws(ModelError) in try TopicNames(signals: name).validate() }?.field == "signals")
        let twice = failure { () throws(ModelError) in try TopicNames(requests: "t", state: "t").validate() }
        #expect(twice?.field == "state")
    }
}
