import Foundation
import Testing

/// `carillon apns-simulator` with clients from other hands: curl, aioapns and h2load.
@Suite("The APNs simulator", .serialized)
struct APNsSimulatorTests {
    private func withSimulator(_ body: (APNsSimulatorProcess) async throws -> Void) async throws {
        let simulator = try await APNsSimulatorProcess()
        do {
            try await body(simulator)
        } catch {
            Issue.record(error, "\(simulator.child.lastWords)")
        }
        await simulator.child.end()
    }

    @Test("the examples of the page do what the page says")
    func page() async throws {
        let page = try Page("Sources/carillon/carillon.docc/APNsSimulator.md")
        let script = try page.block("sh", containing: "push() {")
        let expected = try page.block("text", containing: "ServiceUnavailable")
        try await withSimulator { simulator async throws in
            let own =
                script
                .replacing("http://127.0.0.1:2199", with: try simulator.place("control"))
                .replacing("https://127.0.0.1:2197", with: try simulator.place("production"))
                .replacing("apns/ca.pem", with: try simulator.place("authority"))
            let found = try await ChildProcess.run("/bin/bash", ["-euo", "pipefail", "-c", own])
            #expect(found.outputText == expected)
        }
    }

    @Test("aioapns understands its answers, and it understands the pushes of aioapns")
    func aioapns() async throws {
        try await withSimulator { simulator async throws in
            let token = try await simulator.register()
            let gone = try await simulator.register()
            _ = try await simulator.control("DELETE", "/v1/devices/phone/tokens/\(gone)")
            let cases: [(String, status: String, reason: String?)] = [
                (
                    #"{"token":"\#(token)","message":{"aps":{"alert":"a"}},"collapse_key":"a","time_to_live":60}"#,
                    "200", nil
                ),
                (#"{"token":"\#(token)","message":{"aps":{"alert":"b"}},"collapse_key":"a","priority":5}"#, "200", nil),
                (
                    #"{"token":"\#(token)","message":{"aps":{"content-available":1}},"push_type":"background","priority":5}"#,
                    "200", nil
                ),
                (
                    #"{"token":"\#(token)","message":{"aps":{"content-available":1}},"push_type":"background"}"#, "400",
                    "BadPriority"
                ),
                (
                    #"{"token":"\#(token)","message":{"aps":{"alert":"a"}},"topic":"com.example.bank"}"#, "400",
                    "DeviceTokenNotForTopic"
                ),
                (#"{"token":"abc","message":{"aps":{"alert":"a"}}}"#, "400", "BadDeviceToken"),
                (#"{"token":"\#(gone)","message":{"aps":{"alert":"a"}}}"#, "410", "Unregistered"),
            ]
            let found = try await run(simulator, cases.map { $0.0 }, count: 1)
            #expect(found.map { $0["status"] as? String } == cases.map(\.status))
            #expect(found.map { $0["reason"] as? String } == cases.map(\.reason))
            #expect(found.last?["timestamp"] is Int)
            let phone = try await simulator.control("GET", "/v1/devices/phone")
            let shown = ((phone["apps"] as? [[String: Any]])?.first?["shown"] as? [[String: Any]])
            #expect(shown?.map { $0["identifier"] as? String } == ["a"])
        }
    }

    @Test("aioapns sends many at once after the first, within the number of streams that was announced")
    func aioapnsMany() async throws {
        try await withSimulator { simulator async throws in
            let token = try await simulator.register()
            _ = try await simulator.control("PUT", "/v1/behaviour", #"{"maximumStreams":20}"#)
            let one = #"{"token":"\#(token)","message":{"aps":{"alert":"a"}}}"#
            let found = try await run(simulator, [one], count: 200)
            #expect(found.count == 200)
            #expect(found.allSatisfy { $0["status"] as? String == "200" })
            #expect(try await simulator.control("GET", "/v1/devices/phone")["received"] as? Int == 200)
        }
    }

    private func run(_ simulator: APNsSimulatorProcess, _ lines: [String], count: Int) async throws -> [[String: Any]] {
        let key = try #require(try simulator.place("key").split(separator: " ").first.map(String.init))
        let child = try ChildProcess(
            try Tools.python(),
            [
                Tools.client("aioapns_pushes.py"), "--port", try simulator.port("production"),
                "--ca", try simulator.place("authority"), "--key", key, "--key-id", "CARILLON01",
                "--team-id", "SIMULATEAM", "--topic", "com.example.shop", "--count", "\(count)",
            ],
            input: Data(lines.joined(separator: "\n").utf8)
        )
        #expect(try await child.ended() == 0, "\(child.lastWords)")
        return child.outputLines.compactMap { JSONText.object(Data($0.utf8)) }
    }

    @Test("h2load gets an answer to each of its requests, over several connections", arguments: [0, 20])
    func h2load(_ roundTrip: Int) async throws {
        let requests = 1_000
        try await withSimulator { simulator async throws in
            let token = try await simulator.register()
            _ = try await simulator.control("PUT", "/v1/behaviour", #"{"roundTrip":\#(Double(roundTrip) / 1_000)}"#)
            let authorization = try #require(
                try await simulator.control("POST", "/v1/keys/CARILLON01/tokens")["authorization"] as? String
            )
            let body = try simulator.folder.write(#"{"aps":{"alert":{"title":"On its way"}}}"#, to: "body")
            let found = try await ChildProcess.run(
                try Tools.program("h2load"),
                [
                    "-n", "\(requests)", "-c", "4", "-m", "50", "-d", body, "-H", "authorization: \(authorization)",
                    "-H", "apns-topic: com.example.shop", "-H", "apns-push-type: alert",
                    "\(try simulator.place("production"))/3/device/\(token)",
                ]
            )
            #expect(found.outputText.contains("\(requests) succeeded, 0 failed, 0 errored"), "\(found.outputText)")
            #expect(found.outputText.contains("status codes: \(requests) 2xx"), "\(found.outputText)")
            let statistics = try await simulator.control("GET", "/v1/statistics")
            #expect(statistics["accepted"] as? Int == requests)
            #expect(statistics["connections"] as? Int == 4)
        }
    }
}
