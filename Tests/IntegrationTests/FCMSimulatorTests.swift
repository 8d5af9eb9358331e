import Foundation
import Testing

/// `carillon fcm-simulator` with clients from another hand: Google's.
@Suite("The FCM simulator", .serialized)
struct FCMSimulatorTests {
    private func withSimulator(_ body: (FCMSimulatorProcess) async throws -> Void) async throws {
        let simulator = try await FCMSimulatorProcess()
        do {
            try await body(simulator)
        } catch {
            Issue.record(error, "\(simulator.child.lastWords)")
        }
        await simulator.child.end()
    }

    @Test("firebase-admin understands its answers, and it understands the messages of firebase-admin")
    func firebase() async throws {
        try await withSimulator { simulator async throws in
            let token = try await simulator.register()
            let gone = try await simulator.register(device: "old")
            _ = try await simulator.control("DELETE", "/v1/devices/old/apps/com.example.shop")
            let foreign = try await simulator.control(
                "POST",
                "/v1/devices/tablet/tokens",
                #"{"package":"com.example.shop","project":"other"}"#
            )
            let cases: [(String, error: String?)] = [
                (
                    #"{"token":"\#(token)","title":"a","android":{"notification":{"tag":"t"},"priority":"high","ttl":60}}"#,
                    nil
                ),
                (#"{"token":"\#(token)","title":"b","android":{"notification":{"tag":"t"}}}"#, nil),
                (#"{"token":"\#(token)","data":{"k":"v"}}"#, nil),
                (#"{"token":"\#(gone)","title":"a"}"#, "UnregisteredError"),
                (#"{"token":"unknown","title":"a"}"#, "InvalidArgumentError"),
                (#"{"token":"\#(try #require(foreign["token"] as? String))","title":"a"}"#, "SenderIdMismatchError"),
            ]
            let child = try ChildProcess(
                try Tools.python(),
                [
                    Tools.client("firebase_messages.py"), "--url", try simulator.place("messages"),
                    "--ca", try simulator.place("authority"), "--account", try simulator.place("account"),
                ],
                input: Data(cases.map { $0.0 }.joined(separator: "\n").utf8)
            )
            #expect(try await child.ended() == 0, "\(child.lastWords)")
            let found = child.outputLines.compactMap { JSONText.object(Data($0.utf8)) }
            #expect(found.map { $0["error"] as? String } == cases.map(\.error), "\(found)")
            // Messages on several streams have no order.
            let titles = try await simulator.titles("phone")
            #expect(titles == ["a"] || titles == ["b"])
        }
    }

    @Test("the schemas that other tests use are those of Google's discovery document")
    func discovery() async throws {
        let fixture = Tools.package.appendingPathComponent(
            "Tests/NotificationChannelsTests/Fixtures/fcm-v1-discovery.json"
        )
        let checked = try ChildProcess(
            try Tools.python(),
            [Tools.client("fcm_discovery.py"), "--compare", fixture.path]
        )
        #expect(try await checked.ended() == 0, "\(checked.lastWords)")
        #expect(checked.outputLines.isEmpty, "\(checked.outputLines)")
    }
}
