import APNsSimulator
import NotificationDelivery
import NotificationModel
import Testing
import TestSupport

@testable import NotificationChannels

/// Live Activities over the channel `apns`: which push a send becomes, and what a phone shows of it.
@Suite("Live Activities over the channel apns", .timeLimit(.minutes(10)))
struct APNsActivityChannelTests {
    private static let topic = "\(APNsBench.bundle).push-type.liveactivity"
    private static let time: Int64 = 1_795_251_600

    private static func content(_ eta: Int, _ others: String = "", _ activity: String = "") -> String {
        #"""
        {"title":"On its way","body":"15 minutes"\#(others),
         "liveActivity":{"attributesType":"Order","attributes":{"order":"1001"},"contentState":{"eta":\#(eta)}\#(activity)}}
        """#
    }

    private static func send(
        _ content: String?,
        _ kind: TokenKind,
        token: String = APNsBench.token,
        timestamp: Int64 = time,
        dismissal: Timestamp? = nil,
        presentation: String = #"["banner","list","sound"]"#,
        localization: String = ""
    ) throws -> ChannelSend {
        let work: ChannelSend.Kind = content.map { .deliver(content: Array($0.utf8)[...]) } ?? .remove
        var send = try NotificationChannelsTests.send("order", kind: work, channel: .apns)
        send.registration = try DeviceRegistration(platform: "apns", token: token, kind: kind)
        send.activity = .init(timestamp: timestamp, dismissalDate: dismissal)
        let list = #"[{"device":"phone","outcome":"accepted","presentation":\#(presentation)\#(localization)}]"#
        send.devices = Array(list.utf8)[...]
        return send
    }

    private static func push(_ send: ChannelSend) throws -> APNsPush {
        let registration = try #require(send.registration)
        let activity = try #require(send.activity)
        let device = try PresentedDevice(list: #require(send.devices))
        let push = try APNsPush(send, activity, to: device, registration, bundle: APNsBench.bundle)
        if registration.kind != .broadcastChannel { #expect(push.problems().isEmpty, "\(push.problems())") }
        return push
    }

    private static func aps(_ send: ChannelSend) throws -> JSONValue {
        try #require(try JSONValue.parse(push(send).payload)["aps"])
    }

    // MARK: - The push

    @Test func `the kind of the token decides between a start and an update`() throws {
        let dates = #","staleDate":"2026-11-21T09:10:00.999Z","relevanceScore":7.5"#
        let start = try Self.send(Self.content(15, #","sound":"bell.caf""#, dates), .liveActivityStart)
        let common = #"""
            "timestamp":1795251600,"content-state":{"eta":15},"stale-date":1795252200,"relevance-score":7.5,
            "alert":{"title":"On its way","body":"15 minutes","sound":"bell.caf"}
            """#
        let attributes = #""attributes-type":"Order","attributes":{"order":"1001"}"#
        #expect(
            try isSame(
                Self.push(start).payload,
                "{\"aps\":{\"event\":\"start\",\(common),\(attributes),\"input-push-token\":1}}"
            )
        )
        let update = try Self.send(Self.content(15, #","sound":"bell.caf""#, dates), .liveActivity)
        #expect(try isSame(Self.push(update).payload, "{\"aps\":{\"event\":\"update\",\(common)}}"))
        let follower = try Self.send(Self.content(15, "", #","broadcastChannel":"dHN0LWNobmw=""#), .liveActivityStart)
        #expect(try Self.aps(follower)["input-push-channel"]?.stringValue == "dHN0LWNobmw=")
        #expect(try Self.aps(follower)["input-push-token"] == nil)
    }

    @Test func `an end has its date, and without one the activity disappears at once`() throws {
        let end = try Self.send(nil, .liveActivity, dismissal: Timestamp(rawValue: 1_795_255_200_500))
        #expect(
            try isSame(
                Self.push(end).payload,
                #"{"aps":{"timestamp":1795251600,"event":"end","dismissal-date":1795255200}}"#
            )
        )
        #expect(try Self.aps(Self.send(nil, .liveActivity))["dismissal-date"] == .number("\(Self.time)"))
        // Of a key that has had another order before.
        let largest = try Self.send(nil, .liveActivity, timestamp: .max)
        #expect(try Self.aps(largest)["dismissal-date"] == .number("9999999999"))
    }

    @Test func `the alert has the texts of the device's locale, and is left out where nothing may be shown`() throws {
        let texts =
            #","localizations":{"de":{"title":"Unterwegs"}},"titleLocalization":{"key":"T","arguments":["1"]},"sound":"a""#
        let german = try Self.send(
            Self.content(1, texts),
            .liveActivity,
            presentation: #"["list"]"#,
            localization: #","localization":"de""#
        )
        #expect(try Self.aps(german)["alert"]?.json == Array(#"{"title":"Unterwegs","body":"15 minutes"}"#.utf8))
        let other = try Self.aps(Self.send(Self.content(1, texts), .liveActivity))["alert"]
        #expect(other?["title"]?.json == Array(#"{"loc-key":"T","loc-args":["1"]}"#.utf8) && other?["sound"] != nil)
        let silent = try Self.send(Self.content(1), .liveActivity, presentation: "[]")
        #expect(try Self.aps(silent)["alert"] == nil)
        var quiet = try Self.send(Self.content(1), .liveActivity)
        quiet.isQuiet = true
        #expect(try Self.aps(quiet)["alert"] == nil)
        // Without an alert nothing starts.
        let start = try Self.send(Self.content(1), .liveActivityStart, presentation: "[]")
        #expect(try Self.aps(start)["alert"] != nil)
    }

    @Test func `what is seen at once counts for the hourly budget of the device, at its first attempt only`() throws {
        func priority(_ content: String?, attempt: Int = 1) throws -> APNsPriority {
            var send = try Self.send(content, .liveActivity)
            send.attempt = attempt
            return try Self.push(send).headers.priority
        }
        let silent = #"{"liveActivity":{"contentState":{}}}"#
        #expect(try priority(Self.content(1)) == .immediate && priority(nil) == .immediate)
        #expect(try priority(silent) == .saving && priority(Self.content(1), attempt: 2) == .saving)
        #expect(try priority(Self.content(1, #","interruptionLevel":"passive""#)) == .saving)
        let urgent = #"{"interruptionLevel":"timeSensitive","liveActivity":{"contentState":{}}}"#
        #expect(try priority(urgent) == .immediate)
        #expect(try Self.push(Self.send(urgent, .liveActivity)).level == .timeSensitive)
        #expect(try Self.push(Self.send(nil, .liveActivity)).level == nil)
    }

    @Test func `a broadcast names its channel, and is stored only until its expiration`() throws {
        var send = try Self.send(#"{"liveActivity":{"contentState":{}}}"#, .broadcastChannel, token: "dHN0LWNobmw=")
        let fields = try Self.push(send).headers.fields.map { "\($0.name): \($0.value)" }
        #expect(
            fields == [
                "apns-push-type: liveactivity", "apns-priority: 5", "apns-channel-id: dHN0LWNobmw=",
                "apns-request-id: \(send.id)", "apns-expiration: 0",
            ]
        )
        send.expiration = Timestamp(rawValue: 1_795_255_200_000)
        #expect(try Self.push(send).headers.expiration == 1_795_255_200)
    }

    @Test func `a state that is too large is refused, and a broadcast has room for more`() throws {
        func reason(_ bytes: Int, _ kind: TokenKind) throws -> ReasonCode? {
            let state = String(repeating: "a", count: bytes)
            let content = #"{"liveActivity":{"contentState":{"a":"\#(state)"}}}"#
            do {
                let token = kind == .broadcastChannel ? "dHN0LWNobmw=" : APNsBench.token
                _ = try Self.push(Self.send(content, kind, token: token))
                return nil
            } catch let error as ModelError {
                return error.reason
            }
        }
        #expect(try reason(3_900, .liveActivity) == nil && reason(4_096, .liveActivity) == .payloadTooLarge)
        #expect(try reason(5_000, .broadcastChannel) == nil && reason(5_120, .broadcastChannel) == .payloadTooLarge)
    }

    // MARK: - Over the wire

    @Test func `a phone starts the activity, shows its updates, and ends it`() async throws {
        try await APNsBench.with { bench in
            try bench.simulator.register(APNsBench.token, device: "phone", topic: Self.topic)
            let start = try Self.send(Self.content(15), .liveActivityStart)
            #expect(await bench.desk.result(of: start) == .accepted)
            var activity = try #require(bench.simulator.device("phone")?.activities.first)
            #expect(activity.attributesType == "Order" && activity.timestamp == Self.time)
            let update = try Self.send(Self.content(5), .liveActivity, token: activity.token, timestamp: Self.time + 9)
            #expect(await bench.desk.result(of: update) == .accepted)
            activity = try #require(bench.simulator.device("phone")?.activities.first)
            #expect(activity.contentState == Array(#"{"eta":5}"#.utf8) && activity.timestamp == Self.time + 9)
            let end = try Self.send(nil, .liveActivity, token: activity.token, timestamp: Self.time + 20)
            #expect(await bench.desk.result(of: end) == .removed(.requested))
            activity = try #require(bench.simulator.device("phone")?.activities.first)
            #expect(activity.hasEnded && activity.dismissalDate == Self.time + 20)
        }
    }

    @Test func `an end overwrites nothing, whatever the application does about removals`() async throws {
        try await APNsBench.with(more: "  removal: overwrite\n  removal-text: Withdrawn.\n") { bench in
            try bench.simulator.register(APNsBench.token, device: "phone", topic: Self.topic, activity: "a")
            #expect(await bench.desk.result(of: try Self.send(nil, .liveActivity)) == .removed(.requested))
            #expect(bench.simulator.device("phone")?.activities.first?.hasEnded == true)
        }
    }

    @Test func `one broadcast reaches all that follow the channel, and a channel that is gone is told`() async throws {
        try await APNsBench.with { bench in
            let channel = try bench.simulator.makeBroadcastChannel(for: APNsBench.bundle)
            for (name, token) in [("phone", APNsBench.token), ("tablet", APNsBench.otherToken)] {
                try bench.simulator.register(token, device: name, topic: Self.topic)
                let content = Self.content(15, "", #","broadcastChannel":"\#(channel)""#)
                let start = try Self.send(content, .liveActivityStart, token: token)
                #expect(await bench.desk.result(of: start) == .accepted)
            }
            let state = #"{"liveActivity":{"contentState":{"score":"3:2"}}}"#
            func broadcast(_ timestamp: Int64) throws -> ChannelSend {
                try Self.send(state, .broadcastChannel, token: channel, timestamp: timestamp)
            }
            #expect(await bench.desk.result(of: try broadcast(Self.time + 1)) == .accepted)
            for name in ["phone", "tablet"] {
                let shown = bench.simulator.device(name)?.activities.first
                #expect(shown?.contentState == Array(#"{"score":"3:2"}"#.utf8), "\(name)")
            }
            bench.simulator.removeBroadcastChannel(channel, of: APNsBench.bundle)
            guard case .gone? = await bench.desk.result(of: try broadcast(Self.time + 2)) else {
                Issue.record("it is not gone")
                return
            }
        }
    }
}
