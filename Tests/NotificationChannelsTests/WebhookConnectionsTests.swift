import NIOCore
import NIOPosix
import NotificationDelivery
import NotificationModel
import OutboundHTTP
import ServiceSupport
import Testing

@testable import NotificationChannels
@testable import NotificationConsumer

/// How the channel uses its connections. No test depends on how long something takes.
@Suite("The webhook channel's connections", .timeLimit(.minutes(10)))
struct WebhookConnectionsTests {
    @Test func `sends one after the other use one connection`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(200, body: "fine") }
        let bench = try WebhookBench(endpoint.url)
        for number in 0..<20 { #expect(await bench.desk.result(of: try send("\(number)")) == .accepted) }
        #expect(endpoint.connections == 1 && bench.connections == 1)
        await bench.channel.close()
        try await bench.waitUntilClosed()
        try await endpoint.stop()
    }

    @Test func `more sends than connections wait for one, and none is lost`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let bench = try WebhookBench(endpoint.url) { $0.connections = 3 }
        bench.desk.begin(try (0..<50).map { try send("\($0)") })
        let outcomes = await bench.desk.outcomes(50)
        #expect(outcomes.count == 50 && outcomes.allSatisfy { $0.result == .accepted })
        #expect(endpoint.requests.count == 50)
        #expect(endpoint.connections <= 3 && endpoint.mostActive <= 3)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `when connections fail, those that wait get new ones`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .disconnect }
        let bench = try WebhookBench(endpoint.url) { ($0.connections, $0.breakerFailures) = (2, 1000) }
        bench.desk.begin(try (0..<20).map { try send("\($0)") })
        let outcomes = await bench.desk.outcomes(20)
        #expect(outcomes.count == 20 && outcomes.allSatisfy { $0.result == .unanswered(retryAfter: nil) })
        #expect(endpoint.requests.count == 20 && endpoint.connections == 20)
        try await bench.waitUntilClosed()
        let port = endpoint.port
        try await endpoint.stop()
        // No connection is opened at all.
        bench.desk.begin(try (0..<20).map { try send("\($0)") })
        #expect(await bench.desk.outcomes(20).allSatisfy { $0.result == .failed(retryAfter: nil) })
        #expect(bench.requests(.notConnected) == "20")
        let back = try await ScriptedEndpoint(port: port) { _ in .answer(204) }
        #expect(await bench.desk.result(of: try send("back")) == .accepted)
        await bench.channel.close()
        try await back.stop()
    }

    @Test func `a send that waits for a connection fails at the time-out too`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .hang }
        let bench = try WebhookBench(endpoint.url) { ($0.connections, $0.timeout) = (1, .milliseconds(300)) }
        bench.desk.begin(try (0..<5).map { try send("\($0)") })
        let outcomes = await bench.desk.outcomes(5)
        let sent = outcomes.filter { $0.result == .unanswered(retryAfter: nil) }.count
        // Beside the other tests it may time out before one is sent.
        #expect(endpoint.requests.count <= sent && sent < 5)
        #expect(outcomes.filter { $0.result == .failed(retryAfter: nil) }.count == 5 - sent)
        #expect(bench.requests(.timedOut) == "5")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `a send that fails within the TLS handshake has not been sent`() async throws {
        // It accepts connections and says nothing.
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let bench = try WebhookBench("https://127.0.0.1:\(port)/") { $0.connectTimeout = .milliseconds(300) }
        #expect(await bench.desk.result(of: try send("a")) == .failed(retryAfter: nil))
        #expect(bench.requests(.timedOut) == "1")
        await bench.channel.close()
        try await server.close()
    }

    @Test func `a cancelled send that waits for a connection is never posted`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .hang }
        let bench = try WebhookBench(endpoint.url) { $0.connections = 1 }
        bench.desk.begin(try (0..<5).map { try send("\($0)") })
        await endpoint.wait { $0.hanging == 1 }
        bench.desk.cancelAll()
        try await bench.waitUntilClosed()
        #expect(endpoint.requests.count == 1)
        #expect(bench.requests(.cancelled) == "5" && bench.desk.lateOutcomes == 0)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an idle connection ends at its time-out`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let bench = try WebhookBench(endpoint.url) { $0.idleTimeout = .milliseconds(1) }
        #expect(await bench.desk.result(of: try send("a")) == .accepted)
        try await bench.waitUntilClosed()
        await endpoint.wait { $0.openConnections == 0 }
        #expect(await bench.desk.result(of: try send("b")) == .accepted)
        #expect(endpoint.connections == 2)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `an idle connection that the endpoint closed is not used again`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .bytes("HTTP/1.1 204 No Content\r\n\r\n", closes: true) }
        let bench = try WebhookBench(endpoint.url)
        for number in 0..<10 {
            #expect(await bench.desk.result(of: try send("\(number)")) == .accepted)
            try await bench.waitUntilClosed()
        }
        #expect(endpoint.connections == 10)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `a second answer to one request is not taken for the answer to the next`() async throws {
        let endpoint = try await ScriptedEndpoint { request in
            request.connection == 1
                ? .bytes("HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n", closes: false)
                : .answer(204)
        }
        let bench = try WebhookBench(endpoint.url) { $0.connections = 1 }
        bench.desk.begin(try (0..<3).map { try send("\($0)") })
        let outcomes = await bench.desk.outcomes(3)
        #expect(outcomes.allSatisfy { $0.result == .accepted })
        #expect(endpoint.connections == 2 && endpoint.requests.count == 3)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test(arguments: [
        String(repeating: "x", count: 200_000), String(repeating: "x: y\r\n", count: 1000),
        String(repeating: "x: \(String(repeating: "y", count: 1000))\r\n", count: 200),
    ])
    func `the head of an answer is bounded`(_ head: String) async throws {
        let endpoint = try await ScriptedEndpoint { _ in .bytes("HTTP/1.1 200 OK\r\n\(head)", closes: false) }
        let bench = try WebhookBench(endpoint.url)
        #expect(await bench.desk.result(of: try send("a")) == .unanswered(retryAfter: nil))
        #expect(bench.requests(.invalid) == "1")
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `informational answers come before the answer`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in
            .bytes(
                "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
                closes: false
            )
        }
        let bench = try WebhookBench(endpoint.url)
        for number in 0..<3 { #expect(await bench.desk.result(of: try send("\(number)")) == .accepted) }
        #expect(endpoint.connections == 1)
        await bench.channel.close()
        try await endpoint.stop()
    }

    @Test func `closing the channel fails what is in progress and what waits`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .hang }
        let bench = try WebhookBench(endpoint.url) { $0.connections = 2 }
        bench.desk.begin(try (0..<6).map { try send("\($0)") })
        await endpoint.wait { $0.hanging == 2 }
        await bench.channel.close()
        let outcomes = await bench.desk.outcomes(6)
        #expect(outcomes.filter { $0.result == .unanswered(retryAfter: nil) }.count == 2)
        #expect(outcomes.filter { $0.result == .failed(retryAfter: nil) }.count == 4)
        #expect(await bench.desk.result(of: try send("after")) == .failed(retryAfter: nil))
        #expect(endpoint.requests.count == 2)
        try await bench.waitUntilClosed()
        try await endpoint.stop()
    }

    @Test func `a connection serves until its age ends; then the addresses are judged again`() async throws {
        let endpoint = try await ScriptedEndpoint { _ in .answer(204) }
        let origin = "http://hooks.shop.com:\(endpoint.port)"
        let resolver = ScriptedResolver([["127.0.0.1"]])
        let bench = try WebhookBench("\(origin)/", resolver: resolver, connectionAge: .milliseconds(1))
        for count in 1...3 {
            #expect(await bench.desk.result(of: try send("\(count)")) == .accepted)
            try await bench.waitUntilClosed()
            #expect(resolver.hosts.count == count && endpoint.connections == count)
        }
        await bench.channel.close()
        try await endpoint.stop()
    }
}
