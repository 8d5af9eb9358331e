import NotificationModel
import PushSimulation
import ServiceHTTP
import Testing

@testable import WebPushSimulator

/// What the push service answers to browsers and senders, as values.
@Suite("The push service, as a value") struct PushServiceTests {
    /// A push service with a browser.
    private final class Desk {
        static let audience = "https://127.0.0.1:1"
        var state = PushServiceState(seed: 1)
        var now = Timestamp(rawValue: 1_795_000_000_000)
        var uaid: String?
        let key: P256PrivateKey

        init() throws { key = try P256PrivateKey.generate() }

        /// The public key, as a point.
        func point(of key: P256PrivateKey) throws -> [UInt8] { Array(try key.publicKeyDER().suffix(65)) }

        func say(_ json: String, on connection: Int = 1) -> [String] {
            guard let message = BrowserMessage(Array(json.utf8)) else { return ["?"] }
            return state.receive(message, on: connection, &uaid, at: now) { "\(Desk.audience)/push/\($0)" }
                .map { String(decoding: $0.json, as: UTF8.self) }
        }

        /// Says hello, and subscribes.
        ///
        /// - Returns: the last part of the endpoint.
        func subscribe(_ channel: String = "c", withKey: Bool = false) throws -> String {
            _ = say(#"{"messageType":"hello","use_webpush":true}"#)
            // As Firefox writes it.
            let key = withKey ? #","key":"\#(Base64URL.encode(try point(of: key)))=""# : ""
            let answer = try #require(say(#"{"messageType":"register","channelID":"\#(channel)"\#(key)}"#).first)
            let endpoint = try #require(JSONValue.parse(Array(answer.utf8))["pushEndpoint"]?.stringValue)
            return String(endpoint.dropFirst("\(Self.audience)/push/".count))
        }

        func authorization(
            _ key: P256PrivateKey,
            aud: String = audience,
            exp: Int64 = 1_795_003_600,
            sub: String = "mailto:a@example.com"
        ) throws -> String {
            let head = Base64URL.encode(Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8))
            let claims = Base64URL.encode(Array(#"{"aud":"\#(aud)","exp":\#(exp),"sub":"\#(sub)"}"#.utf8))
            let signature = Base64URL.encode(try key.signature(of: Array("\(head).\(claims)".utf8)))
            return "vapid t=\(head).\(claims).\(signature), k=\(Base64URL.encode(try point(of: key)))"
        }

        /// The id of the message, or the number of the refusal.
        func push(
            _ name: String,
            ttl: String? = "60",
            topic: String? = nil,
            bytes: Int = 10,
            encoding: String? = "aes128gcm",
            authorization: String? = nil
        ) -> Result<String, PushRefusal> {
            let push = SentPush(
                timeToLive: ttl,
                topic: topic,
                urgency: nil,
                contentEncoding: encoding,
                authorization: authorization,
                body: Array(repeating: 7, count: bytes)
            )
            return Result { () throws(PushRefusal) in
                try state.push(push, to: name, audience: Self.audience, at: now).id
            }
        }

        var waiting: Int { uaid.flatMap { state.browsers[$0]?.waiting.count } ?? 0 }
    }

    private static func number(_ result: Result<String, PushRefusal>) -> Int? {
        if case .failure(let refusal) = result { refusal.number } else { nil }
    }

    @Test func `a browser says hello, subscribes, gets a message, acknowledges it and unsubscribes`() throws {
        let desk = try Desk()
        #expect(desk.say("{}") == ["{}"])
        #expect(desk.say(#"{"messageType":"register","channelID":"early"}"#) == [])
        let name = try desk.subscribe()
        let id = try desk.push(name).get()
        #expect(desk.waiting == 1)
        #expect(desk.say(#"{"messageType":"ack","updates":[{"channelID":"c","version":"\#(id)","code":100}]}"#) == [])
        #expect(desk.waiting == 0 && desk.state.statistics.unreadable == 0)
        let left = desk.say(#"{"messageType":"unregister","channelID":"c","code":200}"#)
        #expect(left == [#"{"messageType":"unregister","channelID":"c","status":200}"#])
        #expect(Self.number(desk.push(name)) == 106)
        #expect(Self.number(desk.push("never")) == 102)
    }

    @Test func `what a browser cannot read is known here, and not by the sender`() throws {
        let desk = try Desk()
        let id = try desk.push(try desk.subscribe()).get()
        _ = desk.say(#"{"messageType":"ack","updates":[{"channelID":"c","version":"\#(id)","code":101}]}"#)
        #expect(desk.state.statistics.unreadable == 1 && desk.state.statistics.accepted == 1)
    }

    @Test
    func `a message waits for its time, a newer one of its topic takes its place, and its sender may take it back`()
        throws
    {
        let desk = try Desk()
        let name = try desk.subscribe()
        desk.state.disconnected(1, desk.uaid)
        _ = try desk.push(name, ttl: "0").get()
        #expect(desk.waiting == 0)
        _ = try desk.push(name, topic: "t").get()
        let newer = try desk.push(name, topic: "t").get()
        let other = try desk.push(name, ttl: "3600").get()
        #expect(desk.waiting == 2)
        let deletions = (0..<2).map { _ in desk.state.delete(other) }
        #expect(deletions == [true, false])
        let uaid = try #require(desk.uaid)
        let hello = #"{"messageType":"hello","uaid":"\#(uaid)"}"#
        let back = desk.say(hello, on: 2)
        #expect(back.count == 2 && back[1].contains(newer))
        desk.now = Timestamp(rawValue: desk.now.rawValue + 60_000)
        #expect(desk.say(hello, on: 3).count == 1)
        #expect(desk.say(#"{"messageType":"hello","uaid":"nobody"}"#)[0].contains(#""status":200"#))
        #expect(desk.uaid != uaid)
    }

    @Test func `a message is checked as RFC 8030 and Mozilla's service do`() throws {
        let desk = try Desk()
        let name = try desk.subscribe()
        #expect(Self.number(desk.push(name, ttl: nil)) == 111)
        #expect(Self.number(desk.push(name, ttl: "-1")) == 111)
        #expect(Self.number(desk.push(name, topic: String(repeating: "a", count: 33))) == 113)
        #expect(Self.number(desk.push(name, topic: "a b")) == 113)
        #expect(Self.number(desk.push(name, bytes: 4_097)) == 104)
        #expect(Self.number(desk.push(name, encoding: "aesgcm")) == 110)
        #expect(Self.number(desk.push(name, bytes: 4_096)) == nil)
        #expect(Self.number(desk.push(name, bytes: 0, encoding: nil)) == nil)
        for _ in desk.waiting..<PushServiceState.mostWaiting { _ = try desk.push(name).get() }
        #expect(Self.number(desk.push(name)) == 201)
    }

    @Test func `a subscription with a key takes messages of this key only, with a token that holds`() throws {
        let desk = try Desk()
        let name = try desk.subscribe(withKey: true)
        let (own, other) = (desk.key, try P256PrivateKey.generate())
        #expect(Self.number(desk.push(name)) == 109)
        #expect(Self.number(desk.push(name, authorization: try desk.authorization(own))) == nil)
        let wrong = [
            try desk.authorization(other), try desk.authorization(own, aud: "https://other.example"),
            try desk.authorization(own, exp: 1_795_000_000), try desk.authorization(own, exp: 1_795_090_000),
            try desk.authorization(own, sub: "someone"), String(try desk.authorization(own).dropLast(4)), "vapid",
            "Bearer x",
        ]
        for field in wrong { #expect(Self.number(desk.push(name, authorization: field)) == 109, "\(field)") }
    }

    @Test(arguments: [
        "", "x", "[]", #"{"messageType":"register"}"#, #"{"a":1}"#,
        #"{"messageType":"register","channelID":"c","key":"="}"#,
    ])
    func `what is no message ends the connection or is nothing`(_ text: String) throws {
        let message = BrowserMessage(Array(text.utf8))
        if case .other? = message { return }
        #expect(message == nil)
    }
}
