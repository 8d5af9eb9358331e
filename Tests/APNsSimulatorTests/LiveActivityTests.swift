import NotificationModel
import Testing

@testable import APNsSimulator

/// Live Activities, and broadcasts over channels.
struct LiveActivityTests {
    private static let topic = "\(Desk.topic).push-type.liveactivity"
    private static let starter = String(repeating: "0a", count: 32)

    private static func payload(_ event: String, _ timestamp: Int, _ members: String = #","content-state":{"goals":1}"#)
        -> String
    {
        #"{"aps":{"event":"\#(event)","timestamp":\#(timestamp)\#(members)}}"#
    }

    private static func start(_ channel: String? = nil) -> String {
        let channel = channel.map { #","input-push-channel":"\#($0)""# } ?? ""
        return payload(
            "start",
            1,
            #","attributes-type":"Match","attributes":{"id":7},"content-state":{"goals":0},"alert":{"title":"On"}\#(channel)"#
        )
    }

    private struct Activities {
        var desk: Desk

        init() throws {
            desk = try Desk()
            try desk.register(starter, topic: topic)
        }

        mutating func said(_ token: String, _ payload: String) -> String {
            desk.said(to: token, payload) { ($0.topic, $0.pushType) = (topic, "liveactivity") }
        }

        var only: LiveActivity? { desk.phone?.activities.first }
    }

    @Test func `an activity starts by a push, changes and ends, and its token then is dead without a word`() throws {
        var match = try Activities()
        #expect(match.said(Self.starter, Self.start()) == "200")
        let token = try #require(match.only?.token)
        #expect(match.only?.attributesType == "Match")
        #expect(match.said(token, Self.payload("update", 3)) == "200")
        #expect(match.only?.contentState.map { String(decoding: $0, as: UTF8.self) } == #"{"goals":1}"#)
        // The newest wins.
        #expect(match.said(token, Self.payload("update", 2, #","content-state":{"goals":0}"#)) == "200")
        #expect(match.desk.lastEffect == .ignored("older than what the activity shows"))
        #expect(match.only?.timestamp == 3)
        #expect(match.said(token, Self.payload("end", 4, #","dismissal-date":9"#)) == "200")
        #expect(match.only?.hasEnded == true)
        #expect(match.only?.dismissalDate == 9)
        #expect(match.said(token, Self.payload("update", 5)) == "200")
        #expect(match.desk.lastEffect == .ignored("the activity has ended"))
        _ = match.desk.state.devices.end(token, of: "phone", toldAfter: 0, at: match.desk.now)
        #expect(match.said(token, Self.payload("update", 6)) == "200")
        #expect(match.only?.timestamp == 4)
    }

    @Test(arguments: [
        payload("start", 1, ""), payload("start", 1, #","attributes-type":"Match","attributes":{},"content-state":{}"#),
        payload("update", 1), payload("pause", 1), #"{"aps":{"event":"start"}}"#,
    ])
    func `what cannot start one is accepted and then ignored`(_ payload: String) throws {
        var match = try Activities()
        #expect(match.said(Self.starter, payload) == "200")
        guard case .ignored? = match.desk.lastEffect else {
            Issue.record("\(String(describing: match.desk.lastEffect))")
            return
        }
        #expect(match.only == nil)
    }

    @Test func `updates that need not be shown at once do not count for the rate`() throws {
        var match = try Activities()
        let token = String(repeating: "0b", count: 32)
        try match.desk.register(token, topic: Self.topic, activity: "match")
        match.desk.state.devices.rate = try .init(pushes: 1, seconds: 60)
        func said(_ priority: String) -> String {
            match.desk.said(to: token, Self.payload("update", 1)) {
                ($0.topic, $0.pushType, $0.priority) = (Self.topic, "liveactivity", priority)
            }
        }
        #expect([said("10"), said("10"), said("5")] == ["200", "TooManyRequests", "200"])
    }

    // MARK: Broadcasts

    private struct Broadcasts {
        var desk: Desk

        init() throws { desk = try Desk() }

        mutating func manage(_ method: String, _ path: String = "channels", channel: String? = nil, body: String = "")
            -> Answer?
        {
            desk.push(body) {
                ($0.method, $0.path, $0.channelID) = (method, "/1/apps/\(Desk.topic)/\(path)", channel)
                $0.topic = nil
            }
        }

        mutating func create(_ policy: Int) throws -> String {
            let answer = manage("POST", body: #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
            return try #require(answer?.channelID)
        }

        mutating func broadcast(_ channel: String?, _ payload: String, expiration: String? = "0") -> Answer? {
            desk.push(payload) {
                ($0.path, $0.channelID, $0.topic) = ("/4/broadcasts/apps/\(Desk.topic)", channel, nil)
                ($0.pushType, $0.expiration) = ("liveactivity", expiration)
            }
        }
    }

    @Test func `a channel is made, read, listed and deleted`() throws {
        var app = try Broadcasts()
        let id = try app.create(1)
        let read = app.manage("GET", channel: id)
        #expect(
            read?.json.map { String(decoding: $0, as: UTF8.self) }
                == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        )
        let list = app.manage("GET", "all-channels")
        #expect(
            list?.json.map { String(decoding: $0, as: UTF8.self) }
                == #"{"channels":["\#(id)"]}"#
        )
        #expect(app.manage("DELETE", channel: id)?.status == 204)
        #expect(app.manage("GET", channel: id)?.reason == "ChannelNotRegistered")
    }

    @Test func `wrong channels have their reasons`() throws {
        var app = try Broadcasts()
        #expect(app.manage("GET")?.reason == "MissingChannelId")
        #expect(app.manage("GET", channel: "not base64!")?.reason == "BadChannelId")
        #expect(app.manage("GET", channel: "AAAA")?.reason == "ChannelNotRegistered")
        #expect(app.manage("POST", body: "{}")?.reason == "MissingPushType")
        #expect(app.manage("POST", body: #"{"push-type":"Alert"}"#)?.reason == "InvalidPushType")
    }

    @Test func `one push reaches every activity that gets the channel's broadcasts`() throws {
        var app = try Broadcasts()
        let id = try app.create(1)
        let other = try app.create(1)
        for (phone, channel) in [("one", id), ("two", id), ("three", other)] {
            let token = DeviceRegistry.token(using: &app.desk.state.generator)
            try app.desk.register(token, topic: Self.topic, device: phone)
            _ = app.desk.push(to: token, Self.start(channel)) { ($0.topic, $0.pushType) = (Self.topic, "liveactivity") }
        }
        #expect(app.broadcast(id, Self.payload("update", 2))?.status == 200)
        let times = ["one", "two", "three"].map { app.desk.state.devices.devices[$0]?.activities.first?.timestamp }
        #expect(times == [2, 2, 1])
    }

    @Test func `a channel that stores nothing requires the expiration 0`() throws {
        var app = try Broadcasts()
        let id = try app.create(0)
        #expect(app.broadcast(id, Self.payload("update", 2), expiration: nil)?.reason == "BadExpirationDate")
        #expect(app.broadcast(id, Self.payload("update", 2))?.status == 200)
        #expect(app.broadcast(nil, Self.payload("update", 2))?.reason == "MissingChannelId")
    }

    @Test func `a broadcast may have 5,120 bytes`() throws {
        var app = try Broadcasts()
        let id = try app.create(1)
        let frame = Self.payload("update", 2, #","content-state":{"text":""}"#)
        for (bytes, status) in [(5_120, 200), (5_121, 413)] {
            let text = String(repeating: "a", count: bytes - frame.utf8.count)
            #expect(
                app.broadcast(id, Self.payload("update", 2, #","content-state":{"text":"\#(text)"}"#))?.status == status
            )
        }
    }
}
