import Foundation
import Testing
import TestSupport

/// Both services with the channel `devices`, and the simulator of FCM as the push service.
@Suite("Services that reach Android devices themselves", .serialized)
struct AndroidDevicesTests {
    private struct World {
        let simulator: FCMSimulatorProcess
        let stack: Stack

        init() async throws {
            simulator = try await FCMSimulatorProcess()
            let file = try simulator.folder.write(
                """
                shop:
                  packages: com.example.shop
                  service-account: \(try simulator.place("account"))
                  channels: {passive: quiet, active: orders}
                """,
                to: "applications.yaml"
            )
            stack = try await Stack.start([
                "CARILLON_CHANNEL": "devices",
                "CARILLON_FCM_APPLICATIONS_FILE": file,
                "CARILLON_FCM_INTERNAL": "true",
                "CARILLON_FCM_URL": try simulator.place("messages"),
                "CARILLON_FCM_TIMEOUT": "2s",
                "CARILLON_EGRESS_CA_FILE": try simulator.place("authority"),
                "CARILLON_RETRY_FIRST_PAUSE": "100ms",
                "CARILLON_RETRY_LONGEST_PAUSE": "1s",
            ])
        }

        func end() async throws {
            try await stack.stop()
            await simulator.child.end()
        }

        /// An app registers on a phone of the simulator, and with the recipient.
        func register(_ device: String, of recipient: String) async throws {
            let token = try await simulator.register(device: device)
            let answer = try await stack.call(
                "PUT",
                "recipients/\(recipient)/devices/\(device)",
                #"{"platform":"fcm","token":"\#(token)","bundleIdentifier":"com.example.shop"}"#
            )
            #expect(answer.status == 202, "\(answer.text)")
            _ = try await stack.device("registered", device, of: recipient)
        }
    }

    private static func with(_ body: (World) async throws -> Void) async throws {
        let world = try await World()
        do {
            try await body(world)
        } catch {
            Issue.record(error, "\(world.stack.consumer.child.lastWords)")
        }
        try await world.end()
    }

    @Test("each device shows a notification, the next one in its place, and nothing once it is removed")
    func life() async throws {
        try await Self.with { world in
            let ana = world.stack.recipient()
            try await world.register("\(ana)-phone", of: ana)
            try await world.register("\(ana)-tablet", of: ana)
            try await world.stack.put(ana, "order", #"{"content":{"title":"On its way","sound":"default"}}"#)
            let delivered = try await world.stack.event("delivered", ana, "order")
            #expect(delivered["channel"] == "devices")
            #expect(try delivered.deviceOutcomes == ["\(ana)-phone accepted", "\(ana)-tablet accepted"])
            #expect(try await world.simulator.titles("\(ana)-phone") == ["On its way"])

            try await world.stack.put(ana, "order", #"{"content":{"title":"Delivered"}}"#)
            _ = try await world.stack.events("delivered", ana, "order", count: 2)
            #expect(try await world.simulator.titles("\(ana)-tablet") == ["Delivered"])

            try await world.stack.delete(ana, "order", state: "delivered")
            let removed = try await world.stack.event("removed", ana, "order")
            #expect(try removed.deviceOutcomes == ["\(ana)-phone requested", "\(ana)-tablet requested"])
            try await eventually("both show nothing") {
                let shown = try await world.simulator.titles("\(ana)-phone") + world.simulator.titles("\(ana)-tablet")
                return shown.isEmpty
            }

            let bodies = try await world.simulator.bodies("\(ana)-phone")
            #expect(bodies.count == 3)
            let checked = try ChildProcess(
                try Tools.python(),
                [Tools.client("fcm_discovery.py")],
                input: Data(bodies.joined(separator: "\n").utf8)
            )
            #expect(try await checked.ended() == 0, "\(checked.lastWords)")
            #expect(checked.outputLines.isEmpty, "\(checked.outputLines)")

            let page = try await world.stack.consumer.metrics
            for row in try BoundsTable().rows where row.key.hasPrefix("fcm.") {
                let metric = try #require(row.metric)
                #expect(page.contains("\n# TYPE \(metric) "), "\(row.key): \(metric) is not on the page")
            }
        }
    }

    @Test("a device without the app is retired, and the others get the notification")
    func uninstalled() async throws {
        try await Self.with { world in
            let ana = world.stack.recipient()
            try await world.register("\(ana)-phone", of: ana)
            try await world.register("\(ana)-tablet", of: ana)
            _ = try await world.simulator.control("DELETE", "/v1/devices/\(ana)-tablet/apps/com.example.shop")
            try await world.stack.put(ana, "order")
            let delivered = try await world.stack.event("delivered", ana, "order")
            #expect(try delivered.deviceOutcomes == ["\(ana)-phone accepted", "\(ana)-tablet rejected unregistered"])
            let retired = try await world.stack.device("retired", "\(ana)-tablet", of: ana)
            #expect(retired["reason"] == "unregistered")
        }
    }

    @Test("what FCM never answers is sent again, and is not shown twice")
    func silence() async throws {
        try await Self.with { world in
            let ana = world.stack.recipient()
            let phone = "\(ana)-phone"
            try await world.register(phone, of: ana)
            _ = try await world.simulator.control(
                "PUT",
                "/v1/faults/silent",
                #"{"effect":"silence","device":"\#(phone)","remaining":1}"#
            )
            try await world.stack.put(ana, "order", #"{"content":{"title":"Once"}}"#)
            _ = try await world.stack.event("delivered", ana, "order")
            #expect(try await world.simulator.titles(phone) == ["Once"])
        }
    }
}
