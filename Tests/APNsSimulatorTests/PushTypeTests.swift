import Testing

@testable import APNsSimulator

/// Push types with their topics, payloads and sizes.
struct PushTypeTests {
    private static let payloads: [PushType: String] = [
        .alert: Desk.alert, .background: #"{"aps":{"content-available":1}}"#,
        .liveactivity: #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, .mdm: #"{"mdm":"magic"}"#,
        .widgets: #"{"aps":{"content-changed":true}}"#, .controls: #"{"aps":{"content-changed":true}}"#,
    ]

    @Test(arguments: PushType.allCases)
    func `each of the eleven types reaches its token under its topic`(_ type: PushType) throws {
        var desk = try Desk()
        let topic = Desk.topic + type.topicSuffix
        let token = String(repeating: "0\(PushType.allCases.firstIndex(of: type).map { $0 % 10 } ?? 0)", count: 32)
        try desk.register(token, topic: topic, activity: type == .liveactivity ? "match" : nil)
        let payload = Self.payloads[type] ?? #"{"aps":{}}"#
        #expect(
            desk.said(to: token, payload) { ($0.topic, $0.pushType, $0.priority) = (topic, type.rawValue, "5") }
                == "200"
        )
        let effect = desk.lastEffect
        if case .ignored(let why)? = effect { Issue.record("ignored: \(why)") }
        #expect(effect != nil)
    }

    @Test func `a wrong suffix is accepted and then ignored, as Apple does`() throws {
        var desk = try Desk()
        let payload = #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#
        #expect(desk.said(payload) { $0.pushType = "liveactivity" } == "200")
        #expect(desk.lastEffect == .ignored(#"the topic of liveactivity ends in ".push-type.liveactivity""#))
    }

    @Test(arguments: [
        (PushType.alert, #"{"aps":{}}"#), (.alert, #"{"text":"x"}"#), (.alert, #"{"aps":{"alert":7}}"#),
        (.alert, #"{"aps":{"alert":""}}"#), (.alert, #"{"aps":{"alert":{"launch-image":"x"}}}"#),
        (.alert, #"{"aps":{"alert":"x","badge":"1"}}"#),
        (.background, #"{"aps":{"content-available":1,"alert":"x"}}"#), (.background, #"{"aps":{"badge":1}}"#),
        (.background, #"{"aps":{"content-available":1,"sound":"default"}}"#),
    ])
    func `what a device can do nothing with is accepted and then ignored`(_ type: PushType, _ payload: String) throws {
        var desk = try Desk()
        #expect(desk.said(payload) { ($0.pushType, $0.priority) = (type.rawValue, "5") } == "200")
        guard case .ignored? = desk.lastEffect else {
            Issue.record("\(String(describing: desk.lastEffect))")
            return
        }
        #expect(desk.shown.isEmpty)
    }

    @Test(arguments: ["10", nil])
    func `a background push must not be immediate, and is that without a priority`(_ priority: String?) throws {
        var desk = try Desk()
        let said = desk.said(#"{"aps":{"content-available":1}}"#) {
            ($0.pushType, $0.priority) = ("background", priority)
        }
        #expect(said == "BadPriority")
    }

    @Test(arguments: [("alert", "", 4_096), ("voip", ".voip", 5_120)])
    func `a payload at its limit is accepted, and one byte more is not`(_ type: String, _ suffix: String, _ limit: Int)
        throws
    {
        var desk = try Desk()
        let token = String(repeating: "0e", count: 32)
        try desk.register(token, topic: Desk.topic + suffix)
        func payload(_ bytes: Int) -> String {
            let frame = #"{"aps":{"alert":""}}"#
            return #"{"aps":{"alert":"\#(String(repeating: "a", count: bytes - frame.utf8.count))"}}"#
        }
        for (bytes, reason) in [(limit, "200"), (limit + 1, "PayloadTooLarge")] {
            let said = desk.said(to: token, payload(bytes)) { ($0.topic, $0.pushType) = (Desk.topic + suffix, type) }
            #expect(said == reason)
        }
    }

    @Test(arguments: ["", "{", "[]", "text", #"{"aps":{"alert":"\#u{1}"}}"#])
    func `what is no JSON object is refused`(_ payload: String) throws {
        var desk = try Desk()
        #expect(desk.said(payload) == "PayloadEmpty")
    }

    @Test(arguments: ["1.5", #""2026-11-25""#, "1e9"])
    func `dates of a Live Activity are whole seconds`(_ date: String) throws {
        var desk = try Desk()
        let topic = Desk.topic + PushType.liveactivity.topicSuffix
        let token = String(repeating: "0d", count: 32)
        try desk.register(token, topic: topic, activity: "match")
        for member in ["timestamp", "stale-date", "dismissal-date"] {
            let payload = #"{"aps":{"event":"update","content-state":{},"\#(member)":\#(date)}}"#
            #expect(desk.said(to: token, payload) { ($0.topic, $0.pushType) = (topic, "liveactivity") } == "BadDate")
        }
    }
}
