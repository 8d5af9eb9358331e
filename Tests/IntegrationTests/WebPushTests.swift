import Foundation
import Testing
import TestSupport

/// Both services with the channel `devices`, and a push service whose browsers decrypt with another library.
@Suite("Services that reach browsers themselves", .serialized)
struct WebPushTests {
    private struct World {
        let folder: TemporaryFolder
        let service: PushServiceProcess
        let stack: Stack
        let publicKey: String

        init() async throws {
            folder = try TemporaryFolder()
            service = try await PushServiceProcess(in: folder)
            let made = try ChildProcess(
                try Tools.product("carillon"),
                ["webpush", "keys", folder.file("vapid.pem")]
            )
            #expect(try await made.ended() == 0, "\(made.lastWords)")
            publicKey = String(try #require(made.outputLines.first))
            let file = try folder.write(
                """
                shop:
                  key-file: \(folder.file("vapid.pem"))
                  subject: mailto:push@shop.example
                  navigate: https://shop.example/open?target={target}
                """,
                to: "applications.yaml"
            )
            stack = try await Stack.start([
                "CARILLON_CHANNEL": "devices",
                "CARILLON_WEBPUSH_APPLICATIONS_FILE": file,
                "CARILLON_WEBPUSH_INTERNAL_ORIGINS": service.origin,
                "CARILLON_WEBPUSH_TIMEOUT": "5s",
                "CARILLON_EGRESS_CA_FILE": service.certificate,
                "CARILLON_RETRY_FIRST_PAUSE": "100ms",
                "CARILLON_RETRY_LONGEST_PAUSE": "1s",
            ])
        }

        func end() async throws {
            try await stack.stop()
            await service.child.end()
        }

        func control(_ method: String, _ browser: String) async throws -> [String: Any] {
            let answer = try await Curl.send(
                method,
                "\(service.origin)/control/browsers/\(browser)",
                options: ["--cacert", folder.file("server.pem")]
            )
            #expect((200..<300).contains(answer.status), "\(answer.status) \(answer.text)")
            return JSONText.object(answer.body) ?? [:]
        }

        /// A browser subscribes, and the page registers it.
        func register(_ browser: String, of recipient: String) async throws {
            let subscription = try await control("POST", browser)
            let token = try JSONSerialization.data(withJSONObject: subscription)
            let body = try JSONSerialization.data(
                withJSONObject: ["platform": "webpush", "token": String(decoding: token, as: UTF8.self)]
            )
            let answer = try await stack.call(
                "PUT",
                "recipients/\(recipient)/devices/\(browser)",
                String(decoding: body, as: UTF8.self)
            )
            #expect(answer.status == 202, "\(answer.text)")
            _ = try await stack.device("registered", browser, of: recipient)
        }

        func titles(_ browser: String) async throws -> [String] {
            (try await control("GET", browser)["shown"] as? [[String: Any]] ?? []).compactMap { $0["title"] as? String }
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

    /// Of the devices, in the order of their names.
    @Test("a browser shows a notification, the next one in its place, and nothing once it is removed")
    func life() async throws {
        try await Self.with { world in
            let ana = world.stack.recipient()
            try await world.register("\(ana)-firefox", of: ana)
            try await world.register("\(ana)-chromium", of: ana)
            try await world.stack.put(
                ana,
                "order",
                #"{"content":{"title":"On its way","body":"Grüße 🙂","targetContentIdentifier":"orders/1"}}"#
            )
            let delivered = try await world.stack.event("delivered", ana, "order")
            #expect(delivered["channel"] == "devices")
            #expect(try delivered.deviceOutcomes == ["\(ana)-chromium accepted", "\(ana)-firefox accepted"])
            #expect(try await world.titles("\(ana)-firefox") == ["On its way"])

            try await world.stack.put(ana, "order", #"{"content":{"title":"Delivered"}}"#)
            _ = try await world.stack.events("delivered", ana, "order", count: 2)
            #expect(try await world.titles("\(ana)-chromium") == ["Delivered"])

            try await world.stack.delete(ana, "order", state: "delivered")
            let removed = try await world.stack.event("removed", ana, "order")
            #expect(try removed.deviceOutcomes == ["\(ana)-chromium requested", "\(ana)-firefox requested"])
            try await eventually("both show nothing") {
                let shown = try await world.titles("\(ana)-firefox") + world.titles("\(ana)-chromium")
                return shown.isEmpty
            }
            let messages = try await world.control("GET", "\(ana)-firefox")["messages"] as? [[String: Any]] ?? []
            let topics = messages.compactMap { ($0["headers"] as? [String: Any])?["topic"] as? String }
            #expect(messages.count == 3 && topics.count == 3 && Set(topics).count == 1)

            let page = try await world.stack.consumer.metrics
            for row in try BoundsTable().rows where row.key.hasPrefix("webpush.") {
                let metric = try #require(row.metric)
                #expect(page.contains("\n# TYPE \(metric) "), "\(row.key): \(metric) is not on the page")
            }
        }
    }

    @Test("a browser that has unsubscribed is retired, and the others get the notification")
    func unsubscribed() async throws {
        try await Self.with { world in
            let ana = world.stack.recipient()
            try await world.register("\(ana)-firefox", of: ana)
            try await world.register("\(ana)-chromium", of: ana)
            _ = try await world.control("DELETE", "\(ana)-firefox")
            try await world.stack.put(ana, "order")
            let delivered = try await world.stack.event("delivered", ana, "order")
            #expect(
                try delivered.deviceOutcomes == ["\(ana)-chromium accepted", "\(ana)-firefox rejected unregistered"]
            )
            let retired = try await world.stack.device("retired", "\(ana)-firefox", of: ana)
            #expect(retired["reason"] == "unregistered")
        }
    }

    @Test("the key that was made is shown again, and what is no subscription is refused at the door")
    func door() async throws {
        try await Self.with { world in
            let shown = try ChildProcess(
                try Tools.product("carillon"),
                ["webpush", "keys", world.folder.file("vapid.pem")]
            )
            #expect(try await shown.ended() == 0 && shown.outputLines.map(String.init) == [world.publicKey])
            #expect(world.publicKey.utf8.count == 87)
            let rights = try FileManager.default.attributesOfItem(atPath: world.folder.file("vapid.pem"))
            #expect((rights[.posixPermissions] as? Int) == 0o600)
            let answer = try await world.stack.call(
                "PUT",
                "recipients/\(world.stack.recipient())/devices/web",
                #"{"platform":"webpush","token":"{\"endpoint\":\"http://push.example.net/secret\"}"}"#
            )
            #expect(answer.status == 400 && answer["field"] == "token.endpoint" && !answer.text.contains("secret"))
        }
    }
}
