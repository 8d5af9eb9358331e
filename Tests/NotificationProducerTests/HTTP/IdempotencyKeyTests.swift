import HTTPTesting
import HTTPTypes
import NotificationModel
import Testing

@testable import NotificationProducer

@Suite("Idempotency keys")
struct IdempotencyKeyTests {
    @Test(
        "A key is a text in double quotes",
        arguments: [
            (#""8e03978e-40d5-43dd-bc93-6894a57f9324""#, "8e03978e-40d5-43dd-bc93-6894a57f9324"), (#"  "a"  "#, "a"),
            (#""a \"b\" \\ c""#, #"a "b" \ c"#), (#"" ""#, " "), (#""a,b;c=~""#, "a,b;c=~"),
            ("\"\(String(repeating: "k", count: 255))\"", String(repeating: "k", count: 255)),
        ]
    )
    func good(value: String, text: String) throws {
        #expect(try IdempotencyKey(value).text == text)
    }

    @Test("Anything else is refused with the header's name", arguments: wrongOnes)
    func malformed(value: String) {
        let error = #expect(throws: ModelError.self) { try IdempotencyKey(value) }
        #expect(error?.reason == .invalid)
        #expect(error?.field == "idempotency-key")
    }

    private static let wrongOnes = [
        "", "abc", "\"", "\"abc", "abc\"", "\"\"", "'abc'", "\"a\" \"b\"", "\"a\", \"b\"", "\"a\";p=1", "\"a\"x",
        #""a\"#, #""a\b""#, #""a\""#, "\"ä\"", "\"a\tb\"", "?1", "12", ":YQ==:", "(\"a\")",
        "\"\(String(repeating: "k", count: 256))\"", "\"\(String(repeating: "k", count: 30_000))\"",
    ]

    @Test("Ids depend on method, application, recipient, identifier and key only")
    func ids() throws {
        let key = try IdempotencyKey("\"k\"")
        let notification = try NotificationKey(application: "shop", recipient: "ana", identifier: "a")
        let id = key.requestID(.put, notification)
        #expect(id == (try IdempotencyKey(" \"k\"")).requestID(.put, notification))
        // Computed by another program: UUIDv5 of the pieces `call`, `PUT shop/ana/a`, `k`.
        #expect(
            id == .uuid(UUIDv5.make(namespace: UUIDv5.requestNamespace, pieces: ["call", "PUT shop/ana/a", "k"]))
        )
        var all = [id, key.requestID(.delete, notification), try IdempotencyKey("\"l\"").requestID(.put, notification)]
        for (application, recipient, identifier) in [("bank", "ana", "a"), ("shop", "bob", "a"), ("shop", "ana", "b")] {
            let other = try NotificationKey(application: application, recipient: recipient, identifier: identifier)
            all.append(key.requestID(.put, other))
        }
        #expect(Set(all).count == all.count)
        let recipient = try NotificationKey(application: "shop", recipient: "ana", identifier: "")
        #expect(key.identifier(recipient) == key.identifier(recipient))
        #expect(key.identifier(recipient) != key.requestID(.post, recipient).description)
    }
}

@Suite("Calls with an idempotency key", .timeLimit(.minutes(10)))
struct IdempotentCallTests {
    private static let notification = "/v1/recipients/ana/notifications"
    private static let body = #"{"content":{"body":"x"}}"#

    @Test("A malformed key is refused with the header's name on every write, and nothing is published")
    func malformed() async throws {
        try await ProducerHarness.with { harness in
            let calls = [
                ("PUT", "\(Self.notification)/a"), ("POST", Self.notification), ("DELETE", "\(Self.notification)/a"),
                ("DELETE", Self.notification), ("POST", "/v1/events"),
            ]
            for (method, target) in calls {
                for key in ["abc", "\"\"", "\"a\", \"b\"", "\"\(String(repeating: "k", count: 300))\""] {
                    let answer = try await harness.http.send(
                        method,
                        target,
                        headers: [("content-type", "application/json"), ("idempotency-key", key)],
                        body: Array(Self.body.utf8)
                    )
                    #expect(answer.status == 400, "\(method) \(key): \(answer.text)")
                    #expect(answer["reason"] == "invalid")
                    #expect(answer["field"] == "idempotency-key")
                }
            }
            let twice = [("idempotency-key", "\"a\""), ("idempotency-key", "\"b\"")]
            #expect(try await harness.http.put("\(Self.notification)/a", Self.body, headers: twice).status == 400)
            #expect(try await harness.http.put("\(Self.notification)/last", Self.body).status == 202)
            let records = try await harness.records(ProducerHarness.topics.requests, count: 1)
            #expect(records.map(\.keyText) == ["shop/ana/last"])
        }
    }

    @Test("A repeated call creates the same ids, another key others, and a missing key new ones each time")
    func repeated() async throws {
        try await ProducerHarness.with { harness in
            func put(_ key: String?) async throws -> String {
                let headers = key.map { [("idempotency-key", $0)] } ?? []
                let answer = try await harness.http.put("\(Self.notification)/a", Self.body, headers: headers)
                #expect(answer.status == 202, "\(answer.text)")
                return try #require(answer["requestId"])
            }
            let first = try await put("\"k1\"")
            #expect(try await put("\"k1\"") == first)
            #expect(try await put("\"k2\"") != first)
            let random = try await put(nil)
            #expect(try await put(nil) != random)

            func post(_ key: String?) async throws -> RawHTTP.Answer {
                let answer = try await harness.http.send(
                    "POST",
                    Self.notification,
                    headers: [("content-type", "application/json")] + (key.map { [("idempotency-key", $0)] } ?? []),
                    body: Array(Self.body.utf8)
                )
                #expect(answer.status == 202, "\(answer.text)")
                return answer
            }
            let posted = try await post("\"k1\"")
            let again = try await post("\"k1\"")
            #expect(posted["requestId"] != first)
            #expect(again["requestId"] == posted["requestId"])
            #expect(again["identifier"] == posted["identifier"])
            #expect(again.headers["location"] == posted.headers["location"])
            #expect(try await post("\"k2\"")["identifier"] != posted["identifier"])
            #expect(try await post(nil)["identifier"] != posted["identifier"])

            func remove() async throws -> [String] {
                let answer = try await harness.http.send(
                    "DELETE",
                    "\(Self.notification)?identifier=a&identifier=b",
                    headers: [("idempotency-key", "\"k1\"")]
                )
                #expect(answer.status == 202, "\(answer.text)")
                return answer.json?["removals"].flatMap { $0 as? [[String: Any]] }?.compactMap {
                    $0["requestId"] as? String
                }
                    ?? []
            }
            let removed = try await remove()
            #expect(Set(removed).count == 2)
            #expect(try await remove() == removed)
        }
    }
}
