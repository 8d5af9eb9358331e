import NotificationModel
import Testing
import TestSupport

@testable import NotificationChannels

@Suite("Rules of Apple that a push can break")
struct APNsProblemTests {
    private func problems(
        _ payload: String,
        _ type: APNsPushType = .alert,
        certificate: Bool = false,
        _ change: (inout APNsHeaders) -> Void = { _ in }
    ) -> [String] {
        var headers = APNsHeaders(type, bundle: APNsSample.bundle)
        change(&headers)
        return APNsPush(headers: headers, payload: Array(payload.utf8)).problems(hasCertificate: certificate)
            .map { "\($0.severity.rawValue) \($0.field)" }
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"Hello"}}"#, APNsPushType.alert),
        (
            #"{"aps":{"alert":{"title":"T","loc-key":"K","loc-args":["a"]},"badge":0,"sound":"a.caf"},"x":{"aps":1}}"#,
            .alert
        ),
        (
            #"{"aps":{"alert":{"body":"B"},"mutable-content":1,"interruption-level":"time-sensitive","relevance-score":1}}"#,
            .alert
        ),
        (#"{"aps":{"badge":3}}"#, .alert),
        (
            #"{"aps":{"alert":"A","sound":{"critical":1,"name":"a","volume":0},"interruption-level":"critical"}}"#,
            .alert
        ),
        (#"{"aps":{"content-available":1},"a":[null]}"#, .background),
        (#"{"aps":{"content-changed":true}}"#, .widgets), (#"{"aps":{"content-changed":true}}"#, .controls),
        (#"{"mdm":"magic"}"#, .mdm), (#"{"container-identifier":"x","domain":"d"}"#, .fileprovider),
        (#"{"aps":{}}"#, .location), (#"{"aps":{},"a":1}"#, .pushtotalk), (#"{"call":"ana"}"#, .voip),
        (#"{"aps":{"alert":{"title":"T"}}}"#, .complication),
        (#"{"aps":{"timestamp":1795251600,"event":"update","content-state":{"a":1}}}"#, .liveactivity),
        (#"{"aps":{"timestamp":1,"event":"end","dismissal-date":2,"relevance-score":75.5}}"#, .liveactivity),
        (
            #"""
            {"aps":{"timestamp":1,"event":"start","content-state":{},"attributes-type":"A","attributes":{},"input-push-token":1,
             "alert":{"title":{"loc-key":"K","loc-args":["a"]},"body":"B","sound":"default"}}}
            """#, .liveactivity
        ),
    ])
    func `a coherent payload has no problem`(_ payload: String, _ type: APNsPushType) {
        #expect(problems(payload, type) == [])
    }

    @Test(arguments: [
        ("", ["refused payload"]), ("[]", ["refused payload"]), ("{}", ["refused payload"]),
        (#"{"aps":{"alert":"A"}"#, ["refused payload"]), (#"{"alert":"A"}"#, ["refused aps"]),
        (#"{"aps":[]}"#, ["refused aps"]), (#"{"aps":{"alert":"A"},"aps":{}}"#, ["refused aps"]),
        (#"{"aps":{}}"#, ["refused aps"]), (#"{"aps":{"content-available":1}}"#, ["refused aps"]),
        (#"{"aps":{"alert":"A","alert":"B"}}"#, ["refused aps.alert"]),
        (#"{"aps":{"alert":5}}"#, ["refused aps.alert"]),
        (#"{"aps":{"alert":{"title":5}}}"#, ["refused aps.alert.title"]),
        (#"{"aps":{"alert":{"loc-key":"K","loc-args":[1]}}}"#, ["refused aps.alert.loc-args"]),
        (#"{"aps":{"alert":{"body":"B","loc-key":"K"}}}"#, ["ineffective aps.alert.body"]),
        (#"{"aps":{"alert":{"body":"B","action-loc-key":"K"}}}"#, ["ineffective aps.alert.action-loc-key"]),
        (#"{"aps":{"badge":"1"}}"#, ["refused aps.badge"]), (#"{"aps":{"badge":true}}"#, ["refused aps.badge"]),
        (#"{"aps":{"badge":1.5}}"#, ["refused aps.badge"]), (#"{"aps":{"badge":-1}}"#, ["refused aps.badge"]),
        (#"{"aps":{"alert":"A","content-available":true}}"#, ["refused aps.content-available"]),
        (#"{"aps":{"alert":"A","mutable-content":"1"}}"#, ["refused aps.mutable-content"]),
        (#"{"aps":{"badge":1,"mutable-content":1}}"#, ["ineffective aps.mutable-content"]),
        (#"{"aps":{"alert":"A","interruption-level":"timeSensitive"}}"#, ["refused aps.interruption-level"]),
        (#"{"aps":{"alert":"A","interruption-level":"critical"}}"#, ["ineffective aps.interruption-level"]),
        (#"{"aps":{"alert":"A","interruption-level":"critical","sound":"a"}}"#, ["ineffective aps.interruption-level"]),
        (
            #"{"aps":{"alert":"A","interruption-level":"active","sound":{"critical":1}}}"#,
            ["ineffective aps.sound.critical"]
        ),
        (#"{"aps":{"alert":"A","relevance-score":2}}"#, ["refused aps.relevance-score"]),
        (#"{"aps":{"alert":"A","sound":{"volume":2}}}"#, ["refused aps.sound.volume"]),
        (#"{"aps":{"alert":"A","orderId":1}}"#, ["ineffective aps.orderId"]),
        (#"{"aps":{"alert":"A","category":1}}"#, ["refused aps.category"]),
        (#"{"aps":{"alert":"A","event":"start"}}"#, ["ineffective aps.event"]),
    ])
    func `what breaks a rule of alerts is named`(_ payload: String, _ expected: [String]) {
        #expect(problems(payload) == expected, "\(payload)")
    }

    @Test func `a background push has nothing to show, and a priority below 10`() {
        let all = problems(
            #"{"aps":{"alert":"A","badge":1,"sound":"a","mutable-content":1}}"#,
            .background
        ) { $0.priority = .immediate }
        #expect(
            all == [
                "refused apns-priority", "refused aps.alert", "refused aps.badge", "refused aps.sound",
                "refused aps.content-available", "ineffective aps.mutable-content",
            ]
        )
        #expect(problems(#"{"aps":{"content-available":1}}"#, .background) { $0.priority = .lowest } == [])
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"A"}}"#, ["refused aps"]), (#"{"aps":{"content-changed":1}}"#, ["refused aps"]),
        (#"{"aps":{"content-changed":true},"a":1}"#, ["refused aps"]), ("{\"a\":1}", ["refused aps"]),
    ])
    func `widgets and controls get one payload only`(_ payload: String, _ expected: [String]) {
        #expect(problems(payload, .widgets) == expected)
        #expect(problems(payload, .controls) == expected)
    }

    @Test(arguments: [
        (#"{"aps":{}}"#, ["refused aps.event", "refused aps.timestamp", "refused aps.content-state"]),
        (
            #"{"aps":{"event":"pause","timestamp":1.5,"content-state":[]}}"#,
            ["refused aps.event", "refused aps.timestamp", "refused aps.content-state"]
        ),
        (
            #"{"aps":{"event":"update","timestamp":1,"content-state":{},"stale-date":"soon"}}"#,
            ["refused aps.stale-date"]
        ),
        (
            #"{"aps":{"event":"update","timestamp":1,"content-state":{},"dismissal-date":2}}"#,
            ["ineffective aps.dismissal-date"]
        ),
        (
            #"{"aps":{"event":"update","timestamp":1,"content-state":{},"attributes":{}}}"#,
            ["ineffective aps.attributes"]
        ),
        (
            #"{"aps":{"event":"start","timestamp":1,"content-state":{}}}"#,
            ["refused aps.attributes-type", "refused aps.attributes", "refused aps.alert"]
        ),
        (
            #"""
            {"aps":{"event":"start","timestamp":1,"content-state":{},"attributes-type":"A","attributes":{},"alert":{"title":"T"},
             "input-push-token":1,"input-push-channel":"c"}}
            """#, ["refused aps.alert.body", "refused aps.input-push-channel"]
        ),
    ])
    func `what breaks a rule of Live Activities is named`(_ payload: String, _ expected: [String]) {
        #expect(problems(payload, .liveactivity) == expected)
    }

    @Test func `headers have their rules, too`() {
        let payload = #"{"aps":{"alert":"A"}}"#
        #expect(problems(payload) { $0.topic = "" } == ["refused apns-topic"])
        #expect(problems(payload) { $0.topic = "com.example.shop.voip" } == ["refused apns-topic"])
        #expect(problems(#"{"a":1}"#, .voip) { $0.topic = "com.example.shop" } == ["refused apns-topic"])
        #expect(problems(#"{"a":1}"#, .voip) { $0.topic = ".voip" } == ["refused apns-topic"])
        #expect(problems(payload) { $0.topic = "a\r\nx: y" } == ["refused apns-topic"])
        #expect(problems(payload) { $0.expiration = -1 } == ["refused apns-expiration"])
        #expect(problems(payload) { $0.collapseID = String(repeating: "é", count: 32) } == [])
        #expect(
            problems(payload) { $0.collapseID = String(repeating: "é", count: 32) + "a" } == [
                "refused apns-collapse-id"
            ]
        )
        #expect(problems(payload) { $0.collapseID = "" } == ["refused apns-collapse-id"])
        #expect(problems(payload) { $0.collapseID = "a\nb" } == ["refused apns-collapse-id"])
        #expect(problems(#"{"aps":{}}"#, .location, certificate: true) == ["refused apns-push-type"])
        #expect(problems(payload, certificate: true) == [])
    }

    @Test func `sizes are those of the type`() {
        func payload(_ count: Int) -> String {
            let frame = #"{"aps":{"alert":""}}"#
            return #"{"aps":{"alert":"\#(String(repeating: "x", count: count - frame.utf8.count))"}}"#
        }
        #expect(problems(payload(4096)) == [] && problems(payload(4097)) == ["refused payload"])
        #expect(problems(payload(5120), .voip) == [] && problems(payload(5121), .voip) == ["refused payload"])
    }

    @Test func `no payload of random bytes traps`() {
        var generator = SeededGenerator(seed: 7)
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"aps\"", "\"alert\"", "\"event\"", "\"start\"", "1", "-1.5e9", "null",
            "true", "\"",
            "\\u0000", "é", "\u{0}", "\"sound\"", "\"critical\"", "\"content-state\"", "\"badge\"",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...14, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }.joined()
            for type in APNsPushType.allCases { _ = problems(text, type) }
        }
    }
}
