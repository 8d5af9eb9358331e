import HTTPTesting
import NotificationModel
import Testing

@testable import NotificationProducer

/// Bad input over the network; one service answers all of it, so each case also shows that the one before broke
/// nothing.
@Suite("PUT and DELETE with bad input")
struct NotificationInputTests {
    struct Case: Sendable, CustomStringConvertible {
        var target = "/v1/recipients/user-42/notifications/order-1001"
        var body: [UInt8] = Array(#"{"content":{"body":"x"}}"#.utf8)
        var status: Int
        var reason: String
        var field: String?

        var description: String { "\(target.prefix(80)) \(String(decoding: body.prefix(80), as: UTF8.self))" }

        static func body(_ text: String, _ reason: String, _ field: String? = nil, status: Int = 400) -> Case {
            Case(body: Array(text.utf8), status: status, reason: reason, field: field)
        }

        static func calendar(_ components: String, zone: String? = "Asia/Shanghai", _ field: String) -> Case {
            let zone = zone.map { ",\"timeZone\":\"\($0)\"" } ?? ""
            let trigger = "{\"type\":\"calendar\",\"dateComponents\":\(components)\(zone)}"
            return .body("{\(NotificationInputTests.content),\"trigger\":\(trigger)}", "invalid", field)
        }

        static func target(_ target: String, _ reason: String, _ field: String?, status: Int = 400) -> Case {
            Case(target: target, status: status, reason: reason, field: field)
        }

        static func identifier(_ identifier: String, _ reason: String = "invalid") -> Case {
            Case(
                target: "/v1/recipients/u/notifications/" + identifier,
                status: 400,
                reason: reason,
                field: "identifier"
            )
        }
    }

    private static let content = #""content":{"body":"x"}"#

    static let bodies: [Case] = [
        .body("", "invalid"),
        .body("{", "invalid"),
        .body(#"{"content":{"body":"x"}"#, "invalid"),
        .body(#"{"content":{"body":"x"}}}"#, "invalid"),
        .body(#"{"content":{"body":"x",}}"#, "invalid"),
        .body(#"{'content':{}}"#, "invalid"),
        .body("null", "invalid"),
        .body("[]", "invalid"),
        .body("{}", "invalid", "content"),
        .body(#"{"content":null}"#, "invalid", "content"),
        .body(#"{"content":{}}"#, "invalid", "content"),
        .body(#"{"content":"x"}"#, "invalid", "content"),
        .body(#"{"content":{"title":5}}"#, "invalid", "content.title"),
        .body(#"{"content":{"title":"a","title":"b"}}"#, "invalid", "content.title"),
        .body(#"{"content":{"body":"x","badge":"3"}}"#, "invalid", "content.badge"),
        .body(#"{"content":{"body":"x","badge":-1}}"#, "invalid", "content.badge"),
        .body(#"{"content":{"body":"x","badge":1e400}}"#, "invalid", "content.badge"),
        .body(#"{"content":{"body":"x","badge":99999999999999999999}}"#, "invalid", "content.badge"),
        .body(#"{"content":{"body":"x","relevanceScore":1.5}}"#, "invalid", "content.relevanceScore"),
        .body(#"{"content":{"body":"x","interruptionLevel":"loud"}}"#, "invalid", "content.interruptionLevel"),
        .body(#"{"content":{"body":"x","threadIdentifier":"a\nb"}}"#, "invalid", "content.threadIdentifier"),
        .body(#"{"content":{"body":"x","threadIdentifier":"\u009f"}}"#, "invalid", "content.threadIdentifier"),
        .body(#"{"content":{"body":"x","categoryIdentifier":"a\u007f"}}"#, "invalid", "content.categoryIdentifier"),
        .body(#"{"content":{"body":"x","titel":"y"}}"#, "unknown-field", "content.titel"),
        .body(#"{"content":{"badge":1,"mutableContent":true}}"#, "invalid", "content.mutableContent"),
        .body(#"{"content":{"body":"x","userInfo":{"aps":{}}}}"#, "invalid", "content.userInfo.aps"),
        .body(
            #"{"content":{"body":"x","sound":{"critical":true},"interruptionLevel":"passive"}}"#,
            "invalid",
            "content.sound.critical"
        ),
        .body("{\(content),\"contents\":1}", "unknown-field", "contents"),
        .body("{\(content),\"requestId\":\"7\"}", "unknown-field", "requestId"),
        .body("{\(content),\"application\":\"shop\"}", "unknown-field", "application"),
        .body("{\(content),\"recipient\":\"user-42\"}", "unknown-field", "recipient"),
        .body("{\(content),\"identifier\":\"order-1001\"}", "unknown-field", "identifier"),
        .body("{\"remove\":\"all\"}", "unknown-field", "remove"),
        .body("{\(content),\"version\":-1}", "invalid", "version"),
        .body("{\(content),\"version\":1.5}", "invalid", "version"),
        .body("{\(content),\"collapseWindow\":-1}", "invalid", "collapseWindow"),
        .body("{\(content),\"trigger\":{}}", "invalid", "trigger.type"),
        .body("{\(content),\"trigger\":{\"type\":\"sometimes\"}}", "unknown-trigger", "trigger.type"),
        .body("{\(content),\"trigger\":{\"type\":\"timeInterval\"}}", "invalid", "trigger.timeInterval"),
        .body(
            "{\(content),\"trigger\":{\"type\":\"timeInterval\",\"timeInterval\":0}}",
            "invalid",
            "trigger.timeInterval"
        ),
        .body(
            "{\(content),\"trigger\":{\"type\":\"timeInterval\",\"timeInterval\":1e308}}",
            "invalid",
            "trigger.timeInterval"
        ),
        .body(
            "{\(content),\"trigger\":{\"type\":\"timeInterval\",\"timeInterval\":59.999,\"repeats\":true}}",
            "invalid",
            "trigger.timeInterval"
        ),
        .body("{\(content),\"expiration\":\"2020-01-01T00:00:00.000Z\"}", "invalid", "expiration"),
        .body("{\(content),\"expiration\":\"tomorrow\"}", "invalid", "expiration"),
        .body(
            "{\(content),\"quietHours\":{\"start\":\"22:00\",\"end\":\"07:00\",\"timeZone\":\"Asia/Beijing\"}}",
            "invalid",
            "quietHours.timeZone"
        ),
        .body("{\(content),\"cap\":{\"count\":0,\"period\":60}}", "invalid", "cap.count"),
        .body("{\(content),\"digest\":{\"by\":\"thread\",\"window\":60}}", "invalid", "digest.by"),
        .calendar("{\"month\":9,\"hour\":9}", "trigger.dateComponents.day"),
        .calendar("{\"year\":2100,\"month\":2,\"day\":29}", "trigger.dateComponents.day"),
        .calendar("{\"year\":2020,\"month\":2,\"day\":29}", "trigger.dateComponents"),
        .calendar("{\"year\":2020,\"month\":2,\"day\":29}", zone: nil, "trigger.dateComponents"),
        .calendar("{\"hour\":9}", zone: "Asia/Beijing", "trigger.timeZone"),
        .body(
            "{\(content),\"trigger\":{\"type\":\"location\",\"region\":{\"latitude\":31.2,\"longitude\":121.4,\"radius\":0},"
                + "\"notifyOnEntry\":true,\"notifyOnExit\":false}}",
            "invalid",
            "trigger.region.radius"
        ),
        .body(
            #"{"content":{"userInfo":"# + String(repeating: "[", count: 100_000) + "}}",
            "invalid",
            "content.userInfo"
        ),
        .body(#"{"content":{"body":"x","userInfo":{"a":"# + nested(40) + "}}}", "invalid", "content.userInfo"),
        Case(
            body: Array(#"{"content":{"body":""#.utf8) + [0xFF, 0xFE] + Array(#""}}"#.utf8),
            status: 400,
            reason: "not-utf8"
        ),
        Case(
            body: Array(#"{"content":{"body":""#.utf8) + [0xED, 0xA0, 0x80] + Array(#""}}"#.utf8),
            status: 400,
            reason: "not-utf8"
        ),
        Case(body: [0xFF, 0xFE, 0x7B, 0x00], status: 400, reason: "not-utf8"),
        .body("{\"content\":{\"body\":\"a\nb\"}}", "invalid"),
        .body("{\"content\":{\"body\":\"a\u{0}b\"}}", "invalid"),
    ]

    static let targets: [Case] = [
        .identifier(""), .identifier("%00"), .identifier("a%00b"), .identifier("%0A"), .identifier("%1F"),
        .identifier("%7F"), .identifier("%"),
        .identifier("%2"), .identifier("%GG"), .identifier("%ff", "not-utf8"),
        .identifier(String(repeating: "a", count: 257)),
        .identifier(String(repeating: "%2F", count: 257)), .identifier(String(repeating: "a", count: 20_000)),
        .target("/v1/recipients//notifications/i", "invalid", "recipient"),
        .target("/v1/recipients/%00/notifications/i", "invalid", "recipient"),
        .target("/v1/recipients/\(String(repeating: "r", count: 257))/notifications/i", "invalid", "recipient"),
        .target("/v1/recipients/u/notifications/i?application=", "invalid", "application"),
        .target("/v1/recipients/u/notifications/i?application=%0a", "invalid", "application"),
        .target("/v1/recipients/u/notifications/i?application=a&application=b", "invalid", "application"),
        .target("/v1/recipients/u/notifications/i?aplication=a", "unknown-field", "aplication"),
        .target("/v1/recipients/u/notifications/a/b", "not-found", nil, status: 404),
        .target("/v1/recipients/u/notifications/../../../v1/events", "not-found", nil, status: 404),
        .target("/v1/recipients/u%2Fnotifications%2Fi", "not-found", nil, status: 404),
        .target("/v2/recipients/u/notifications/i", "not-found", nil, status: 404),
        .target("//v1/recipients/u/notifications/i", "not-found", nil, status: 404),
        .target("/", "not-found", nil, status: 404),
        .target("http://localhost/v1/recipients/u/notifications/%zz", "invalid", "identifier"),
        .target("http://localhost/v1/recipients/u/notifications/a/b", "not-found", nil, status: 404),
        .target("http://localhost", "not-found", nil, status: 404),
        .target("ftp://localhost/v1/recipients/u/notifications/i", "invalid", "target"),
        .target("http://u@localhost/v1/recipients/u/notifications/i", "invalid", "target"),
    ]

    @Test("Each is refused with its status, reason and field, and the service keeps working")
    func table() async throws {
        try await ProducerHarness.with { harness in
            for entry in Self.bodies + Self.targets {
                let answer = try await harness.http.send(
                    "PUT",
                    entry.target,
                    headers: [("content-type", "application/json")],
                    body: entry.body
                )
                #expect(answer.status == entry.status, "\(entry): \(answer.text)")
                #expect(answer.headers["content-type"] == "application/problem+json", "\(entry)")
                #expect(answer["reason"] == entry.reason, "\(entry): \(answer.text)")
                #expect(answer["field"] == entry.field, "\(entry): \(answer.text)")
                #expect(answer["status"] == "\(entry.status)", "\(entry)")
                #expect(
                    answer["title"] != nil && answer["detail"] != nil && answer["type"] != nil,
                    "\(entry): \(answer.text)"
                )
            }
            for state in ["", "gone", "ALL"] {
                let answer = try await harness.http.send("DELETE", "/v1/recipients/u/notifications/i?state=\(state)")
                #expect(answer.status == 400)
                #expect(answer["field"] == "state")
            }
            let good = try await harness.http.put(
                "/v1/recipients/user-42/notifications/order-1001",
                #"{"content":{"body":"x"}}"#
            )
            #expect(good.status == 202, "\(good.text)")
        }
    }

    @Test("A body above the limit is refused, whether its length is announced or not")
    func size() async throws {
        try await ProducerHarness.with { harness in
            let big = Array(repeating: UInt8(ascii: " "), count: 5_000_000)
            for target in ["/v1/recipients/u/notifications/i", "/v1/events"] {
                let method = target == "/v1/events" ? "POST" : "PUT"
                let type = target == "/v1/events" ? "application/cloudevents+json" : "application/json"
                let answer = try await harness.http.send(method, target, headers: [("content-type", type)], body: big)
                #expect(answer.status == 413)
                #expect(answer["reason"] == "too-large")
                let head =
                    "\(method) \(target) HTTP/1.1\r\nhost: localhost\r\ncontent-type: \(type)\r\ntransfer-encoding: chunked\r\n\r\n"
                var chunked = Array(head.utf8)
                for _ in 0..<50 { chunked += Array("186A0\r\n".utf8) + big.prefix(100_000) + Array("\r\n".utf8) }
                let second = try await harness.http.exchange(chunked + Array("0\r\n\r\n".utf8))
                #expect(second.status == 413)
                #expect(second["reason"] == "too-large")
            }
        }
    }

    @Test("Unsupported methods, media types and resources get different answers")
    func resources() async throws {
        try await ProducerHarness.with { harness in
            let notification = "/v1/recipients/u/notifications/i"
            for method in ["GET", "HEAD", "POST", "PATCH", "OPTIONS"] {
                let answer = try await harness.http.send(method, notification, body: method == "GET" ? nil : [])
                #expect(answer.status == 405)
                #expect(answer.headers["allow"] == "PUT, DELETE")
            }
            let events = try await harness.http.send("GET", "/v1/events")
            #expect(events.status == 405)
            #expect(events.headers["allow"] == "POST")
            for type in [nil, "text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"] {
                let headers = type.map { [("content-type", $0)] } ?? []
                let answer = try await harness.http.send("PUT", notification, headers: headers, body: Array("{}".utf8))
                #expect(answer.status == 415, "\(type ?? "none"): \(answer.text)")
            }
            for type in ["application/json", "Application/JSON; charset=utf-8", "application/merge-patch+json"] {
                let body = Array(#"{"content":{"body":"x"}}"#.utf8)
                let answer = try await harness.http.send(
                    "PUT",
                    notification,
                    headers: [("content-type", type)],
                    body: body
                )
                #expect(answer.status == 202, "\(type): \(answer.text)")
            }
        }
    }

    @Test(
        "Input that is not HTTP is answered or dropped, and the service keeps working",
        arguments: [
            "GARBAGE\r\n\r\n", "PUT /v1/recipients/u/notifications/\u{1} HTTP/1.1\r\nhost: x\r\n\r\n",
            "\u{0}\u{0}\u{0}\u{0}\r\n\r\n",
            "PUT /v1/recipients/u/notifications/i HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
            "PUT /v1/recipients/u/notifications/i HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n",
        ]
    )
    func notHTTP(text: String) async throws {
        try await ProducerHarness.with { harness in
            if let answer = try? await harness.http.exchange(Array(text.utf8)) {
                #expect((400..<500).contains(answer.status))
            }
            let good = try await harness.http.put("/v1/recipients/u/notifications/i", #"{"content":{"body":"x"}}"#)
            #expect(good.status == 202)
        }
    }

    static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
}
