import NotificationModel
import Testing

@testable import NotificationChannels

@Suite("Payloads of Live Activities")
struct APNsLiveActivityTests {
    private static let state = JSONValue.object([.init("score", .number("3"))])
    private static let alert = LiveActivityPush.Alert(
        title: .localized(Localization(key: "GOAL", arguments: ["Ana"])),
        body: .plain("3 : 2"),
        sound: "goal.caf"
    )

    private func payload(_ push: LiveActivityPush) throws -> [UInt8] {
        let push = push.push(id: APNsSample.id, bundle: APNsSample.bundle, isUrgent: false)
        #expect(push.problems().isEmpty, "\(push.problems())")
        #expect(push.headers.topic == "com.example.shop.push-type.liveactivity" && push.headers.id == APNsSample.id)
        return push.payload
    }

    @Test func `a start has attributes, an alert, and says how updates come`() throws {
        let attributes = JSONValue.object([.init("match", .string("7"))])
        func start(_ updates: LiveActivityPush.Updates?) throws -> [UInt8] {
            try payload(
                LiveActivityPush(
                    .start(attributesType: "MatchAttributes", attributes: attributes, updates: updates),
                    timestamp: 1_795_251_600,
                    contentState: Self.state,
                    alert: Self.alert,
                    staleDate: Timestamp(rawValue: 1_795_255_200_999),
                    relevanceScore: 75.5
                )
            )
        }
        let common = #"""
            "timestamp":1795251600,"event":"start","content-state":{"score":3},"stale-date":1795255200,"relevance-score":75.5,
            "alert":{"title":{"loc-key":"GOAL","loc-args":["Ana"]},"body":"3 : 2","sound":"goal.caf"},
            "attributes-type":"MatchAttributes","attributes":{"match":"7"}
            """#
        #expect(try isSame(start(nil), "{\"aps\":{\(common)}}"))
        #expect(try isSame(start(.token), "{\"aps\":{\(common),\"input-push-token\":1}}"))
        #expect(try isSame(start(.channel(id: "Y2g=")), "{\"aps\":{\(common),\"input-push-channel\":\"Y2g=\"}}"))
    }

    @Test func `an update has its state, and an end when it disappears`() throws {
        let update = LiveActivityPush(.update, timestamp: 7, contentState: Self.state)
        #expect(try isSame(payload(update), #"{"aps":{"timestamp":7,"event":"update","content-state":{"score":3}}}"#))
        let end = LiveActivityPush(.end(dismissal: Timestamp(rawValue: -1)), timestamp: 8, contentState: nil)
        #expect(try isSame(payload(end), #"{"aps":{"timestamp":8,"event":"end","dismissal-date":-1}}"#))
        let open = LiveActivityPush(.end(dismissal: nil), timestamp: 8, contentState: Self.state)
        #expect(try isSame(payload(open), #"{"aps":{"timestamp":8,"event":"end","content-state":{"score":3}}}"#))
    }

    @Test(
        arguments: [
            (0, 0), (1, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2),
            (.max, 9_223_372_036_854_775), (.min, -9_223_372_036_854_776),
        ] as [(Int64, Int64)]
    )
    func `dates are whole seconds, rounded down`(_ milliseconds: Int64, _ seconds: Int64) throws {
        let dismissal = Timestamp(rawValue: milliseconds)
        let end = LiveActivityPush(.end(dismissal: dismissal), timestamp: 1, contentState: nil)
        #expect(try JSONValue.parse(payload(end))["aps"]?["dismissal-date"] == .number("\(seconds)"))
    }

    @Test func `what is urgent counts for the device's budget`() {
        let update = LiveActivityPush(.update, timestamp: 7, contentState: Self.state)
        func priority(_ isUrgent: Bool) -> APNsPriority {
            update.push(id: nil, bundle: "a", isUrgent: isUrgent).headers.priority
        }
        #expect(priority(false) == .saving && priority(true) == .immediate)
    }

    @Test func `what is missing is a problem`() {
        let start = LiveActivityPush(
            .start(attributesType: "", attributes: .null, updates: nil),
            timestamp: 1,
            contentState: nil
        )
        let problems = start.push(id: nil, bundle: "a", isUrgent: true).problems()
        #expect(
            problems.map(\.field) == ["aps.content-state", "aps.attributes-type", "aps.attributes", "aps.alert"]
        )
    }
}
