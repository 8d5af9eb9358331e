import Foundation
import NIOCore
import NIOHTTP1
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import Testing

@testable import NotificationChannels
@testable import NotificationConsumer

struct WebhookRequestTests {
    private static let now = Timestamp(rawValue: 1_614_265_330_123)

    private func requests(_ keys: [String] = [WebhookBench.key], source: String = "/carillon/test") throws
        -> WebhookRequests
    {
        try WebhookRequests(
            to: EgressPolicy.inside("https://hooks.example.com/in").check("https://hooks.example.com/in"),
            channel: "webhook",
            source: source,
            signer: RequestSigner(keys: SigningKeyFile.keys(in: keys.joined(separator: "\n"), of: "keys"))
        )
    }

    /// The CloudEvent.
    private func event(_ request: WebhookRequest) throws -> JSONValue {
        try JSONValue.parse(Array(request.body.readableBytesView))
    }

    @Test func `the event is in the body, so that the signature covers all of it`() throws {
        let requests = try requests(source: "/carillon/münchen 1")
        var send = try send("order-1", occurrence: Timestamp(rawValue: 1_600_000_000_000))
        send.key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "ö")
        send.trace = CarriedTrace(
            traceparent: Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8),
            tracestate: Array("vendor=1".utf8)
        )
        (send.closes, send.expiration) = (false, Timestamp(rawValue: 1_600_000_600_000))
        let request = requests.request(for: send, at: Self.now)
        #expect(request.head.method == .POST && request.head.uri == "/in")
        let id = send.id.description
        #expect(request.head.headers["webhook-id"] == [id])
        #expect(request.head.headers["webhook-timestamp"] == ["1614265330"])
        #expect(request.head.headers["content-type"] == ["application/cloudevents+json"])
        #expect(request.head.headers["traceparent"].count == 1 && request.head.headers["tracestate"] == ["vendor=1"])
        #expect(!request.head.headers.contains { $0.name.hasPrefix("ce-") || $0.name == "idempotency-key" })
        let event = try event(request)
        let texts = [
            "specversion": "1.0", "id": id, "source": "/carillon/münchen 1", "subject": "shop/ana%2F1/%C3%B6",
            "type": "carillon.notification.delivered.v1", "time": "2023-11-14T22:13:20.000Z",
            "sequence": "0-000000000042-1700000000000", "datacontenttype": "application/json",
            "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tracestate": "vendor=1",
        ]
        for (name, text) in texts { #expect(event[name]?.stringValue == text, "\(name)") }
        let data = try #require(event["data"])
        #expect(data["requestId"]?.stringValue == "order-1" && data["closes"]?.boolValue == false)
        #expect(data["application"]?.stringValue == "shop" && data["recipient"]?.stringValue == "ana/1")
        #expect(data["identifier"]?.stringValue == "ö" && data["channel"]?.stringValue == "webhook")
        #expect(data["occurrence"]?.stringValue == "2020-09-13T12:26:40.000Z")
        #expect(data["expiration"]?.stringValue == "2020-09-13T12:36:40.000Z")
        #expect(data["content"]?["title"]?.stringValue == "T" && data["inDoubt"] == nil)
    }

    @Test func `a removal has a type of its own, and its cause, but no content`() throws {
        let requests = try requests()
        var removal = try send("a", kind: .remove)
        removal.cause = try RequestID(text: "cause")
        let event = try event(requests.request(for: removal, at: Self.now))
        #expect(event["type"]?.stringValue == "carillon.notification.removed.v1")
        #expect(event["data"]?["by"]?.stringValue == "cause" && event["data"]?["content"] == nil)
    }

    @Test func `the receiver gets how to reach each device, what it presents, and the actions`() throws {
        let requests = try requests()
        let phone = #"""
            {"device":"phone","platform":"apns","token":"ab12","environment":"production",            "bundleIdentifier":"com.example.shop","outcome":"accepted","presentation":["banner"]}
            """#.replacing("\\\n", with: "")
        for kind in [ChannelSend.Kind.deliver(content: Array("{}".utf8)[...]), .remove] {
            var send = try send("a", kind: kind)
            send.devices = Array("[\(phone)]".utf8)[...]
            send.actions = Array(#"[{"identifier":"track","title":"Track"}]"#.utf8)[...]
            let data = try #require(try event(requests.request(for: send, at: Self.now))["data"])
            #expect(data["devices"]?.arrayValue == [try JSONValue.parse(Array(phone.utf8))])
            let actions = data["actions"]?.arrayValue?.compactMap { $0["identifier"]?.stringValue }
            #expect(actions == (kind == .remove ? nil : ["track"]))
        }
    }

    @Test func `attempts differ in nothing but the doubt and the signature`() throws {
        let requests = try requests()
        let first = try send("a")
        var later = first
        (later.attempt, later.isInDoubt) = (7, true)
        let (one, other) = (
            requests.request(for: first, at: Self.now),
            requests.request(for: later, at: Self.now.adding(milliseconds: 5_000_000))
        )
        #expect(one.head.headers["webhook-id"] == other.head.headers["webhook-id"])
        #expect(one.head.headers["webhook-timestamp"] != other.head.headers["webhook-timestamp"])
        var data = String(decoding: other.body.readableBytesView, as: UTF8.self)
        data.replace(#","inDoubt":true"#, with: "")
        #expect(data == String(decoding: one.body.readableBytesView, as: UTF8.self))
    }

    @Test func `the signature is that of Standard Webhooks`() {
        // The example of the specification's reference libraries.
        let key = Array(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")!)
        let signed = Array(#"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#.utf8)
        let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        #expect(RequestSigner(keys: [key]).signatures(of: signed) == signature)
        let second = [UInt8](repeating: 7, count: 24)
        let both = RequestSigner(keys: [second, key]).signatures(of: signed).split(separator: " ")
        #expect(both.count == 2 && both[1] == signature && both[0].hasPrefix("v1,") && both[0] != both[1])
    }

    @Test func `nothing of a key is printed`() throws {
        let signer = try RequestSigner(keys: SigningKeyFile.keys(in: WebhookBench.key, of: "keys"))
        var dumped = ""
        dump(signer, to: &dumped)
        #expect("\(signer)" == "1 keys" && dumped == "- 1 keys #0\n", "\(dumped)")
    }

    @Test func `a file has one key or two, with comments and empty lines`() throws {
        let other = "whsec_" + Data(repeating: 1, count: 64).base64EncodedString()
        let keys = try SigningKeyFile.keys(in: "# current\n\n  \(WebhookBench.key)  \r\n#old\n\(other)\n", of: "keys")
        #expect(keys.map(\.count) == [24, 64])
    }

    @Test(arguments: [
        ("", "keys has no key"), ("# nothing\n", "keys has no key"), ("secret", "keys:1: a key is whsec_ and Base64"),
        ("\nwhsec_!!!", "keys:2: a key is whsec_ and Base64"),
        ("whsec_c2hvcnQ=", "keys:1: a key has 24 to 64 bytes, this one 5"),
        ("whsec_", "keys:1: a key has 24 to 64 bytes, this one 0"),
        ("\(WebhookBench.key)\n\(WebhookBench.key)", "keys:2: the same key twice"),
    ])
    func `a mistake is named with its line, and without the key`(_ text: String, _ message: String) {
        let error = #expect(throws: SigningKeyError.self) { try SigningKeyFile.keys(in: text, of: "keys") }
        #expect(error?.description == message)
    }

    @Test func `three keys are too many, and a file must exist and be small`() throws {
        let three = (1...3).map { "whsec_" + Data(repeating: $0, count: 24).base64EncodedString() }
        #expect(throws: SigningKeyError.self) {
            try SigningKeyFile.keys(in: three.joined(separator: "\n"), of: "keys")
        }
        let folder = try TestFolder()
        #expect(throws: SigningKeyError.self) { try SigningKeyFile.load(path: folder.path + "/none") }
        let large = try folder.write(String(repeating: "#\n", count: 10_000))
        #expect(throws: SigningKeyError.self) { try SigningKeyFile.load(path: large) }
    }
}
