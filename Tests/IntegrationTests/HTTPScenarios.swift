import Foundation
import Testing

/// The API from outside. Bad input traps nothing: at the end the process is the same one, ready, and still works.
extension ServiceScenarios {
    @Test("path parameters are decoded once: a%2Fb is the recipient a/b, and dots and pluses are only text")
    func pathParameters() async throws {
        let stack = try Stack.shared()
        let own = stack.recipient("p")
        let texts = [
            "a%2Fb": "a/b", "a%252Fb": "a%2Fb", "..": "..", "%2E%2E": "..", "a+b": "a+b", "%C3%BC": "ü", "a%20b": "a b",
            ".": ".", "a%3Fb%23": "a?b#",
        ]
        for (written, meant) in texts {
            try await stack.put("\(own)\(written)", "order")
            _ = try await stack.event("delivered", "\(own)\(meant)", "order")
            try await stack.put(own, written)
            _ = try await stack.event("delivered", own, meant)
        }
        // The event's text and the path's are one recipient.
        try await stack.put("\(own)%2F1", "one", Self.hour)
        _ = try await stack.send(TestEvent(type: "cancelled", recipient: "\(own)/1", identifier: "one"))
        _ = try await stack.event("cancelled", "\(own)/1", "one")
    }

    @Test("wrong input is answered with its status, reason and field, and reaches no topic")
    func refused() async throws {
        let stack = try Stack.shared()
        let own = stack.recipient("bad")
        let process = stack.producer.child.pid
        let json = [("content-type", "application/json")]
        let good = Data(#"{"content":{"title":"Test"}}"#.utf8)
        let root = try await stack.producer.http

        func refuse(
            _ method: String,
            _ path: String,
            headers: [(String, String)],
            body: Data?,
            status: Int,
            reason: String,
            field: String? = nil,
            at location: SourceLocation = #_sourceLocation
        ) async throws {
            let answer = try await Curl.send(method, root + path, headers: headers, body: body)
            #expect(answer.status == status, "\(answer.text)", sourceLocation: location)
            #expect(answer.headers["content-type"] == "application/problem+json", sourceLocation: location)
            #expect(answer["reason"] == reason, "\(answer.text)", sourceLocation: location)
            if let field { #expect(answer["field"] == field, "\(answer.text)", sourceLocation: location) }
        }
        let here = "/v1/recipients/\(own)/notifications"

        // Paths.
        try await refuse(
            "PUT",
            "/v1/recipients/\(own)%00/notifications/a",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "recipient"
        )
        try await refuse(
            "PUT",
            "\(here)/a%00b",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "identifier"
        )
        try await refuse(
            "PUT",
            "\(here)/a%0Ab",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "identifier"
        )
        try await refuse(
            "PUT",
            "\(here)/a%FFb",
            headers: json,
            body: good,
            status: 400,
            reason: "not-utf8",
            field: "identifier"
        )
        try await refuse(
            "PUT",
            "\(here)/a%zz",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "identifier"
        )
        try await refuse(
            "PUT",
            "\(here)/a%",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "identifier"
        )
        try await refuse(
            "PUT",
            "\(here)/",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "identifier"
        )
        try await refuse(
            "PUT",
            "/v1/recipients//notifications/a",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "recipient"
        )
        let long = String(repeating: "x", count: 257)
        try await refuse(
            "PUT",
            "\(here)/\(long)",
            headers: json,
            body: good,
            status: 400,
            reason: "invalid",
            field: "identifier"
        )
        try await refuse("PUT", "\(here)/a/b", headers: json, body: good, status: 404, reason: "not-found")
        try await refuse("GET", "/v2/nothing", headers: [], body: nil, status: 404, reason: "not-found")
        try await refuse(
            "PUT",
            "\(here)/a?aplication=x",
            headers: json,
            body: good,
            status: 400,
            reason: "unknown-field",
            field: "aplication"
        )
        try await refuse(
            "DELETE",
            "\(here)/a?state=gone",
            headers: [],
            body: nil,
            status: 400,
            reason: "invalid",
            field: "state"
        )

        // Methods and types.
        try await refuse("POST", "\(here)/a", headers: json, body: good, status: 405, reason: "method-not-allowed")
        try await refuse("PUT", "/v1/events", headers: json, body: good, status: 405, reason: "method-not-allowed")
        try await refuse(
            "PUT",
            "\(here)/a",
            headers: [("content-type", "text/plain")],
            body: good,
            status: 415,
            reason: "unsupported-media-type"
        )
        try await refuse("PUT", "\(here)/a", headers: [], body: good, status: 415, reason: "unsupported-media-type")
        try await refuse(
            "POST",
            "/v1/events",
            headers: [("content-type", "text/csv")],
            body: good,
            status: 415,
            reason: "unsupported-media-type"
        )

        // Bodies.
        func body(
            _ text: String,
            _ reason: String,
            _ field: String? = nil,
            at location: SourceLocation = #_sourceLocation
        ) async throws {
            try await refuse(
                "PUT",
                "\(here)/a",
                headers: json,
                body: Data(text.utf8),
                status: 400,
                reason: reason,
                field: field,
                at: location
            )
        }
        try await body(#"{"content":"#, "invalid")
        try await body("", "invalid")
        try await body("null", "invalid")
        try await body("[]", "invalid")
        try await body("{}", "invalid", "content")
        try await body(#"{"content":{"title":1}}"#, "invalid", "content.title")
        try await body(#"{"content":{"title":"T","colour":"red"}}"#, "unknown-field", "content.colour")
        try await body(#"{"requestId":"mine","content":{"title":"T"}}"#, "unknown-field", "requestId")
        try await body(#"{"content":{"title":"T"},"trigger":{"type":"moon"}}"#, "unknown-trigger", "trigger.type")
        try await body(
            #"{"content":{"title":"T"},"trigger":{"type":"timeInterval","timeInterval":59,"repeats":true}}"#,
            "invalid",
            "trigger.timeInterval"
        )
        try await body(
            #"{"content":{"title":"T"},"trigger":{"type":"timeInterval","timeInterval":0}}"#,
            "invalid",
            "trigger.timeInterval"
        )
        try await body(#"{"content":{"title":"T"},"expiration":"2020-01-01T00:00:00.000Z"}"#, "invalid", "expiration")
        try await body(#"{"content":{"title":"T","badge":1e999}}"#, "invalid", "content.badge")
        try await body(#"{"version":99999999999999999999,"content":{"title":"T"}}"#, "invalid", "version")
        try await body(String(repeating: "[", count: 100_000), "invalid")
        let bad = Data(#"{"content":{"title":""#.utf8) + Data([0xFF]) + Data(#""}}"#.utf8)
        try await refuse("PUT", "\(here)/a", headers: json, body: bad, status: 400, reason: "not-utf8")
        let large = Data(#"{"content":{"body":""#.utf8) + Data(repeating: 0x78, count: 5_000_000) + Data(#""}}"#.utf8)
        try await refuse("PUT", "\(here)/a", headers: json, body: large, status: 413, reason: "too-large")
        try await refuse(
            "POST",
            "/v1/events",
            headers: [("content-type", "application/cloudevents+json")],
            body: large,
            status: 413,
            reason: "too-large"
        )
        try await body(
            #"{"content":{"title":"T"},"trigger":{"type":"location","region":{"latitude":91,"longitude":1,"radius":1},"notifyOnEntry":true}}"#,
            "invalid",
            "trigger.region.latitude"
        )
        try await body(#"{"content":{"title":"T"},"channel":"pigeon"}"#, "invalid", "channel")
        for (components, zone, field) in [
            (#"{"month":9,"hour":23}"#, "America/New_York", "dateComponents.day"),
            (#"{"year":2100,"month":2,"day":29}"#, "America/New_York", "dateComponents.day"),
            (#"{"year":2020,"month":2,"day":29}"#, "America/New_York", "dateComponents"),
            (#"{"hour":9}"#, "Asia/Beijing", "timeZone"),
        ] {
            let trigger = #"{"type":"calendar","dateComponents":\#(components),"timeZone":"\#(zone)"}"#
            try await body(#"{"content":{"title":"T"},"trigger":\#(trigger)}"#, "invalid", "trigger.\(field)")
        }

        // Events.
        let attributes = [("ce-specversion", "1.0"), ("ce-type", "com.example.test.now"), ("ce-source", "/tests")]
        try await refuse(
            "POST",
            "/v1/events",
            headers: json + attributes,
            body: good,
            status: 400,
            reason: "invalid",
            field: "id"
        )
        let structured = [("content-type", "application/cloudevents+json")]
        try await refuse(
            "POST",
            "/v1/events",
            headers: structured,
            body: Data(#"{"specversion":"1.0""#.utf8),
            status: 400,
            reason: "invalid"
        )
        try await refuse("POST", "/v1/events", headers: structured, body: Data(), status: 400, reason: "invalid")

        #expect(stack.producer.child.pid == process)
        #expect(stack.producer.child.isRunning)
        #expect(try await stack.producer.health("ready").status == 200)
        try await stack.put(own, "after")
        _ = try await stack.event("delivered", own, "after")
        #expect(!stack.requests.records.contains { $0.key?.contains(own) == true && $0["identifier"] != "after" })
    }

    @Test("bytes that are no HTTP do not disturb the service")
    func brokenHTTP() async throws {
        let stack = try Stack.shared()
        let own = stack.recipient()
        let port = "\(try await stack.producer.port("HTTP API listens"))"
        let head =
            "PUT /v1/recipients/\(own)/notifications/cut HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        let inputs = [
            Data("\u{16}\u{03}\u{01}\u{02}\u{00}".utf8), Data("GET\r\n\r\n".utf8), Data(repeating: 0, count: 70_000),
            Data("PUT / HTTP/1.1\r\ncontent-length: -1\r\n\r\n".utf8),
            Data("PUT / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".utf8),
            Data("\(head)x: \(String(repeating: "y", count: 200_000))\r\n\r\n".utf8),
            // Whole JSON, and less of it than was announced.
            Data("\(head)content-length: 100\r\n\r\n{\"content\":{\"title\":\"Cut\"}}".utf8),
            Data(head.utf8) + Data([0xFF, 0xFE, 0x0D, 0x0A, 0x0D, 0x0A]),
        ]
        for input in inputs {
            let answer = try await ChildProcess.run(try Tools.python(), [Tools.client("raw.py"), port], input: input)
            #expect(!answer.outputText.hasPrefix("HTTP/1.1 2"), "\(answer.outputText)")
        }
        #expect(try await stack.producer.health("live").status == 200)
        try await stack.put(own, "after")
        _ = try await stack.event("delivered", own, "after")
        #expect(stack.all(own).count == 1, "half a body is no request")
    }

    @Test("a posted notification that is repeated with its key is one delivery; several are cancelled by one call")
    func collection() async throws {
        let stack = try Stack.shared()
        let own = stack.recipient("post")
        let url = "\(try await stack.producer.http)/v1/recipients/\(own)/notifications"
        let headers = [("content-type", "application/json"), ("idempotency-key", "\"\(own)\"")]
        var answers: [HTTPAnswer] = []
        for _ in 0..<2 {
            answers.append(
                try await Curl.send("POST", url, headers: headers, body: Data(#"{"content":{"title":"Once"}}"#.utf8))
            )
        }
        for answer in answers {
            #expect(answer.status == 202, "\(answer.text)")
            #expect(answer["requestId"] == answers[0]["requestId"])
            #expect(answer["identifier"] == answers[0]["identifier"])
        }
        let identifier = try #require(answers[0]["identifier"])
        #expect(answers[0].headers["location"] == "/v1/recipients/\(own)/notifications/\(identifier)")
        _ = try await stack.event("delivered", own, identifier)

        for name in ["a", "b", "c"] {
            try await stack.put(own, name, Self.hour)
            _ = try await stack.event("scheduled", own, name)
        }
        let removed = try await Curl.send("DELETE", "\(url)?state=pending&identifier=a&identifier=c&identifier=a")
        #expect(removed.status == 202, "\(removed.text)")
        for name in ["a", "c"] { _ = try await stack.event("cancelled", own, name) }
        #expect(try await Curl.send("DELETE", "\(url)?state=pending").status == 202)
        _ = try await stack.event("cancelled", own, "b")
        #expect(stack.all(own).count { $0.name == "delivered" } == 1, "the repeat was delivered too")
    }
}
