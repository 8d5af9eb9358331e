import Foundation
import HTTPTesting
import NotificationDelivery
import NotificationModel
import ServiceHTTP
import Synchronization
import Testing
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

/// The channel `webpush`, and a push service of the tests over TLS.
@Suite("The channel webpush", .timeLimit(.minutes(10)))
struct WebPushChannelTests {
    private static func send(
        _ name: String,
        to browser: TestBrowser,
        content: String = #"{"title":"On its way","sound":"default"}"#,
        application: String = "shop",
        kind: ChannelSend.Kind? = nil
    ) throws -> ChannelSend {
        let kind = kind ?? .deliver(content: Array(content.utf8)[...])
        var send = try NotificationChannelsTests.send(name, kind: kind, channel: .webpush)
        send.key = try NotificationKey(application: application, recipient: "ana", identifier: name)
        send.registration = try DeviceRegistration(platform: "webpush", token: browser.subscription.token)
        send.devices = Array(#"[{"device":"phone","presentation":["banner","list","sound"]}]"#.utf8)[...]
        return send
    }

    /// Answers that a test changes.
    private final class Answers: Sendable {
        private let next: Mutex<ScriptedEndpoint.Action>
        init(_ first: ScriptedEndpoint.Action) { next = Mutex(first) }
        func set(_ action: ScriptedEndpoint.Action) { next.withLock { $0 = action } }
        var action: ScriptedEndpoint.Action { next.withLock { $0 } }
    }

    // MARK: - Requests

    @Test func `a browser reads what it is sent, and the push service what it needs`() async throws {
        try await WebPushBench.with { bench in
            let browser = try bench.browser()
            var send = try Self.send("order", to: browser)
            send.expiration = bench.wall.now.adding(milliseconds: 3_600_000)
            #expect(await bench.desk.result(of: send) == .accepted)
            let request = try #require(bench.service.requests.first)
            #expect(request.method == "POST" && request.target == "/push/phone")
            #expect(request.headers["ttl"] == "3600" && request.headers["urgency"] == "normal")
            #expect(request.headers["topic"] == CollapseID(send.key).text)
            #expect(request.headers["content-encoding"] == "aes128gcm")
            #expect(request.headers["authorization"]?.hasPrefix("vapid t=") == true)
            let body = try JSONValue.parse(#require(try browser.read(request.body)))
            #expect(body.value(at: "notification.title")?.stringValue == "On its way")
            #expect(body.value(at: "notification.tag")?.stringValue == CollapseID(send.key).text)
            #expect(try bench.browser("other").read(request.body) == nil)
            #expect(!bench.log.text.contains("push/phone"))
        }
    }

    @Test func `a removal closes what the browser shows, under the topic of the notification`() async throws {
        try await WebPushBench.with { bench in
            let browser = try bench.browser()
            #expect(await bench.desk.result(of: try Self.send("order", to: browser)) == .accepted)
            #expect(
                await bench.desk.result(of: try Self.send("order", to: browser, kind: .remove)) == .removed(.requested)
            )
            let requests = bench.service.requests
            #expect(requests.count == 2 && requests[0].headers["topic"] == requests[1].headers["topic"])
            let body = try JSONValue.parse(#require(try browser.read(requests[1].body)))
            #expect(body.value(at: "carillon.remove")?.objectValue?.first?.name == requests[1].headers["topic"])
        }
    }

    @Test func `messages to one origin have one token, and each has a body of its own`() async throws {
        try await WebPushBench.with { bench in
            let browser = try bench.browser()
            for name in ["a", "a"] {
                #expect(await bench.desk.result(of: try Self.send(name, to: browser)) == .accepted)
            }
            bench.wall.advance(milliseconds: 6 * 3_600_000)
            #expect(await bench.desk.result(of: try Self.send("a", to: browser)) == .accepted)
            let requests = bench.service.requests
            let tokens = requests.compactMap { $0.headers["authorization"] }
            #expect(tokens.count == 3 && tokens[0] == tokens[1] && tokens[1] != tokens[2])
            #expect(Set(requests.map(\.body)).count == 3)
        }
    }

    // MARK: - Answers

    @Test(arguments: [404, 410])
    func `a subscription that is gone is told, with the time of the attempt`(_ status: Int) async throws {
        try await WebPushBench.with(more: "", { _ in .answer(status) }) { bench in
            let result = await bench.desk.result(of: try Self.send("a", to: bench.browser()))
            #expect(result == .gone(WebPushSample.now))
        }
    }

    @Test func `a redirect is not followed`() async throws {
        try await WebPushBench.with(more: "", { _ in .answer(307, headers: ["location": "/elsewhere"]) }) { bench in
            let send = try Self.send("a", to: bench.browser())
            #expect(await bench.desk.result(of: send) == .rejected(.rejected))
            #expect(bench.service.requests.map(\.target) == ["/push/phone"])
            #expect(bench.metric(#"carillon_webpush_answers_total{reason="redirected"}"#) == "1")
        }
    }

    @Test func `a pause that a push service asks for is told`() async throws {
        try await WebPushBench.with(more: "", { _ in .answer(429, headers: ["retry-after": "7"]) }) { bench in
            let result = await bench.desk.result(of: try Self.send("a", to: bench.browser()))
            #expect(result == .failed(retryAfter: 7_000))
        }
    }

    @Test func `a connection that ends without an answer leaves it in doubt`() async throws {
        try await WebPushBench.with(more: "", { _ in .disconnect }) { bench in
            let result = await bench.desk.result(of: try Self.send("a", to: bench.browser()))
            #expect(result == .unanswered(retryAfter: nil))
        }
    }

    @Test func `a push service that refuses the key stops alone, until it accepts it`() async throws {
        let answers = Answers(.answer(403, body: #"{"reason":"BadJwtToken"}"#))
        try await WebPushBench.with(more: "", { _ in answers.action }) { bench in
            let browser = try bench.browser()
            #expect(await bench.desk.result(of: try Self.send("a", to: browser)) == .deferred(retryAfter: 60_000))
            #expect(await bench.desk.result(of: try Self.send("b", to: browser)) == .deferred(retryAfter: 60_000))
            #expect(bench.service.requests.count == 1)
            #expect(bench.health.contains("403 BadJwtToken"))
            #expect(bench.metric("carillon_webpush_services_stopped") == "1")
            let stop = bench.channel.changes?.take().first
            #expect(stop?.name == .stopped && stop?.application == "shop")
            #expect(stop?.reason == "https://127.0.0.1:\(bench.service.port) refuses the key: 403 BadJwtToken")
            answers.set(.answer(201))
            bench.wall.advance(milliseconds: 60_000)
            #expect(await bench.desk.result(of: try Self.send("a", to: browser)) == .accepted)
            #expect(await bench.desk.result(of: try Self.send("b", to: browser)) == .accepted)
            #expect(!bench.health.contains("403") && bench.metric("carillon_webpush_services_stopped") == "0")
            #expect(bench.channel.changes?.take().map(\.name) == [.resumed])
        }
    }

    @Test func `a refused key is told for each application that has it, and ends for each, also by another key`()
        async throws
    {
        let answers = Answers(.answer(401))
        try await WebPushBench.with(more: "", { _ in answers.action }) { bench in
            func write(_ bank: String) async throws {
                let other = WebPushBench.applications(bank).replacing("shop:", with: "bank:")
                let text = WebPushBench.applications(bench.keyFile) + other
                try text.write(toFile: bench.file, atomically: true, encoding: .utf8)
                await bench.channel.reload()
            }
            func changes() -> [String] {
                bench.channel.changes?.take().map { "\($0.application) \($0.name)" } ?? []
            }
            try await write(bench.keyFile)
            let browser = try bench.browser()
            #expect(await bench.desk.result(of: try Self.send("a", to: browser)) == .deferred(retryAfter: 60_000))
            #expect(changes() == ["bank stopped", "shop stopped"])
            answers.set(.answer(201))
            try await write(try WebPushSample.key(bench.files, "other.pem"))
            #expect(changes() == [])
            for application in ["bank", "shop"] {
                let send = try Self.send("a", to: browser, application: application)
                #expect(await bench.desk.result(of: send) == .accepted)
                #expect(changes() == ["\(application) resumed"])
            }
        }
    }

    @Test func `once a push service has accepted the key, a refusal concerns one subscription`() async throws {
        try await WebPushBench.with(
            more: "",
            { $0.target == "/push/old" ? .answer(403, body: String(repeating: "x", count: 9000)) : .answer(201) }
        ) { bench in
            let (old, new) = (try bench.browser("old"), try bench.browser("new"))
            #expect(await bench.desk.result(of: try Self.send("a", to: new)) == .accepted)
            #expect(await bench.desk.result(of: try Self.send("a", to: old)) == .rejected(.rejected))
            #expect(await bench.desk.result(of: try Self.send("b", to: new)) == .accepted)
            #expect(bench.channel.changes?.take().isEmpty == true)
        }
    }

    // MARK: - Addresses

    @Test(
        arguments: [
            "https://127.0.0.1/push", "https://10.0.0.1/push", "https://localhost/push", "https://push.internal/x",
            "https://169.254.169.254/latest/meta-data", "https://[::1]/push", "https://push.shop.com:22/x",
            "https://user@push.example.com/x",
        ]
    )
    func `an endpoint inside the network is refused, and nothing is connected`(_ endpoint: String) async throws {
        let resolver = ScriptedResolver([["203.0.114.1"]])
        try await WebPushBench.with(isInternal: false, resolver: resolver) { bench in
            let send = try Self.send("a", to: TestBrowser(endpoint))
            #expect(await bench.desk.result(of: send) == .rejected(.rejected))
            #expect(resolver.hosts.isEmpty && bench.service.connections == 0)
            #expect(bench.metric(#"carillon_webpush_answers_total{reason="address-refused"}"#) == "1")
        }
    }

    @Test func `a public name with an address inside the network is refused`() async throws {
        let resolver = ScriptedResolver([["127.0.0.1"]])
        try await WebPushBench.with(isInternal: false, resolver: resolver) { bench in
            let browser = try TestBrowser("https://push.shop.com:\(bench.service.port)/x")
            #expect(await bench.desk.result(of: try Self.send("a", to: browser)) == .rejected(.rejected))
            #expect(resolver.hosts == ["push.shop.com"] && bench.service.connections == 0)
        }
    }

    @Test func `a name without an address is tried again`() async throws {
        try await WebPushBench.with(isInternal: false, resolver: ScriptedResolver([[]])) { bench in
            let browser = try TestBrowser("https://push.shop.com:\(bench.service.port)/x")
            #expect(await bench.desk.result(of: try Self.send("a", to: browser)) == .failed(retryAfter: nil))
        }
    }

    // MARK: - Registrations and contents

    @Test func `what is no subscription is not a form that the channel knows`() async throws {
        try await WebPushBench.with { bench in
            var send = try Self.send("a", to: bench.browser())
            send.registration = try DeviceRegistration(platform: "apns", token: APNsBench.token)
            #expect(await bench.desk.result(of: send) == .rejected(.unsupportedForm))
            send.registration = nil
            #expect(await bench.desk.result(of: send) == .rejected(.unsupportedForm))
            #expect(bench.service.connections == 0)
        }
    }

    @Test func `what is too large is rejected`() async throws {
        try await WebPushBench.with { bench in
            let title = #"{"title":"\#(String(repeating: "x", count: 4000))"}"#
            let send = try Self.send("a", to: bench.browser(), content: title)
            #expect(await bench.desk.result(of: send) == .rejected(.payloadTooLarge))
        }
    }

    // MARK: - Files

    @Test func `an application is reached once it is in the file, which is read again`() async throws {
        try await WebPushBench.with { bench in
            let send = try Self.send("a", to: bench.browser(), application: "bank")
            #expect(await bench.desk.result(of: send) == .deferred(retryAfter: 60_000))
            #expect(bench.health.contains("bank"))
            #expect(bench.channel.changes?.take().map(\.name) == [.stopped])
            try "shop: {".write(toFile: bench.file, atomically: true, encoding: .utf8)
            await bench.channel.reload()
            #expect(bench.log.text.contains("not read again"))
            #expect(await bench.desk.result(of: try Self.send("a", to: bench.browser())) == .accepted)
            let text = WebPushBench.applications(bench.keyFile).replacing("shop:", with: "bank:")
            try text.write(toFile: bench.file, atomically: true, encoding: .utf8)
            await bench.channel.reload()
            #expect(await bench.desk.result(of: send) == .accepted && !bench.health.contains("bank"))
            #expect(bench.channel.changes?.take().map(\.name) == [.resumed])
            #expect(bench.metric(#"carillon_webpush_applications_reloads_total{outcome="failure"}"#) == "1")
        }
    }

    @Test func `another key signs after the file was read again`() async throws {
        try await WebPushBench.with { bench in
            let browser = try bench.browser()
            #expect(await bench.desk.result(of: try Self.send("a", to: browser)) == .accepted)
            let other = try WebPushSample.key(bench.files, "other.pem")
            let text = WebPushBench.applications(other)
            try text.write(toFile: bench.file, atomically: true, encoding: .utf8)
            await bench.channel.reload()
            #expect(await bench.desk.result(of: try Self.send("b", to: browser)) == .accepted)
            let keys = bench.service.requests.compactMap { $0.headers["authorization"]?.split(separator: "k=").last }
            #expect(Set(keys).count == 2)
        }
    }
}
