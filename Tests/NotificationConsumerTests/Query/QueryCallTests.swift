import Foundation
import HTTPTesting
import NotificationModel
import ServiceHTTP
import ServiceSupport
import Testing
import TestSupport

@testable import NotificationConsumer

/// Queries over HTTP, of a service on the embedded broker.
@Suite("Queries over HTTP", .timeLimit(.minutes(10)))
struct QueryCallTests {
    private static let query = "query-0123456789abcdef"
    private static let publish = "publish-0123456789abcdef"

    /// A service that answers queries.
    private func querying(
        _ broker: FaultBroker,
        _ change: (inout ConsumerServiceConfiguration) -> Void = { _ in },
        _ body: (RunningConsumer, RawHTTP) async throws -> Void
    ) async throws {
        var configuration = broker.configuration
        configuration.answersQueries = true
        configuration.queries.port = 0
        // A busy machine must not reach it.
        configuration.queries.deadline = .seconds(120)
        configuration.defaultApplication = "shop"
        change(&configuration)
        try await consuming(configuration) { consumer in
            let port = try #require(try await consumer.service.queryPort)
            try await consumer.ready()
            try await body(consumer, RawHTTP(port: port))
        }
    }

    /// The path of a recipient's notifications as `FaultBroker.request` chooses the recipient.
    private func path(_ name: String) -> String {
        "/v1/recipients/r\(name.utf8.reduce(0) { $0 &* 31 &+ Int($1) } & 15)/notifications"
    }

    @Test("what waits and what is delivered is listed, all of a recipient's and by identifier")
    func lists() async throws {
        let broker = try FaultBroker()
        try await querying(broker) { _, http in
            try await broker.publish([broker.request("a"), broker.request("b", interval: 3600)])
            for (name, state) in [("a", "delivered"), ("b", "pending")] {
                try await eventually(name) { try await http.send("GET", "\(path(name))/\(name)").status == 200 }
                let one = try await http.send("GET", "\(path(name))/\(name)?occurrences=3")
                #expect(one.headers["content-type"] == "application/json")
                #expect(one["identifier"] == name && one["application"] == "shop", "\(one.text)")
                let set = try #require(one.json?[state] as? [String: Any], "\(one.text)")
                #expect(set["requestId"] as? String == "\(id(name))")
                let all = try await http.send("GET", "\(path(name))?state=\(state)")
                let listed = try #require(all.json?["notifications"] as? [[String: Any]])
                #expect(listed.contains { $0["identifier"] as? String == name }, "\(all.text)")
                #expect(all.json?["next"] == nil)
                let other = state == "pending" ? "delivered" : "pending"
                let missing = try await http.send("GET", "\(path(name))/\(name)?state=\(other)")
                #expect(missing.status == 404 && missing["reason"] == "not-found", "\(missing.text)")
            }
            let pending = try await http.send("GET", "\(path("b"))/b?occurrences=3")
            let set = try #require(pending.json?["pending"] as? [String: Any])
            #expect((set["occurrences"] as? [String])?.count == 1, "\(pending.text)")
            #expect(set["nextTriggerDate"] as? String == (set["occurrences"] as? [String])?.first)
            let strangers = try await http.send("GET", "/v1/recipients/nobody/notifications")
            #expect(strangers.text == #"{"notifications":[]}"#)
            #expect(try await http.send("GET", "\(path("a"))?application=other").text == #"{"notifications":[]}"#)
        }
    }

    @Test("pages follow each other by `next`")
    func pages() async throws {
        let broker = try FaultBroker()
        let names = (0..<40).map { "n\($0)" }.filter { path($0) == path("n0") }
        try #require(names.count > 1)
        try await querying(broker) { _, http in
            try await broker.publish(names.map { broker.request($0, interval: 3600) })
            try await eventually("all are pending") {
                let answer = try await http.send("GET", path("n0"))
                return (answer.json?["notifications"] as? [Any])?.count == names.count
            }
            var (found, query) = ([String](), "?limit=1")
            while true {
                let page = try await http.send("GET", path("n0") + query)
                let listed = try #require(page.json?["notifications"] as? [[String: Any]], "\(page.text)")
                found += listed.compactMap { $0["identifier"] as? String }
                guard let next = page["next"] else { break }
                query = "?limit=1&after=\(next)"
            }
            #expect(found.sorted() == names.sorted())
        }
    }

    @Test("wrong calls are refused with the parameter")
    func refused() async throws {
        let broker = try FaultBroker()
        try await querying(broker) { _, http in
            let here = "/v1/recipients/ana/notifications"
            let wrong = [
                ("\(here)?state=all", "invalid", "state"), ("\(here)?limit=0", "invalid", "limit"),
                ("\(here)?limit=1001", "invalid", "limit"), ("\(here)?after=x", "invalid", "after"),
                ("\(here)?after=-1", "invalid", "after"), ("\(here)?occurrences=101", "invalid", "occurrences"),
                ("\(here)?stat=pending", "unknown-field", "stat"), ("\(here)/a?limit=1", "unknown-field", "limit"),
                ("\(here)/", "invalid", "identifier"), ("/v1/recipients//notifications", "invalid", "recipient"),
                ("\(here)?application=", "invalid", "application"),
            ]
            for (target, reason, field) in wrong {
                let answer = try await http.send("GET", target)
                #expect(answer.status == 400, "\(target): \(answer.text)")
                #expect(answer["reason"] == reason && answer["field"] == field, "\(target): \(answer.text)")
            }
            #expect(try await http.send("DELETE", here).status == 405)
            #expect(try await http.send("GET", "/v1/events").status == 404)
        }
    }

    @Test("with tokens only the role `query` may ask")
    func tokens() async throws {
        let broker = try FaultBroker()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tokens-\(UUID().uuidString)")
        try Data("query \(Self.query)\npublish \(Self.publish)\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try await querying(broker, { $0.queries.tokensFile = file.path }) { _, http in
            let target = "/v1/recipients/ana/notifications"
            for (token, status) in [("", 401), ("Bearer \(Self.publish)", 403), ("Bearer \(Self.query)", 200)] {
                let answer = try await http.send("GET", target, headers: [("authorization", token)])
                #expect(answer.status == status, "\(answer.text)")
            }
        }
    }

    @Test(
        "a token sees what its applications have, and nothing of others; push tokens are for those who send to devices"
    )
    func applications() async throws {
        let broker = try FaultBroker()
        let files = try TestFiles()
        defer { files.remove() }
        let signer = TestToken(id: "k")
        let (reader, gateway, bank) = ("reader-0123456789", "gateway-0123456789", "bank-0123456789-bank")
        let tokens = try files.write(
            "query \(reader)\nquery,signal shop \(gateway)\nquery,signal bank \(bank)\nadmin * \(Self.query)",
            "tokens"
        )
        let keys = try files.write("shop k HS256 \(signer.key)", "keys")
        try await querying(broker, { ($0.queries.tokensFile, $0.queries.recipientKeysFile) = (tokens, keys) }) {
            _,
            http in
            let recipient = path("a").split(separator: "/")[2]
            let registration = try DeviceRegistration(platform: "fcm", token: "push-token")
            let device = try NotificationKey.device("d", of: String(recipient), in: "shop")
            try await broker.publish([
                .init(
                    topic: broker.topics.devices,
                    partition: broker.partition(of: device),
                    key: device.encoded,
                    value: registration.json
                ), broker.request("a", interval: 3600),
            ])
            func ask(_ token: String, _ target: String) async throws -> RawHTTP.Answer {
                try await http.send("GET", target, headers: [("authorization", "Bearer \(token)")])
            }
            let devices = "/v1/recipients/\(recipient)/devices"
            try await eventually("both are there") {
                let statuses = (
                    try await ask(Self.query, "\(path("a"))/a").status, try await ask(Self.query, "\(devices)/d").status
                )
                return statuses == (200, 200)
            }
            for (token, shows) in [(reader, false), (gateway, true), (Self.query, true)] {
                for target in [devices, "\(devices)/d"] {
                    let answer = try await ask(token, target)
                    #expect(answer.status == 200 && answer.text.contains(#""platform":"fcm""#), "\(answer.text)")
                    #expect(answer.text.contains("push-token") == shows, "\(answer.text)")
                }
            }
            for (token, query) in [(bank, ""), (reader, "?application=bank"), (gateway, "?application=bank")] {
                #expect(try await ask(token, path("a") + query).text == #"{"notifications":[]}"#)
                #expect(try await ask(token, devices + query).text == #"{"devices":[]}"#)
                for target in ["\(path("a"))/a", "\(devices)/d"] {
                    let answer = try await ask(token, target + query)
                    #expect(answer.status == 404 && answer["reason"] == "not-found", "\(answer.text)")
                }
            }
            let phone = signer.signed(for: String(recipient), at: SystemClock.now().rawValue / 1000)
            #expect(try await ask(phone, "\(path("a"))/a").status == 200)
            #expect(try await ask(phone, path("a")).text.contains(#""identifier":"a""#))
            for target in [devices, "\(devices)/d", "/v1/recipients/someone-else/notifications"] {
                #expect(try await ask(phone, target).status == 403, "\(target)")
            }
            #expect(try await ask(phone, "\(path("a"))?application=bank").text == #"{"notifications":[]}"#)
            let late = signer.signed(for: String(recipient), at: SystemClock.now().rawValue / 1000 - 3600)
            #expect(try await ask(late, path("a")).status == 401)
        }
    }

    @Test("an instance that does not own the recipient's partition names it, and the owner answers")
    func otherInstance() async throws {
        let broker = try FaultBroker()
        try await querying(broker, { $0.instanceID = "one" }) { first, one in
            try await querying(broker, { $0.instanceID = "two" }) { _, two in
                for name in ["a", "b", "c", "d", "e", "f"] {
                    let recipient = "recipient-\(name)"
                    let target = "/v1/recipients/\(recipient)/notifications"
                    let partition = broker.partition(of: key("", recipient: recipient))
                    // The group may still be sharing out the partitions.
                    try await eventually("one of them answers", orSay: { "\(first.health.notReady)" }) {
                        let answers = (try await one.send("GET", target), try await two.send("GET", target))
                        return Set([answers.0.status, answers.1.status]) == [200, 421]
                    }
                    for http in [one, two] {
                        let answer = try await http.send("GET", target)
                        guard answer.status != 200 else { continue }
                        #expect(answer.status == 421 && answer["reason"] == "misrouted", "\(answer.text)")
                        #expect(answer["partition"] == "\(partition)", "\(answer.text)")
                        #expect(!answer.text.contains(recipient))
                    }
                }
            }
        }
    }

    @Test("before partitions are assigned, calls are answered 503")
    func unavailable() async throws {
        let broker = try FaultBroker()
        var configuration = broker.configuration
        (configuration.answersQueries, configuration.queries.port) = (true, 0)
        configuration.bootstrapServers = ["127.0.0.1:1"]
        try await consuming(configuration) { consumer in
            let port = try #require(try await consumer.service.queryPort)
            let answer = try await RawHTTP(port: port).send("GET", "/v1/recipients/ana/notifications")
            #expect(answer.status == 503 && answer["reason"] == "unavailable", "\(answer.text)")
            #expect(answer.headers["retry-after"] == "1")
        }
    }

    @Test("an address that other machines reach needs tokens, and the error names the key")
    func exposed() throws {
        var configuration = ConsumerServiceConfiguration(bootstrapServers: ["127.0.0.1:1"])
        (configuration.answersQueries, configuration.queries.host) = (true, "0.0.0.0")
        let error = #expect(throws: ListenerSettingsError.self) { try RunningConsumer(configuration) }
        #expect(error?.key == "queries.host")
        configuration.answersQueries = false
        #expect(throws: Never.self) {
            try ConsumerService(
                configuration: configuration,
                health: Health(),
                registry: PrometheusRegistry(),
                logger: quiet
            )
        }
    }
}
