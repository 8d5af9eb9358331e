import Foundation
import HTTPTesting
import NIOCore
import NIOSSL
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceSupport
import Synchronization
import Testing
import TestSupport

@testable import NotificationChannels
@testable import NotificationConsumer

/// The channel against real endpoints. No test depends on how long something takes.
@Suite("The webhook channel", .timeLimit(.minutes(10)))
struct WebhookChannelTests {
    @Test func `it posts the event in structured mode, and keeps the connection`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(200, body: "fine") }
        let bench = try WebhookBench(endpoint.url)
        for number in 0..<20 { #expect(await bench.desk.result(of: try send("\(number)")) == .accepted) }
        #expect(await bench.desk.result(of: try send("0", kind: .remove)) == .accepted)
        // The body of an answer may still arrive when the next request begins.
        #expect(endpoint.connections < 5)
        let requests = endpoint.requests
        #expect(requests.allSatisfy { $0.method == "POST" && $0.target == "/hooks?tenant=1" })
        #expect(
            requests.map { $0.event["type"]?.stringValue }.suffix(2) == [
                "carillon.notification.delivered.v1", "carillon.notification.removed.v1",
            ]
        )
        let first = try #require(requests.first)
        let (id, time) = (try #require(first.headers["webhook-id"]), try #require(first.headers["webhook-timestamp"]))
        let key = Array(try #require(Data(base64Encoded: String(WebhookBench.key.dropFirst(6)))))
        #expect(
            RequestSigner(keys: [key]).signatures(of: Array("\(id).\(time).".utf8) + first.body)
                == first.headers["webhook-signature"],
            "the signature is over the bytes that arrive"
        )
        #expect(String(decoding: first.body, as: UTF8.self).contains(#""content":{"title":"T"}"#))
        #expect(bench.requests(.accepted) == "21" && bench.metric("carillon_webhook_requests_active") == "0")
        #expect(bench.metric("carillon_webhook_request_duration_seconds_count") == "21")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an answer decides by its status, and asks for a pause with Retry-After`() async throws {
        let endpoint = try await ScriptedEndpoint { request in
            switch request.event["subject"]?.stringValue {
            case "shop/ana/gone": .answer(410)
            case "shop/ana/bad": .answer(400, body: "no")
            case "shop/ana/busy": .answer(429, headers: ["Retry-After": "30"])
            case "shop/ana/down": .answer(503)
            case "shop/ana/moved": .answer(307, headers: ["Location": "/elsewhere"])
            default: .answer(204)
            }
        }
        let bench = try WebhookBench(endpoint.url)
        #expect(await bench.desk.result(of: try send("gone")) == .rejected(.unregistered))
        #expect(await bench.desk.result(of: try send("bad")) == .rejected(.rejected))
        #expect(await bench.desk.result(of: try send("busy")) == .failed(retryAfter: 30_000))
        #expect(await bench.desk.result(of: try send("down")) == .failed(retryAfter: nil))
        #expect(await bench.desk.result(of: try send("moved")) == .failed(retryAfter: nil))
        #expect(await bench.desk.result(of: try send("fine")) == .accepted)
        #expect(endpoint.requests.count == 6, "the redirect is not followed")
        #expect(bench.requests(.redirected) == "1" && bench.requests(.throttled) == "1")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test(arguments: [
        "garbage\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\u{1}: \r\n\r\n", "HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n", "",
    ])
    func `an answer that is not HTTP is a temporary failure`(_ bytes: String) async throws {
        let endpoint = try await ScriptedEndpoint { _ in .bytes(bytes, closes: true) }
        let bench = try WebhookBench(endpoint.url)
        #expect(await bench.desk.result(of: try send("a")) == .unanswered(retryAfter: nil))
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an endpoint that closes after each request gets a new connection each time`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in
            .bytes("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nbye", closes: true)
        }
        let bench = try WebhookBench(endpoint.url)
        for number in 0..<10 { #expect(await bench.desk.result(of: try send("\(number)")) == .accepted) }
        #expect(endpoint.connections == 10)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an endpoint that ends the connection without an answer is a temporary failure`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .disconnect }
        let bench = try WebhookBench(endpoint.url)
        #expect(await bench.desk.result(of: try send("a")) == .unanswered(retryAfter: nil))
        #expect(bench.requests(.disconnected) == "1")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an endpoint that is away, or that speaks no TLS, is a temporary failure`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .bytes("no\r\n\r\n", closes: true) }
        let port = endpoint.port
        let tls = try WebhookBench("https://localhost:\(port)/")
        #expect(await tls.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(tls.requests(.tls) == "1")
        try await endpoint.stop()
        let away = try WebhookBench("http://127.0.0.1:\(port)/")
        #expect(await away.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(away.requests(.notConnected) == "1")
        await tls.channel.close()
        await away.channel.close()
    }

    @Test
    func `an endpoint over TLS is used when its certificate is trusted and for its name, and gets nothing otherwise`()
        async throws
    {
        let files = try TestFiles()
        defer { files.remove() }
        let pair = try files.certificate("endpoint")
        let server = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(pair.certificate).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: pair.key, format: .pem))
        )
        let context = try NIOSSLContext(configuration: server)
        let trusted = NIOSSLTrustRoots.file(pair.certificate)
        for (host, roots, isUsed) in [
            ("localhost", trusted, true), ("127.0.0.1", trusted, true),
            ("localhost", .default, false), ("127.0.0.1", .default, false),
            // Not in the certificate.
            ("127.0.0.2", trusted, false),
        ] {
            let address = host == "localhost" ? "127.0.0.1" : host
            let endpoint = try await ScriptedEndpoint(host: address, tls: context) { _ in .answer(204) }
            let bench = try WebhookBench("https://\(host):\(endpoint.port)/", trusting: roots)
            let result = await bench.desk.result(of: try send("a"))
            #expect(result == (isUsed ? .accepted : .failed(retryAfter: nil)), "\(host)")
            #expect(endpoint.requests.count == (isUsed ? 1 : 0))
            let ends = WebhookAnswer.Kind.allCases.filter { bench.requests($0) == "1" }
            #expect(ends == [isUsed ? .accepted : .tls], "\(host)")
            await bench.channel.close()
            try await endpoint.stop()
        }
    }

    @Test func `an endpoint that hangs, or that trickles its answer, fails at the time-out`() async throws {
        let endpoint = try await ScriptedEndpoint { request in
            request.event["subject"]?.stringValue == "shop/ana/trickle" ? .bytes("HTTP/1.1 2", closes: false) : .hang
        }
        let bench = try WebhookBench(endpoint.url) { $0.timeout = .milliseconds(500) }
        for name in ["hang", "trickle"] {
            let result = await bench.desk.result(of: try send(name))
            let hasArrived = endpoint.requests.contains { $0.event["subject"]?.stringValue == "shop/ana/\(name)" }
            // It may time out before it is sent, beside the other tests.
            #expect(result == .unanswered(retryAfter: nil) || !hasArrived && result == .failed(retryAfter: nil))
        }
        #expect(bench.requests(.timedOut) == "2")
        await endpoint.wait { $0.openConnections == 0 }
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `a long answer counts by its status, and its connection is closed`() async throws {
        let endpoint = try await ScriptedEndpoint { request in
            let body = String(
                repeating: "x",
                count: request.event["subject"]?.stringValue == "shop/ana/long" ? 100_000 : 1000
            )
            return .answer(200, body: body)
        }
        let bench = try WebhookBench(endpoint.url) {
            $0.answerBytes = 1000
            // Nothing else closes a connection.
            $0.idleTimeout = .seconds(3600)
        }
        #expect(await bench.desk.result(of: try send("short")) == .accepted)
        #expect(await bench.desk.result(of: try send("long")) == .accepted)
        // The pool may open another connection before it has the first one back.
        await endpoint.wait { $0.openConnections == $0.connections - 1 }
        #expect(await bench.desk.result(of: try send("again")) == .accepted)
        #expect(endpoint.connections - endpoint.openConnections == 1)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an answer whose body never ends counts at once`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in
            .bytes("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n1234", closes: false)
        }
        let bench = try WebhookBench(endpoint.url)
        #expect(await bench.desk.result(of: try send("a")) == .accepted)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `a cancel ends the request and its connection`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .hang }
        let bench = try WebhookBench(endpoint.url)
        bench.desk.begin(try send("a"))
        await endpoint.wait { $0.hanging == 1 }
        bench.desk.cancelAll()
        await endpoint.wait { $0.openConnections == 0 }
        #expect(bench.requests(.cancelled) == "1" && bench.metric("carillon_webhook_requests_active") == "0")
        #expect(bench.desk.lateOutcomes == 0)
        await bench.channel.close()
        try await endpoint.stop()
    }

    // MARK: - The circuit breaker

    @Test func `failures open the breaker; a single send tests the endpoint, then all pass`() async throws {
        let isUp = Mutex(false)
        let endpoint = try await ScriptedEndpoint { _ in isUp.withLock { $0 } ? .answer(204) : .answer(500) }
        let bench = try WebhookBench(endpoint.url) {
            ($0.breakerFailures, $0.breakerFirstPause) = (3, .seconds(5))
        }
        for number in 0..<3 { #expect(await bench.desk.result(of: try send("\(number)")) == .failed(retryAfter: nil)) }
        bench.time.advance(milliseconds: 1000)
        #expect(await bench.desk.result(of: try send("a")) == .deferred(retryAfter: 4000))
        #expect(endpoint.requests.count == 3)
        #expect(bench.metric("carillon_webhook_breaker_open") == "1")
        #expect(bench.metric("carillon_webhook_breaker_opened_total") == "1")
        #expect(bench.metric("carillon_webhook_refused_total") == "1")
        #expect(bench.health.notReady.isEmpty && bench.health.remarks.map(\.component) == ["webhook"])
        #expect(bench.health.remarks.first?.why.contains("server-error") == true)
        // The test fails.
        bench.time.advance(milliseconds: 4000)
        #expect(await bench.desk.result(of: try send("b")) == .failed(retryAfter: nil))
        #expect(await bench.desk.result(of: try send("c")) == .deferred(retryAfter: 10_000))
        #expect(endpoint.requests.count == 4)
        // The test succeeds.
        isUp.withLock { $0 = true }
        bench.time.advance(milliseconds: 10_000)
        for number in 0..<5 { #expect(await bench.desk.result(of: try send("\(number)")) == .accepted) }
        #expect(bench.metric("carillon_webhook_breaker_open") == "0" && bench.health.remarks.isEmpty)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test(arguments: [401, 403, 404, 409])
    func `what the set-up of the endpoint or the keys refuses is tried again, and opens the breaker`(
        _ status: Int
    ) async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(status) }
        let bench = try WebhookBench(endpoint.url) { $0.breakerFailures = 2 }
        #expect(await bench.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(await bench.desk.result(of: try send("a", kind: .remove)) == .failed(retryAfter: nil))
        guard case .deferred? = await bench.desk.result(of: try send("b")) else {
            Issue.record("the breaker is not open")
            return
        }
        #expect(bench.requests(.denied) == "2" && bench.metric("carillon_webhook_breaker_open") == "1")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `a Retry-After of a day pauses for the longest request, and a reload tests the endpoint at once`()
        async throws
    {
        let isUp = Mutex(false)
        let endpoint = try await ScriptedEndpoint { _ in
            isUp.withLock { $0 } ? .answer(204) : .answer(503, headers: ["Retry-After": "86400"])
        }
        let bench = try WebhookBench(endpoint.url, longestRequest: .seconds(600)) { $0.breakerFailures = 1 }
        await bench.channel.reload()
        #expect(!bench.log.text.contains("tests the webhook's endpoint"), "there is nothing to test")
        #expect(await bench.desk.result(of: try send("a")) == .failed(retryAfter: 600_000))
        #expect(await bench.desk.result(of: try send("b")) == .deferred(retryAfter: 600_000))
        isUp.withLock { $0 = true }
        await bench.channel.reload()
        #expect(await bench.desk.result(of: try send("c")) == .accepted)
        #expect(await bench.desk.result(of: try send("d")) == .accepted)
        #expect(endpoint.requests.count == 3 && bench.metric("carillon_webhook_breaker_open") == "0")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `permanent refusals do not open the breaker`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(400) }
        let bench = try WebhookBench(endpoint.url) { $0.breakerFailures = 2 }
        for number in 0..<10 {
            #expect(await bench.desk.result(of: try send("\(number)")) == .rejected(.rejected))
        }
        #expect(bench.metric("carillon_webhook_breaker_open") == "0")
        #expect(bench.log.text.split(separator: "\n").count == 1, "the log is not filled: \(bench.log.text)")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `no secret is logged or shown: neither a path nor content nor a key`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(500) }
        let bench = try WebhookBench("http://127.0.0.1:\(endpoint.port)/path-token?query-token") {
            $0.breakerFailures = 1
        }
        let secret = try send("id", kind: .deliver(content: Array(#"{"title":"content-secret"}"#.utf8)[...]))
        #expect(await bench.desk.result(of: secret) == .failed(retryAfter: nil))
        let shown = bench.log.text + "\(bench.health.remarks)" + bench.registry.exposition()
        #expect(shown.contains("127.0.0.1"))
        for word in ["path-token", "query-token", "content-secret", "MfKQ9r8GKYqr", "ana"] {
            #expect(!shown.contains(word), "\(word)")
        }
        await bench.channel.close()
        try await endpoint.stop()
    }

    // MARK: - Keys

    @Test func `keys that are read again sign from the next request on, and a wrong file changes nothing`() async throws
    {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let folder = try TestFolder()
        let second = "whsec_" + Data(repeating: 9, count: 32).base64EncodedString()
        let path = try folder.write(WebhookBench.key)
        let bench = try WebhookBench(endpoint.url) { $0.keysFile = path }
        func signatures(_ name: String) async throws -> Int {
            #expect(await bench.desk.result(of: try send(name)) == .accepted)
            let request = try #require(endpoint.requests.last)
            return try #require(request.headers["webhook-signature"]).split(separator: " ").count
        }
        #expect(try await signatures("a") == 1)
        _ = try folder.write("\(second)\n\(WebhookBench.key)\n")
        #expect(try await signatures("b") == 1, "nothing happens without a reload")
        await bench.channel.reload()
        #expect(try await signatures("c") == 2)
        for wrong in ["", "secret-key", "\(second)\n\(second)"] {
            _ = try folder.write(wrong)
            await bench.channel.reload()
            #expect(try await signatures("d\(wrong.count)") == 2)
        }
        #expect(bench.metric("carillon_webhook_keys_reloads_total{outcome=\"success\"}") == "1")
        #expect(bench.metric("carillon_webhook_keys_reloads_total{outcome=\"failure\"}") == "3")
        #expect(bench.log.text.contains(path))
        #expect(!bench.log.text.contains("secret-key") && !bench.log.text.contains(second.dropFirst(6)))
        await bench.channel.close()
        try await endpoint.stop()
    }

    // MARK: - The start

    @Test func `a file of keys without a key prevents the start, and one for everyone is reported`() throws {
        let folder = try TestFolder()
        let empty = try folder.write("# no key\n")
        let error = #expect(throws: WebhookSettingsError.self) {
            try WebhookBench("http://127.0.0.1:1/") { $0.keysFile = empty }
        }
        #expect(error?.key == .keysFile)
        let exposed = try TestFolder()
        let path = try exposed.write(WebhookBench.key)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        let bench = try WebhookBench("http://127.0.0.1:1/") { $0.keysFile = path }
        #expect(bench.log.text.contains("every user of this machine"))
    }
}
