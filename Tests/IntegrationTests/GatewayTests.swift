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

/// The example of a gateway in `deploy/examples/gateway`, between both services and a server that plays APNs.
@Suite("The example of a gateway", .serialized)
struct GatewayTests {
    private static let deployment = "gateway"
    private static let examples = Tools.package.appendingPathComponent("deploy/examples/gateway")
    /// In a path, and as the events have it.
    private static let (path, recipient) = ("ana%2F1", "ana/1")

    /// What the server that plays APNs got.
    private struct Push {
        let object: [String: Any]

        init?(line: Substring) {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                object["token"] != nil
            else { return nil }
            self.object = object
        }

        var token: String { object["token"] as? String ?? "" }
        var status: Int { object["status"] as? Int ?? 0 }
        var headers: [String: String] { object["headers"] as? [String: String] ?? [:] }
        var shown: [String]? { object["shown"] as? [String] }
        var payload: [String: Any] { object["payload"] as? [String: Any] ?? [:] }
        var aps: [String: Any] { payload["aps"] as? [String: Any] ?? [:] }
        var alert: [String: Any] { aps["alert"] as? [String: Any] ?? [:] }
        var carillon: [String: Any] { payload["carillon"] as? [String: Any] ?? [:] }
    }

    /// Everything that runs.
    private final class Desk {
        let cluster: Cluster
        let folder: TemporaryFolder
        let apns: ChildProcess
        let producer: ServiceProcess
        let consumer: ServiceProcess
        let deliveries: KcatTopic
        let responses: KcatTopic
        private(set) var gateway: ChildProcess?

        init(_ cluster: Cluster) throws {
            self.cluster = cluster
            folder = try TemporaryFolder()
            let settings = ServiceProcess.settings(cluster, deployment: GatewayTests.deployment)
            producer = try ServiceProcess.producer(settings, deployment: GatewayTests.deployment)
            consumer = try ServiceProcess.consumer(settings, deployment: GatewayTests.deployment)
            deliveries = try KcatTopic(cluster, "deliveries")
            responses = try KcatTopic(cluster, "responses")
            apns = try ChildProcess(
                try Tools.python(),
                [Tools.client("apns.py"), "--ca", folder.file("ca.pem"), "--key", folder.file("key.p8")]
            )
        }

        func start() async throws {
            var port = 0
            try await eventually("the server that plays APNs listens", orSay: { self.apns.lastWords }) {
                let first = apns.outputLines.first.flatMap { JSONText.member("port", of: Data($0.utf8)) }
                port = first.flatMap { Int($0) } ?? 0
                return port > 0
            }
            for service in [producer, consumer] { try await service.ready() }
            gateway = try ChildProcess(
                try Tools.python(),
                [
                    GatewayTests.examples.appendingPathComponent("gateway.py").path,
                    "--bootstrap", cluster.bootstrapServers, "--prefix", cluster.prefix,
                    "--carillon", try await producer.http, "--key", folder.file("key.p8"), "--key-id", "ABC123DEFG",
                    "--team-id", "DEF123GHIJ", "--apns", "https://127.0.0.1:\(port)", "--apns-ca",
                    folder.file("ca.pem"),
                ],
                environment: ["PYTHONDONTWRITEBYTECODE": "1"]
            )
        }

        /// - Returns: how the gateway has ended.
        func end() async throws -> Int32? {
            gateway?.signal(SIGTERM)
            let status = try await gateway?.ended()
            for child in [consumer.child, producer.child, deliveries.process, responses.process, apns] {
                await child.end()
            }
            return status
        }

        var lastWords: String { [gateway, apns].compactMap { $0?.lastWords }.joined(separator: "\n") }

        func call(_ method: String, _ path: String, _ body: String? = nil, token: String? = nil) async throws {
            var headers = body == nil ? [] : [("content-type", "application/json")]
            if let token { headers.append(("authorization", "Bearer \(token)")) }
            let answer = try await Curl.send(
                method,
                "\(try await producer.http)/v1/\(path)",
                headers: headers,
                body: body.map { Data($0.utf8) }
            )
            #expect(answer.status == 202, "\(method) \(path): \(answer.text)")
        }

        func register(_ device: String, token: String, more: String = "") async throws {
            let app = #""environment":"production","bundleIdentifier":"com.example.shop""#
            try await call(
                "PUT",
                "recipients/\(GatewayTests.path)/devices/\(device)",
                #"{"platform":"apns","token":"\#(token)",\#(app)\#(more)}"#
            )
        }

        /// The newest push to a token that APNs has taken, once it is the wanted one.
        func push(_ token: String, _ what: String, where isWanted: (Push) -> Bool) async throws -> Push {
            var found: Push?
            try await eventually(what, orSay: { self.lastWords }) {
                found = apns.outputLines.compactMap(Push.init).last { $0.token == token && $0.status == 200 }
                return found.map(isWanted) ?? false
            }
            return try #require(found)
        }

        /// What the events say of the attempts at a device, in their order.
        func attempts(_ device: String, _ count: Int) async throws -> [String] {
            try await deliveries.records(count, "device.attempted of \(device)") {
                $0.name == "device.attempted" && $0["device"] == device
            }.map { [$0["outcome"], $0["detail"]].compactMap { $0 }.joined(separator: " ") }
        }
    }

    private static func token(_ head: String) -> String { head + String(repeating: "0", count: 64 - head.count) }

    @Test("pushes, replaces, removes and reports through APNs, and the phone's answer becomes a response event")
    func gateway() async throws {
        try await CarillonCommand.withCluster { carillon in
            let desk = try Desk(carillon.cluster)
            do {
                try await desk.start()
                try await play(desk)
                #expect(try await desk.end() == 0, "\(desk.lastWords)")
            } catch {
                Issue.record(error, "\(desk.lastWords)\n\(desk.consumer.child.lastWords)")
                _ = try? await desk.end()
            }
        }
    }

    private func play(_ desk: Desk) async throws {
        let (phone, busy) = (Self.token("aa"), Self.token("b057"))
        let categories = #"{"categories":[{"identifier":"ORDER","actions":[{"identifier":"reply","title":"Reply"}]}]}"#
        try await desk.call("PUT", "categories", categories)
        let quiet = #","authorizationStatus":"provisional""#
        for (name, token, more) in [
            ("phone", phone, ""), ("busy", busy, ""), ("quiet", Self.token("cc"), quiet),
            ("gone", Self.token("dead"), ""),
            ("bad", Self.token("bad"), ""),
        ] {
            try await desk.register(name, token: token, more: more)
        }
        _ = try await desk.deliveries.records(5, "registered") { $0.name == "carillon.device.registered" }

        let expiration = Date.now.addingTimeInterval(86_400)
        let at = Date.ISO8601FormatStyle(includingFractionalSeconds: true).format(expiration)
        func content(_ title: String) -> String {
            """
            {"content":{"title":"\(title)","subtitle":"Order 1001","bodyLocalization":{"key":"SHIPPED","arguments":["1001"]},"badge":3,
             "sound":{"name":"bell.caf"},"categoryIdentifier":"ORDER","threadIdentifier":"orders","interruptionLevel":"timeSensitive",
             "relevanceScore":0.5,"mutableContent":true,"userInfo":{"orderId":"1001"}},"expiration":"\(at)"}
            """
        }
        try await desk.call("PUT", "recipients/\(Self.path)/notifications/order", content("On its way"))

        // What the phone gets.
        let first = try await desk.push(phone, "the phone shows it") { $0.shown == ["On its way"] }
        #expect(first.headers["apns-push-type"] == "alert" && first.headers["apns-priority"] == "10")
        #expect(first.headers["apns-topic"] == "com.example.shop")
        #expect(first.headers["apns-expiration"] == "\(Int(expiration.timeIntervalSince1970))")
        #expect(first.alert["subtitle"] as? String == "Order 1001" && first.alert["loc-key"] as? String == "SHIPPED")
        #expect(first.alert["loc-args"] as? [String] == ["1001"] && first.alert["body"] == nil)
        #expect(first.aps["interruption-level"] as? String == "time-sensitive")
        #expect(first.aps["badge"] as? Int == 3 && first.aps["sound"] as? String == "bell.caf")
        #expect(first.aps["category"] as? String == "ORDER" && first.aps["thread-id"] as? String == "orders")
        #expect(first.aps["mutable-content"] as? Int == 1 && first.payload["orderId"] as? String == "1001")
        let sequence = try #require(first.carillon["sequence"] as? String)
        // In the list only.
        let silent = try await desk.push(Self.token("cc"), "the quiet phone shows it") { $0.shown == ["On its way"] }
        #expect(silent.aps["sound"] == nil && silent.aps["interruption-level"] as? String == "passive")
        #expect(silent.headers["apns-priority"] == "5")

        // What the events say of it.
        #expect(try await desk.attempts("phone", 1) == ["accepted"])
        #expect(try await desk.attempts("gone", 1) == ["unregistered Unregistered"])
        #expect(try await desk.attempts("bad", 1) == ["rejected BadDeviceToken"])
        #expect(try await desk.attempts("busy", 2) == ["deferred ServiceUnavailable", "accepted"])
        let retired = try await desk.deliveries.records(1, "gone is retired") { $0.name == "carillon.device.retired" }
        #expect(retired[0]["device"] == "gone" && retired[0]["reason"] == "unregistered")

        // A newer one replaces it, and has its collapse id; both are removed where they are shown.
        try await desk.call("PUT", "recipients/\(Self.path)/notifications/order", content("Arrived"))
        let second = try await desk.push(phone, "the phone shows the newer one") { $0.shown == ["Arrived"] }
        #expect(second.headers["apns-collapse-id"] == first.headers["apns-collapse-id"])
        #expect(second.headers["apns-id"] != first.headers["apns-id"])
        try await desk.call("PUT", "recipients/\(Self.path)/notifications/other", content("Other"))
        _ = try await desk.push(phone, "both are shown") { $0.shown == ["Arrived", "Other"] }
        try await desk.call("DELETE", "recipients/\(Self.path)/notifications/other?state=delivered")
        let removal = try await desk.push(phone, "the other is removed") { $0.shown == ["Arrived"] }
        #expect(removal.headers["apns-push-type"] == "background" && removal.headers["apns-collapse-id"] == nil)
        // What the app compares is later than what was delivered.
        let asked = try #require(removal.carillon["remove"] as? [String: String])
        #expect(asked.count == 1 && asked.values.allSatisfy { $0 > sequence })

        // A device that is deleted is asked to remove what it shows, with the registration that the event has.
        _ = try await desk.push(busy, "busy shows it") { $0.shown == ["Arrived"] }
        try await desk.call("DELETE", "recipients/\(Self.path)/devices/busy")
        _ = try await desk.push(busy, "busy is cleared") { $0.shown == [] }

        // The phone answers with what is in the payload, and a token of its back end.
        let minted = try await ChildProcess.run(
            try Tools.python(),
            [
                Self.examples.appendingPathComponent("recipient_token.py").path, "--key", desk.folder.file("key.p8"),
                "--key-id", "shop-2026", "--application", "shop", "--recipient", Self.recipient,
            ]
        )
        let token = try #require(minted.outputLines.first.map(String.init))
        #expect(token.split(separator: ".").count == 3)
        func member(_ name: String) throws -> String { try #require(second.carillon[name] as? String) }
        let named = try ["identifier", "requestId", "device"].map { #""\#($0)":"\#(try member($0))""# }
        try await desk.call(
            "POST",
            "recipients/\(Self.path)/responses?application=\(try member("application"))",
            #"{\#(named.joined(separator: ",")),"actionIdentifier":"reply"}"#,
            token: token
        )
        let response = try await desk.responses.records(1, "the answer") { $0["actionIdentifier"] == "reply" }
        #expect(response[0]["matched"] == "true" && response[0]["device"] == "phone")
        #expect(response[0]["recipient"] == Self.recipient)
        // The other device clears it.
        _ = try await desk.push(Self.token("cc"), "the quiet phone is cleared") { $0.shown == [] }
    }
}
