import Foundation
import NIOCore
import NIOHTTP1
import NotificationDelivery
import NotificationModel
import NotificationState
import ServiceHTTP
import Testing

@testable import NotificationChannels
@testable import NotificationConsumer

struct WebhookRequestTests {
    private static let now = Timestamp(rawValue: 1_614_265_330_123)

    private func requests(_ keys: [String] = [WebhookBench.key], source: String = "/carillon/test") throws
        -> WebhookRequests
    {
        try WebhookRequests(
            url: "https://hooks.example.com/in",
            channel: "webhook",
            source: source,
            signer: RequestSigner(keys: SigningKeyFile.keys(in: keys.joined(separator: "\n"), of: "keys"))
        )
    }

    private func body(_ request: WebhookRequest, of requests: WebhookRequests, _ send: ChannelSend) throws
        -> [String: Any]
    {
        let bytes = requests.event(of: send).json
        #expect(Array(request.body.readableBytesView) == bytes)
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test func `the headers are the attributes of the event, and its id is that of the event on Kafka`() throws {
        let requests = try requests()
        var send = try send("order-1", occurrence: Timestamp(rawValue: 1_600_000_000_000))
        send.trace = CarriedTrace(
            traceparent: Array("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".utf8),
            tracestate: Array("vendor=1".utf8)
        )
        send.closes = false
        let request = requests.request(for: send, at: Self.now)
        #expect(request.head.method == .POST && request.head.uri == "/in")
        var event = DeliveryEvent(name: .delivered, requestID: send.requestID, key: send.key, closes: false)
        event.occurrence = send.id.occurrence
        let id = event.eventID.description
        #expect(request.head.headers["ce-id"] == [id] && request.head.headers["idempotency-key"] == [id])
        #expect(request.head.headers["webhook-id"] == [id])
        #expect(request.head.headers["ce-specversion"] == ["1.0"])
        #expect(request.head.headers["ce-type"] == ["carillon.notification.delivered.v1"])
        #expect(request.head.headers["ce-source"] == ["/carillon/test"])
        #expect(request.head.headers["ce-subject"] == ["shop/ana/order-1"])
        #expect(request.head.headers["ce-time"] == ["2021-02-25T15:02:10.123Z"])
        #expect(request.head.headers["webhook-timestamp"] == ["1614265330"])
        #expect(request.head.headers["content-type"] == ["application/json"])
        #expect(request.head.headers["traceparent"].count == 1 && request.head.headers["tracestate"] == ["vendor=1"])
        let body = try body(request, of: requests, send)
        #expect(body["requestId"] as? String == "order-1" && body["closes"] as? Bool == false)
        #expect(body["application"] as? String == "shop" && body["recipient"] as? String == "ana")
        #expect(body["identifier"] as? String == "order-1" && body["channel"] as? String == "webhook")
        #expect(body["occurrence"] as? String == "2020-09-13T12:26:40.000Z")
        #expect((body["content"] as? [String: Any])?["title"] as? String == "T")
        #expect(body["inDoubt"] == nil)
    }

    @Test func `a recall has a type and an id of its own`() throws {
        let requests = try requests()
        let (deliver, recall) = (try send("a"), try send("a", kind: .recall))
        let request = requests.request(for: recall, at: Self.now)
        #expect(request.head.headers["ce-type"] == ["carillon.notification.removed.v1"])
        #expect(
            request.head.headers["idempotency-key"]
                != requests.request(for: deliver, at: Self.now).head.headers["ce-id"]
        )
        #expect(try body(request, of: requests, recall)["content"] == nil)
    }

    @Test func `recalls of one removal have ids of their own for each notification and its devices`() throws {
        let requests = try requests()
        func id(_ identifier: String, _ devices: [String], attempt: Int = 1) throws -> String? {
            var recall = try send("r", attempt: attempt, kind: .recall)
            recall.key = try NotificationKey(application: "shop", recipient: "ana", identifier: identifier)
            recall.addressees = .init(recalling: devices)
            return requests.request(for: recall, at: Self.now).head.headers["webhook-id"].first
        }
        let ids = try [id("one", ["phone"]), id("two", ["phone"]), id("one", ["tablet"])]
        #expect(Set(ids).count == 3)
        #expect(try id("one", ["phone"], attempt: 2) == ids[0])
    }

    @Test func `the receiver gets the devices with what each presents and the actions, or the devices of a recall`()
        throws
    {
        let requests = try requests()
        let set = #"{"categories":[{"identifier":"ORDER","actions":[{"identifier":"track","title":"Track"}]}]}"#
        var delivery = try send("a")
        delivery.addressees = .init(
            devices: Array(#"[{"device":"phone","outcome":"accepted","presentation":["banner"]}]"#.utf8)[...],
            targets: 1,
            category: try CategorySet(json: Array(set.utf8)).categories[0]
        )
        let delivered = try body(requests.request(for: delivery, at: Self.now), of: requests, delivery)
        #expect((delivered["devices"] as? [[String: Any]])?.first?["presentation"] as? [String] == ["banner"])
        #expect((delivered["actions"] as? [[String: Any]])?.first?["identifier"] as? String == "track")
        var recall = try send("a", kind: .recall)
        recall.addressees = .init(recalling: ["phone", "tablet"])
        let removed = try body(requests.request(for: recall, at: Self.now), of: requests, recall)
        #expect((removed["devices"] as? [[String: String]])?.map { $0["device"] } == ["phone", "tablet"])
    }

    @Test func `the id is the same for every attempt and owner, and another one for another occurrence`() throws {
        let requests = try requests()
        func id(_ send: ChannelSend, _ time: Int64 = 0) -> [String] {
            requests.request(for: send, at: Timestamp(rawValue: time)).head.headers["idempotency-key"]
        }
        let first = try send("a")
        var later = first
        (later.attempt, later.assignmentID, later.isInDoubt) = (7, 99, true)
        #expect(id(first) == id(later, 5_000_000))
        #expect(try id(first) != id(send("b")))
        #expect(try id(first) != id(send("a", occurrence: Timestamp(rawValue: 1))))
    }

    @Test func `attributes that HTTP cannot carry are percent-encoded`() throws {
        let requests = try requests(source: "/carillon/münchen 1")
        var send = try send("a")
        send.key = try NotificationKey(application: "shop", recipient: "ana/1", identifier: "ö")
        let headers = requests.request(for: send, at: Self.now).head.headers
        #expect(headers["ce-source"] == ["/carillon/m%C3%BCnchen%201"])
        // The subject is the key, which has percent signs of its own.
        #expect(headers["ce-subject"] == ["shop/ana%252F1/%25C3%25B6"])
        #expect(WebhookRequests.attribute("a\"%\u{7F}\n") == "a%22%25%7F%0A")
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
