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

/// The consumer service with the channel `webhook`, and an independent receiver that verifies each request.
@Suite("A consumer service with the channel webhook", .serialized)
struct WebhookTests {
    private static let deployment = "webhook"
    private static let keys = [
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_" + Data(repeating: 9, count: 32).base64EncodedString(),
    ]

    /// The receiver, which can end and come back on the same port.
    private final class Receiver {
        private struct Request: Decodable {
            var mode: String?
            var key: String?
            var type: String?
            var requestId: String?
            var by: String?
            var subject: String?
            var devices: [String]?
            var actions: [String]?
            var errors: [String]?
            var changed: String?
            var port: Int?
        }

        private var ended: [Request] = []
        private(set) var process: ChildProcess?
        private(set) var port = 0

        func start() async throws {
            var arguments = [Tools.client("webhook.py"), "--source", "/carillon/\(WebhookTests.deployment)", "--keys"]
            arguments += WebhookTests.keys + ["--port", "\(port)"]
            let process = try ChildProcess(try Tools.python(), arguments, keepsInput: true)
            self.process = process
            try await eventually("the receiver listens", orSay: { process.lastWords }) {
                guard process.isRunning else { throw ChildProcess.Failure(description: process.lastWords) }
                port = try lines.compactMap(\.port).first ?? 0
                return port > 0
            }
        }

        func end() async throws {
            guard let process else { return }
            await process.end()
            ended += try lines
            self.process = nil
        }

        private var lines: [Request] {
            get throws {
                try (process?.outputLines ?? []).map { try JSONDecoder().decode(Request.self, from: Data($0.utf8)) }
            }
        }

        private var requests: [Request] { get throws { try (ended + lines).filter { $0.mode != nil } } }

        func answer(_ mode: String) async throws {
            try process?.write(mode)
            try await eventually("the receiver answers \(mode)") {
                try lines.last { $0.changed != nil }?.changed == mode
            }
        }

        /// The requests that arrived in a mode, by the id of the notification's request.
        func received(_ mode: String, type: String = "delivered") throws -> [String] {
            try requests.filter { $0.mode == mode && $0.type == "carillon.notification.\(type).v1" }
                .compactMap(\.requestId)
        }

        /// What the removals that arrived were caused by.
        func causes() throws -> [String?] {
            try requests.filter { $0.type == "carillon.notification.removed.v1" }.map(\.by)
        }

        /// What arrived of a notification: the type, the devices and the actions.
        func arrived(_ subject: String) throws -> [String] {
            try requests.filter { $0.subject == subject }.map { request in
                let name = request.type?.split(separator: ".").dropLast().last ?? ""
                return
                    "\(name) on \(request.devices?.joined(separator: " ") ?? "") \(request.actions?.joined(separator: " ") ?? "")"
            }
        }

        var errors: [String] { get throws { try requests.flatMap { $0.errors ?? [] } } }

        /// The ids of the requests for each notification.
        var keys: [String: Set<String>] {
            get throws {
                try requests.reduce(into: [:]) { keys, request in
                    guard let id = request.requestId, let type = request.type else { return }
                    keys["\(type) \(id)", default: []].insert(request.key ?? "")
                }
            }
        }
    }

    /// In a new group: the embedded broker admits a first member immediately.
    private func start(
        _ cluster: Cluster,
        _ number: Int,
        port: Int,
        keys: String,
        channel: String = "webhook"
    ) throws -> ServiceProcess {
        var settings = ServiceProcess.settings(cluster, deployment: Self.deployment)
        settings["CARILLON_CONSUMER_START"] = "earliest"
        settings["CARILLON_CHANNEL"] = channel
        settings["CARILLON_CHANNELS"] = "webhook"
        settings["CARILLON_WEBHOOK_URL"] = "http://127.0.0.1:\(port)/hooks"
        settings["CARILLON_WEBHOOK_INTERNAL"] = "true"
        settings["CARILLON_WEBHOOK_KEYS_FILE"] = keys
        settings["CARILLON_WEBHOOK_TIMEOUT"] = "400ms"
        settings["CARILLON_WEBHOOK_CONNECTIONS"] = "16"
        settings["CARILLON_WEBHOOK_BREAKER_FAILURES"] = "4"
        settings["CARILLON_WEBHOOK_BREAKER_FIRST_PAUSE"] = "200ms"
        settings["CARILLON_WEBHOOK_BREAKER_LONGEST_PAUSE"] = "500ms"
        settings["CARILLON_RETRY_FIRST_PAUSE"] = "100ms"
        settings["CARILLON_RETRY_LONGEST_PAUSE"] = "1s"
        return try ServiceProcess.consumer(settings, deployment: "\(Self.deployment)-\(number)")
    }

    @Test("every notification arrives, signed, whatever the endpoint does, and across a restart of the service")
    func deliversThroughFailures() async throws {
        let cluster = try Cluster.inProcess()
        let clients = RequestClients(cluster)
        let deliveries = try KcatTopic(cluster, "deliveries")
        let folder = try TemporaryFolder()
        let keys = try folder.write(Self.keys.joined(separator: "\n"), to: "keys")
        let receiver = Receiver()
        var consumer: ServiceProcess?
        do {
            try await receiver.start()
            let first = try start(cluster, 0, port: receiver.port, keys: keys)
            consumer = first
            try await first.ready()
            try await clients.publish(RequestBatch(name: "fine", count: 50))
            _ = try await clients.account(open: 0)
            // A single notification at a time would not open the breaker in each case.
            for mode in ["500", "429 1", "hang", "trickle", "redirect", "garbage", "drop"] {
                try await receiver.answer(mode)
                try await clients.publish(RequestBatch(name: mode.filter(\.isLetter) + "m", count: 8))
                try await eventually("some attempts fail with \(mode)", orSay: { first.child.lastWords }) {
                    try receiver.received(mode).count >= 4
                }
                try await receiver.answer(mode == "drop" ? "once" : "204")
                _ = try await clients.account(open: 0)
            }
            let metrics = try await first.metrics
            for outcome in [
                "accepted", "server-error", "throttled", "timed-out", "redirected", "invalid", "disconnected",
            ] {
                let line = "carillon_webhook_requests_total{outcome=\"\(outcome)\"} "
                let value = metrics.split(separator: "\n").first { $0.hasPrefix(line) }?.dropFirst(line.count)
                #expect((value.flatMap { Double($0) } ?? 0) > 0, "\(outcome): \(value ?? "none")")
            }
            for row in try BoundsTable().rows where row.key.hasPrefix("webhook.") {
                guard let metric = row.metric else { continue }
                #expect(metrics.contains("\n# TYPE \(metric) "), "\(row.key): \(metric)")
            }

            // Away, with many waiting.
            try await receiver.end()
            try await clients.publish(RequestBatch(name: "away", count: 3000))
            try await eventually("the breaker is open", orSay: { first.child.lastWords }) {
                try await first.metrics.contains("\ncarillon_webhook_breaker_open 1\n")
            }
            #expect(try await first.health("ready").text.contains("circuit breaker"))
            #expect(try await first.health("ready").status == 200)
            first.child.signal(SIGKILL)
            #expect(try await first.child.ended() == -SIGKILL)
            let last = try start(cluster, 1, port: receiver.port, keys: keys)
            consumer = last
            try await last.ready()
            try await eventually("the breaker is open again", orSay: { last.child.lastWords }) {
                try await last.metrics.contains("\ncarillon_webhook_breaker_open 1\n")
            }
            try await receiver.start()
            let account = try await clients.account(open: 0)
            #expect(account.closed == clients.accepted.count, "\(account)")
            let accepted = Set(clients.accepted)
            let arrived = try Set(receiver.received("204")).union(receiver.received("once"))
            #expect(accepted.subtracting(arrived).isEmpty, "\(accepted.subtracting(arrived).count) did not arrive")
            #expect(try await last.metrics.contains("\ncarillon_webhook_breaker_open 0\n"))
            for record in deliveries.records where record["requestId"].map(accepted.contains) == true {
                #expect(record.name == "delivered" && record["channel"] == "webhook", "\(record.payload ?? "")")
            }
            #expect(try receiver.errors == [])
            #expect(try receiver.keys.allSatisfy { $0.value.count == 1 }, "an attempt has another key")

            // Refused for good.
            try await receiver.answer("410")
            try await clients.publish(RequestBatch(name: "refused", count: 10))
            let failed = try await deliveries.records(10, "failed") { $0.name == "failed" }
            #expect(failed.allSatisfy { $0["reason"] == "unregistered" })
            let log = last.child.errorText + first.child.errorText
            for secret in Self.keys.map({ $0.dropFirst(6) }) + ["/hooks", "Scenario"] {
                #expect(!log.contains(secret), "\(secret) is in the log")
            }
            last.child.signal(SIGTERM)
            #expect(try await last.child.ended() == 0, "\(last.child.lastWords)")
        } catch {
            Issue.record(error, "\(consumer?.child.lastWords ?? "")")
        }
        await consumer?.child.end()
        await clients.end()
        await deliveries.process.end()
        try await receiver.end()
        try await cluster.stop()
    }

    @Test("a notification leaves through the channel that it names; for a missing channel it is a dead letter")
    func severalChannels() async throws {
        try await CarillonCommand.withCluster { carillon in
            let receiver = Receiver()
            let folder = try TemporaryFolder()
            let deliveries = try KcatTopic(carillon.cluster, "deliveries")
            var consumer: ServiceProcess?
            func send(_ identifier: String, _ channel: String?) async throws -> String {
                let sent = try await carillon.shell(
                    "\"$carillon\" send notification --recipient ana --identifier \(identifier) --title T --json"
                        + (channel.map { " --channel \($0)" } ?? "")
                )
                return try #require(sent.members("requestId").first ?? nil, "\(sent.errors)")
            }
            func delivered(_ id: String) async throws -> KcatRecord {
                try await deliveries.records(1, "delivered \(id)") { $0.name == "delivered" && $0["requestId"] == id }[
                    0
                ]
            }
            do {
                try await receiver.start()
                let keys = try folder.write(Self.keys.joined(separator: "\n"), to: "keys")
                let service = try start(carillon.cluster, 2, port: receiver.port, keys: keys, channel: "events")
                consumer = service
                try await service.ready()
                let (plain, posted) = (try await send("a", nil), try await send("b", "webhook"))
                let (missing, named) = (try await send("c", "test"), try await send("d", "events"))
                for (id, channel) in [(plain, "events"), (posted, "webhook"), (named, "events")] {
                    #expect(try await delivered(id)["channel"] == channel)
                }
                let letters = try KcatTopic(carillon.cluster, "dead-letters")
                let letter = try await letters.records(1, "dead letter") { _ in true }[0]
                #expect(letter["requestId"] == missing && letter.headers.values.contains("unsupported-form"))
                #expect(letter.headers.values.contains { $0.contains("`channels`") }, "\(letter.headers)")
                await letters.process.end()
                #expect(try receiver.received("204") == [posted])
                // Through another channel: what the first one shows is taken back.
                let newer = try await delivered(try await send("b", "events"))
                #expect(newer["channel"] == "events" && newer["replaces"] == posted)
                try await eventually("the receiver is asked to remove it", orSay: { service.child.lastWords }) {
                    try receiver.received("204", type: "removed") == [posted]
                }
                #expect(try receiver.causes() == [newer["requestId"]])
                #expect(try receiver.received("204") == [posted])
                #expect(try receiver.errors == [])
            } catch {
                Issue.record(error, "\(consumer?.child.lastWords ?? "")")
            }
            await consumer?.child.end()
            await deliveries.process.end()
            try await receiver.end()
        }
    }

    @Test(
        "the receiver gets the devices and the actions, and each device is cleared when it is answered, moved or deleted"
    )
    func devices() async throws {
        try await CarillonCommand.withCluster { carillon in
            let receiver = Receiver()
            let folder = try TemporaryFolder()
            var services: [ServiceProcess] = []
            func run(_ command: String) async throws -> CarillonCommand.End {
                let end = try await carillon.shell("\"$carillon\" \(command)")
                #expect(end.status == 0, "\(command): \(end.errors)")
                return end
            }
            func arrives(_ expected: String, _ subject: String) async throws {
                try await eventually("\(subject): \(expected)", orSay: { services.last?.child.lastWords ?? "" }) {
                    try receiver.arrived(subject).contains(expected)
                }
            }
            do {
                try await receiver.start()
                let keys = try folder.write(Self.keys.joined(separator: "\n"), to: "keys")
                let set = #"{"categories":[{"identifier":"ORDER","actions":[{"identifier":"track","title":"Track"}]}]}"#
                let categories = try folder.write(set, to: "categories.json")
                let producer = try ServiceProcess.producer(
                    ServiceProcess.settings(carillon.cluster, deployment: Self.deployment),
                    deployment: Self.deployment
                )
                services.append(producer)
                services.append(try start(carillon.cluster, 4, port: receiver.port, keys: keys))
                for service in services { try await service.ready() }
                let url = try await producer.http
                _ = try await run("categories set '\(categories)' --application shop --url \(url)")
                for (device, token) in [("phone", "one"), ("tablet", "two")] {
                    _ = try await run(
                        "device add --recipient ana --device \(device) --platform fcm --token \(token) --url \(url)"
                    )
                }
                let deliveries = try KcatTopic(carillon.cluster, "deliveries")
                _ = try await deliveries.records(2, "registered") { $0.name == "carillon.device.registered" }
                var requests: [String: String] = [:]
                for name in ["answered", "moved", "deleted"] {
                    let sent = try await run(
                        "send notification --recipient ana --identifier \(name) --title T --category ORDER --json"
                    )
                    requests[name] = try #require(sent.members("requestId").first ?? nil)
                    try await arrives("delivered on phone tablet track", "shop/ana/\(name)")
                }
                let id = try #require(requests["answered"])
                _ = try await run(
                    "send response --application shop --recipient ana --identifier answered --request-id \(id) --device phone --action track"
                )
                try await arrives("removed on tablet ", "shop/ana/answered")
                _ = try await run("device add --recipient ben --device phone --platform fcm --token one --url \(url)")
                for name in ["moved", "deleted"] { try await arrives("removed on phone ", "shop/ana/\(name)") }
                _ = try await run("device remove --recipient ana --device tablet --url \(url)")
                for name in ["moved", "deleted"] { try await arrives("removed on tablet ", "shop/ana/\(name)") }
                let ends = try await deliveries.records(3, "removed") { $0.name == "removed" }
                #expect(Set(ends.compactMap { $0["identifier"] }) == ["answered", "moved", "deleted"])
                await deliveries.process.end()
                #expect(try receiver.errors == [])
            } catch {
                Issue.record(error, "\(services.last?.child.lastWords ?? "")")
            }
            for service in services { await service.child.end() }
            try await receiver.end()
        }
    }

    @Test("SIGHUP reads the keys again, so that a rotation needs no restart")
    func keysAreReadAgain() async throws {
        try await CarillonCommand.withCluster { carillon in
            let receiver = Receiver()
            let folder = try TemporaryFolder()
            let keys = try folder.write(Self.keys[0], to: "keys")
            var consumer: ServiceProcess?
            func send(_ identifier: String) async throws {
                let sent = try await carillon.shell(
                    "\"$carillon\" send notification --recipient ana --identifier \(identifier) --title T --json"
                )
                let id = try #require(sent.members("requestId").first ?? nil, "\(sent.errors)")
                try await eventually("it arrives") { try receiver.received("204").contains(id) }
            }
            do {
                try await receiver.start()
                let service = try start(carillon.cluster, 3, port: receiver.port, keys: keys)
                consumer = service
                try await service.ready()
                try await send("a")
                // The receiver wants the signatures of both keys.
                #expect(try receiver.errors == ["signature"])
                _ = try folder.write(Self.keys.joined(separator: "\n"), to: "keys")
                service.child.signal(SIGHUP)
                try await eventually("the keys are read", orSay: { service.child.lastWords }) {
                    try await service.metrics.contains(
                        "\ncarillon_webhook_keys_reloads_total{outcome=\"success\"} 1\n"
                    )
                }
                try await send("b")
                #expect(try receiver.errors == ["signature"])
            } catch {
                Issue.record(error, "\(consumer?.child.lastWords ?? "")")
            }
            await consumer?.child.end()
            try await receiver.end()
        }
    }

    @Test(
        "a wrong setting ends the start, and its message names the key",
        arguments: [
            ["CARILLON_WEBHOOK_URL": "http://hooks.example.com/secret"], ["CARILLON_WEBHOOK_URL": "nonsense"],
            ["CARILLON_WEBHOOK_URL": "https://10.0.0.1/secret"],
            ["CARILLON_WEBHOOK_KEYS_FILE": "/nowhere/secret"], ["CARILLON_WEBHOOK_TIMEOUT": "1m"],
            ["CARILLON_CHANNELS": "events,pigeon"],
        ]
    )
    func wrongSettings(_ wrong: [String: String]) async throws {
        let folder = try TemporaryFolder()
        var settings = [
            "CARILLON_KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
            "CARILLON_CHANNEL": "webhook",
            "CARILLON_WEBHOOK_URL": "https://hooks.example.com/",
            "CARILLON_WEBHOOK_KEYS_FILE": try folder.write(Self.keys[0], to: "keys"),
            "CARILLON_OPS_PORT": "0",
        ]
        settings.merge(wrong) { _, new in new }
        let service = try ServiceProcess.consumer(settings, deployment: "wrong")
        #expect(try await service.child.ended() == 78)
        let key = try #require(wrong.keys.first).dropFirst("CARILLON_".count).lowercased()
        let said = service.child.errorText
        #expect(
            said.contains(key.replacingOccurrences(of: "_", with: ".")) || said.contains(key.uppercased()),
            "\(said)"
        )
        if key == "webhook_url" { #expect(!said.contains("secret") && !said.contains("nonsense")) }
    }
}
