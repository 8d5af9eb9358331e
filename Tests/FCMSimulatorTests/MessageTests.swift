import NIOHPACK
import NotificationModel
import PushSimulation
import Testing

@testable import FCMSimulator

/// What the simulator answers, and what devices show, as values.
@Suite struct MessageTests {
    private struct Desk {
        static let project = "p"
        var state = FCMSimulatorState(seed: 1)
        var now = Timestamp(rawValue: 1_795_000_020_000)

        init() throws {
            try state.devices.register("phone:1", device: "phone", package: "com.example.shop", project: Self.project)
        }

        /// The refusal's code, or else its status; nil when it is accepted.
        mutating func send(_ json: String) -> String? {
            do {
                let message = try Array(json.utf8).withUnsafeBytes { try SentMessage($0) }
                guard let token = state.devices.tokens[message.target] else { return "unknown" }
                state.devices.deliver(message, to: token, at: now)
                return nil
            } catch {
                let refusal = error as? FCMRefusal
                return refusal?.field ?? refusal?.rpc ?? "\(error)"
            }
        }

        var shown: [String?] { state.devices.devices["phone"]?.shown(by: "com.example.shop").map(\.title) ?? [] }
    }

    @Test(
        arguments: [
            (#"{"message":{"token":"phone:1","data":{"a":"b"}}}"#, nil),
            (#"{"message":{"token":"phone:1","android":{"restricted_package_name":"a","ttl":"3.5s"}}}"#, nil),
            (#"{"message":{"token":"phone:1","android":{"ttl":"2419201s"}}}"#, "message.android.ttl"),
            (#"{"message":{"token":"phone:1","android":{"priority":"urgent"}}}"#, "message.android.priority"),
            (#"{"message":{"token":"phone:1","data":{"a":1}}}"#, "message.data"),
            (#"{"message":{"token":"phone:1","data":{"from":"b"}}}"#, "message.data"),
            (#"{"message":{"token":"phone:1","data":{"google.a":"b"}}}"#, "message.data"),
            (#"{"message":{"token":"phone:1","fid":"x"}}"#, "message"), (#"{"message":{}}"#, "message"),
            ("{}", "message"),
            (#"{"message":{"token":"phone:1","tag":"x"}}"#, "message"), ("[", "INVALID_ARGUMENT"),
            (#"{"message":{"token":"phone:1","android":{},"androidV2":{}}}"#, "message.android_v2"),
            (#"{"message":{"token":"phone:1","android":{"notification":{"id":1}}}}"#, "message.android.notification"),
            (#"{"message":{"topic":"x"}}"#, "message.topic"),
        ] as [(String, String?)]
    )
    func `a message is checked as Google does`(_ json: String, _ refusal: String?) throws {
        var desk = try Desk()
        #expect(desk.send(json) == refusal)
    }

    @Test func `the person takes a notification away, and each change is told`() throws {
        var desk = try Desk()
        let before = desk.state.devices.revision
        #expect(
            desk.send(#"{"message":{"token":"phone:1","android":{"notification":{"title":"A","tag":"t"}}}}"#) == nil
        )
        #expect(desk.state.devices.revision != before)
        let dismissals = ["other", "t", "t"].map { tag in
            desk.state.devices.dismiss(tag, of: "com.example.shop", on: "phone")
        }
        #expect(dismissals == [false, true, false] && desk.shown == [])
    }

    @Test func `4,096 bytes of data and notification are accepted, one more is not`() throws {
        var desk = try Desk()
        func message(_ count: Int) -> String {
            let text = String(repeating: "x", count: count)
            return #"{"message":{"token":"phone:1","data":{"k":"\#(text)"},"notification":{"title":"T"}}}"#
        }
        #expect(desk.send(message(4096 - 7)) == nil && desk.send(message(4097 - 7)) == "message")
    }

    @Test func `the same tag replaces what is shown, and Carillon's removal cancels what is older`() throws {
        var desk = try Desk()
        func shown(_ title: String, _ tag: String, _ sequence: String) -> String {
            #"{"message":{"token":"phone:1","data":{"carillon":"{\"sequence\":\"\#(sequence)\"}"},"android":"#
                + #"{"notification":{"title":"\#(title)","tag":"\#(tag)"}}}}"#
        }
        #expect(desk.send(shown("a", "1", "5")) == nil && desk.send(shown("b", "2", "6")) == nil)
        #expect(desk.send(shown("c", "1", "7")) == nil && desk.shown == ["b", "c"])
        let remove = #"{"message":{"token":"phone:1","data":{"carillon":"{\"remove\":{\"1\":\"6\",\"2\":\"6\"}}"}}}"#
        #expect(desk.send(remove) == nil && desk.shown == ["c"])
    }

    @Test func `Android's notification takes what it lacks from the general one`() throws {
        var desk = try Desk()
        let general = #""notification":{"title":"general","body":"B"}"#
        #expect(
            desk.send(#"{"message":{"token":"phone:1",\#(general),"android":{"notification":{"tag":"1"}}}}"#) == nil
        )
        let own = #"{"message":{"token":"phone:1",\#(general),"android":{"notification":{"tag":"2","title":"own"}}}}"#
        #expect(desk.send(own) == nil && desk.shown == ["general", "own"])
    }

    @Test func `a device that is offline gets what is kept, but for what has ended or was merged`() throws {
        var desk = try Desk()
        _ = desk.state.devices.setOnline(false, "phone", at: desk.now)
        for (title, options) in [
            ("ended", #""ttl":"10s""#), ("first", #""collapseKey":"k""#), ("second", #""collapseKey":"k""#),
            ("now or never", #""ttl":"0s""#), ("kept", #""ttl":"60s""#),
        ] {
            let json = #"{"message":{"token":"phone:1","android":{\#(options),"notification":{"title":"\#(title)"}}}}"#
            #expect(desk.send(json) == nil)
        }
        #expect(desk.shown.isEmpty)
        _ = desk.state.devices.setOnline(true, "phone", at: desk.now.adding(milliseconds: 20_000))
        #expect(desk.shown == ["second", "kept"] && desk.state.devices.devices["phone"]?.droppedCount == 3)
    }
}
