import Foundation
import HTTPTesting
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing

@testable import ServiceSupport

/// Bad clients of the ops endpoint: it keeps working, and keeps nothing of them.
@Suite("Connections of the ops endpoint", .timeLimit(.minutes(10)))
struct OpsConnectionTests {
    private let registry = PrometheusRegistry()

    private func makeServer(_ change: (inout OpsConfiguration) -> Void = { _ in }) -> (OpsServer, ServiceGroup) {
        let logger = LoggingConfiguration(level: .critical).logger(label: "test")
        var configuration = OpsConfiguration(port: 0)
        change(&configuration)
        let server = OpsServer(configuration: configuration, health: Health(), registry: registry, logger: logger)
        return (server, ServiceGroup(services: [server], logger: logger))
    }

    private func withServer(
        _ change: (inout OpsConfiguration) -> Void = { _ in },
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let (server, group) = makeServer(change)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            try await body(server.port)
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private static func get(_ path: String, _ headers: String = "") -> String {
        "GET \(path) HTTP/1.1\r\nhost: localhost\r\n\(headers)\r\n"
    }

    @Test("Those that come while it ends trap nothing, however it ends")
    func late() async throws {
        for round in 0..<40 {
            let (server, group) = makeServer()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                tasks.addTask { try await group.run() }
                let port = try await server.port
                for path in ["/metrics", "/health/live"] {
                    tasks.addTask {
                        for _ in 0..<20 { _ = try? await RawHTTP(port: port).send("GET", path) }
                    }
                }
                try await Task.sleep(for: .milliseconds(round / 2))
                if round.isMultiple(of: 2) { await group.triggerGracefulShutdown() } else { tasks.cancelAll() }
                while await tasks.nextResult() != nil {}
            }
        }
    }

    @Test("A dripping one gets an answer and is closed")
    func slow() async throws {
        try await withServer {
            $0.receiveTimeout = .milliseconds(300)
        } _: { port in
            let dripping = try await RawConnection.open(port: port)
            await dripping.send("GET /metrics HTTP/1.1\r\nx: ")
            try await dripping.drip(UInt8(ascii: "a"))
            #expect(try await dripping.answer().status == 408)
            #expect(await dripping.end() == [])
            let page = registry.exposition()
            #expect(page.contains("carillon_ops_connections_cut_total{cause=\"receive-timeout\"} 1\n"))
        }
    }

    @Test("An idle one is closed")
    func silent() async throws {
        try await withServer {
            $0.idleTimeout = .milliseconds(300)
        } _: { port in
            let silent = try await RawConnection.open(port: port)
            #expect(await silent.end() == [])
            #expect(registry.exposition().contains("carillon_ops_connections_cut_total{cause=\"idle\"} 1\n"))
        }
    }

    @Test("Beyond the limit they wait until another closes")
    func bound() async throws {
        try await withServer {
            $0.connections = 4
            // No idle connection is closed.
            $0.idleTimeout = .hours(1)
        } _: { port in
            var open: [RawConnection] = []
            // Some more are accepted in the last loop of accepting.
            for _ in 0..<12 { open.append(try RawConnection.openNow(port: port)) }
            await open[0].send(Self.get("/health/live"))
            #expect(try await open[0].answer().status == 200)
            let waiting = try await RawConnection.open(port: port)
            await waiting.send(Self.get("/health/live"))
            await open[1].send(Self.get("/health/live"))
            #expect(try await open[1].answer().status == 200)
            #expect(!waiting.hasSomething)
            open = []
            #expect(try await waiting.answer().status == 200)
            #expect(!registry.exposition().contains("carillon_ops_connections_full_total 0\n"))
        }
    }

    @Test("Oversized requests and requests that are not HTTP are refused, and the connection closes")
    func refused() async throws {
        try await withServer { port in
            for (text, status) in [
                ("GARBAGE\r\n\r\n", 400), (Self.get("/\(String(repeating: "a", count: 2_000))"), 414),
                (Self.get("/metrics", "x: \(String(repeating: "a", count: 20_000))\r\n"), 431),
            ] {
                let connection = try await RawConnection.open(port: port)
                await connection.send(text)
                #expect(try await connection.answer().status == status)
                #expect(await connection.end() == [])
            }
        }
    }

    @Test("A client that requests metrics repeatedly and reads nothing is disconnected; others are answered meanwhile")
    func neverReads() async throws {
        try await withServer {
            // Long enough for the others on a busy machine.
            $0.idleTimeout = .seconds(10)
        } _: { port in
            let deaf = try await RawConnection.open(port: port)
            let requests = String(repeating: Self.get("/metrics"), count: 1_000)
            async let isCut: Void = {
                while await deaf.send(requests) {}
            }()
            for _ in 0..<10 {
                #expect(try await RawHTTP(port: port).send("GET", "/health/live").status == 200)
            }
            await isCut
        }
    }

    @Test("All waiting callers get one page, built after their requests")
    func sharedPage() async throws {
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let made = Atomic(0)
        registry.collect { page in
            made.add(1, ordering: .relaxed)
            page.gauge("made", help: "Pages made.", value: Double(made.load(ordering: .relaxed)))
        }
        let pages = SharedPage(on: loops.any(), registry)
        let gate = DispatchSemaphore(value: 0)
        loops.any().execute { gate.wait() }
        try await withThrowingTaskGroup(of: String.self) { tasks in
            for _ in 0..<20 { tasks.addTask { String(buffer: await pages.page()) } }
            while pages.waitingForTest < 20 { try await Task.sleep(for: .milliseconds(1)) }
            gate.signal()
            for try await page in tasks { #expect(page.contains("\ncarillon_made 1\n")) }
        }
        #expect(made.load(ordering: .relaxed) == 1)
        #expect(String(buffer: await pages.page()).contains("\ncarillon_made 2\n"))
        try await loops.shutdownGracefully()
    }
}
