import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Both services with the channel `devices`, and the simulator of APNs as the push service.
@Suite("Services that reach Apple devices themselves", .serialized)
struct AppleDevicesTests {
    struct World {
        let simulator: APNsSimulatorProcess
        let stack: Stack

        init() async throws {
            simulator = try await APNsSimulatorProcess()
            // (id CARILLON01, team SIMULATEAM) follows the path.
            let key = try #require(try simulator.place("key").split(separator: " ").first)
            let file = try simulator.folder.write(
                """
                shop:
                  bundles: com.example.shop
                  team: SIMULATEAM
                  key: CARILLON01
                  key-file: \(key)
                """,
                to: "applications.yaml"
            )
            stack = try await Stack.start([
                "CARILLON_CHANNEL": "devices",
                "CARILLON_APNS_APPLICATIONS_FILE": file,
                "CARILLON_APNS_INTERNAL": "true",
                "CARILLON_APNS_PRODUCTION_URL": try simulator.place("production"),
                "CARILLON_APNS_DEVELOPMENT_URL": try simulator.place("development"),
                "CARILLON_APNS_TIMEOUT": "2s",
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
        func register(_ device: String, of recipient: String, locale: String = "en") async throws {
            let token = try await simulator.register(device: device)
            let answer = try await stack.call(
                "PUT",
                "recipients/\(recipient)/devices/\(device)",
                #"{"platform":"apns","token":"\#(token)","bundleIdentifier":"com.example.shop","locale":"\#(locale)"}"#
            )
            #expect(answer.status == 202, "\(answer.text)")
            _ = try await stack.device("registered", device, of: recipient)
        }

        /// The titles that a phone shows.
        func titles(_ device: String) async throws -> [String] {
            try await alerts(device).compactMap { $0["title"] as? String }
        }

        /// The alerts that a phone shows.
        func alerts(_ device: String) async throws -> [[String: Any]] {
            let apps = try await simulator.control("GET", "/v1/devices/\(device)")["apps"] as? [[String: Any]]
            let shown = apps?.first?["shown"] as? [[String: Any]] ?? []
            return shown.compactMap { shown in
                let aps = (shown["payload"] as? [String: Any])?["aps"] as? [String: Any]
                return aps?["alert"] as? [String: Any]
            }
        }
    }

    static func with(_ body: (World) async throws -> Void) async throws {
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
            try await world.stack.put(ana, "order", #"{"content":{"title":"On its way"}}"#)
            let delivered = try await world.stack.event("delivered", ana, "order")
            #expect(delivered["channel"] == "devices")
            #expect(try delivered.deviceOutcomes == ["\(ana)-phone accepted", "\(ana)-tablet accepted"])
            #expect(try await world.titles("\(ana)-phone") == ["On its way"])
            let long = String(repeating: "b", count: 5000)
            try await world.stack.put(ana, "long", #"{"content":{"title":"Long","body":"\#(long)"}}"#)
            let reduced = try await world.stack.event("delivered", ana, "long").object()["devices"] as? [[String: Any]]
            #expect(reduced?.compactMap { $0["reduced"] as? [String] } == [["body"], ["body"]])
            try await world.stack.delete(ana, "long", state: "delivered")
            _ = try await world.stack.event("removed", ana, "long")

            try await world.stack.put(ana, "order", #"{"content":{"title":"Delivered"}}"#)
            _ = try await world.stack.events("delivered", ana, "order", count: 2)
            #expect(try await world.titles("\(ana)-tablet") == ["Delivered"])

            try await world.stack.delete(ana, "order", state: "delivered")
            let removed = try await world.stack.event("removed", ana, "order")
            #expect(try removed.deviceOutcomes == ["\(ana)-phone requested", "\(ana)-tablet requested"])
            try await eventually("both show nothing") {
                let shown = try await world.titles("\(ana)-phone") + world.titles("\(ana)-tablet")
                return shown.isEmpty
            }

            let page = try await world.stack.consumer.metrics
            for row in try BoundsTable().rows where row.key.hasPrefix("apns.") {
                let metric = try #require(row.metric)
                #expect(page.contains("\n# TYPE \(metric) "), "\(row.key): \(metric) is not on the page")
            }
        }
    }

    @Test("each phone shows the texts of its own locale, and keys that its app looks up")
    func locales() async throws {
        try await Self.with { world in
            let ana = world.stack.recipient()
            try await world.register("\(ana)-a", of: ana, locale: "de-AT")
            try await world.register("\(ana)-b", of: ana, locale: "fr")
            try await world.stack.put(
                ana,
                "order",
                """
                {"content":{"title":"On its way","titleLocalization":{"key":"SHIPPED","arguments":["1001"]},
                            "localizations":{"de":{"title":"Unterwegs"}}}}
                """
            )
            let devices = try await world.stack.event("delivered", ana, "order").object()["devices"] as? [[String: Any]]
            #expect(devices?.map { $0["localization"] as? String } == ["de", nil])
            #expect(try await world.titles("\(ana)-a") == ["Unterwegs"])
            let other = try await world.alerts("\(ana)-b")
            #expect(other.count == 1 && other[0]["title"] == nil && other[0]["title-loc-key"] as? String == "SHIPPED")
            #expect(other.first?["title-loc-args"] as? [String] == ["1001"])
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
            try await world.stack.put(ana, "next")
            #expect(
                try await world.stack.event("delivered", ana, "next").deviceOutcomes == ["\(ana)-phone accepted"]
            )
        }
    }

    @Test("what APNs never answers is sent again under its id, and what a killed service had sent is not shown twice")
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
            #expect(try await world.titles(phone) == ["Once"])

            _ = try await world.simulator.control(
                "PUT",
                "/v1/faults/slow",
                #"{"effect":"delay","seconds":1,"device":"\#(phone)"}"#
            )
            try await world.stack.put(ana, "second", #"{"content":{"title":"Second"}}"#)
            try await eventually("APNs has the second one") {
                try await world.titles(phone).contains("Second")
            }
            world.stack.consumer.child.signal(SIGKILL)
            _ = try await world.stack.consumer.child.ended()
            _ = try await world.simulator.control("DELETE", "/v1/faults")
            try await world.stack.restartConsumer()
            _ = try await world.stack.event("delivered", ana, "second")
            #expect(try await world.titles(phone).sorted() == ["Once", "Second"])
        }
    }
}
