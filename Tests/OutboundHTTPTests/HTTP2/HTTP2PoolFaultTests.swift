import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import Synchronization
import Testing
import TestSupport

@testable import OutboundHTTP

/// A pool against a server with bad days.
@Suite("HTTP/2 to systems with faults", .timeLimit(.minutes(5)))
struct HTTP2PoolFaultTests {
    @Test func `a refused stream is sent again, unnoticed by the caller`() async throws {
        let refused = Atomic<Int>(0)
        let server = HTTP2TestServer(maxStreams: 500) { request in
            // Each path once; the first request shows that the server works.
            if request.field(":path") != "/0", refused.load(ordering: .relaxed) < 300 {
                refused.add(1, ordering: .relaxed)
                request.connection.reset(request.stream, .refusedStream)
            } else {
                request.answer()
            }
        }
        let client = try HTTP2TestClient(port: await server.start()) { $0.connections = 1 }
        let outcomes = await client.answers(400)
        #expect(outcomes.allSatisfy { $0.status == 200 })
        #expect(client.pool.usage.resent == 300)
        #expect(client.pool.usage.opened == 1)
        await client.close()
        try await server.stop()
    }

    @Test func `a GOAWAY leaves what it has processed, the rest goes over another connection, and its reason is told`()
        async throws
    {
        let server = HTTP2TestServer(maxStreams: 100) { request in
            guard request.connection.number == 0, request.stream > 1 else { return request.answer() }
            // The streams 3 to 181 are there: up to 81 they are processed.
            guard request.stream == 181 else { return }
            request.connection.goAway(last: 81, .noError, #"{"reason":"Shutdown"}"#)
            for stream in stride(from: 3, through: 81, by: 2) { request.connection.answer(stream, 200) }
        }
        let client = try HTTP2TestClient(port: await server.start()) { $0.connections = 1 }
        #expect(await client.answer().status == 200)
        let outcomes = await client.answers(90)
        #expect(outcomes.allSatisfy { $0.status == 200 })
        let goAway = try #require(client.events.goAways.first)
        #expect(goAway.lastStream == 81 && goAway.code == 0)
        #expect(String(decoding: goAway.debugData, as: UTF8.self) == #"{"reason":"Shutdown"}"#)
        let connections = try outcomes.map { try $0.get().connection }
        #expect(Set(connections).count == 2)
        #expect(connections.filter { $0 == connections[0] }.count == 40)
        #expect(client.pool.usage.resent == 50)
        #expect(server.received.withLock { $0.count } == 1 + 90 + 50)
        await client.close()
        try await server.stop()
    }

    @Test func `many GOAWAYs lose nothing and have nothing processed twice`() async throws {
        let processed = Mutex<[String: Int]>([:])
        let server = HTTP2TestServer(maxStreams: 50) { request in
            // Every connection ends after twenty requests.
            guard request.stream <= 39 else { return }
            processed.withLock { $0[request.field(":path") ?? "", default: 0] += 1 }
            if request.stream == 39 { request.connection.goAway(last: 39) }
            request.answer()
        }
        let client = try HTTP2TestClient(port: await server.start()) {
            ($0.opensPerSecond, $0.opensAtOnce) = (10_000, 100)
        }
        let outcomes = await client.answers(1000)
        #expect(outcomes.compactMap(\.failure).isEmpty)
        #expect(processed.withLock { $0.count } == 1000)
        #expect(processed.withLock { $0.values.allSatisfy { $0 == 1 } })
        #expect(client.events.goAways.count >= 40)
        await client.close()
        try await server.stop()
    }

    @Test func `when a connection with a thousand requests is lost, none is sent again, and each may be processed`()
        async throws
    {
        let count = Atomic<Int>(0)
        let server = HTTP2TestServer(maxStreams: 2000) { request in
            guard request.stream > 1 else { return request.answer() }
            if count.add(1, ordering: .relaxed).newValue == 1000 { request.connection.close() }
        }
        let client = try HTTP2TestClient(port: await server.start()) {
            ($0.connections, $0.streams, $0.reservedShare) = (1, 2000, 0)
        }
        #expect(await client.answer().status == 200)
        let outcomes = await client.answers(1000, body: ByteBuffer(repeating: 1, count: 200))
        #expect(outcomes.allSatisfy { $0.failure?.clientCode == .disconnected && $0.failure?.isSent == true })
        #expect(server.received.withLock { $0.count } == 1001)
        #expect(client.events.retirements == [.lost])
        await client.close()
        try await server.stop()
    }

    @Test func `a connection that does not answer any more is replaced, and its requests may be processed`()
        async throws
    {
        let server = HTTP2TestServer { request in
            if request.field(":path") == "/" { request.answer() }
        }
        let client = try HTTP2TestClient(port: await server.start()) {
            ($0.connections, $0.oldestUnanswered) = (1, .milliseconds(500))
        }
        let first = try await client.answer().get()
        async let silent = client.answers(5, within: .seconds(20))
        try await eventually { server.received.withLock { $0.count } >= 6 }
        try await eventually { client.events.retirements.contains(.unanswered) }
        let second = try await client.answer().get()
        #expect(second.connection != first.connection)
        let outcomes = await silent
        #expect(outcomes.allSatisfy { $0.failure?.clientCode == .timedOut && $0.failure?.isSent == true })
        try await eventually { server.resets.load(ordering: .relaxed) == 5 }
        await client.close()
        try await server.stop()
    }

    @Test func `PINGs keep a connection that answers them, and end one that does not`() async throws {
        let server = HTTP2TestServer { $0.answer() }
        let client = try HTTP2TestClient(port: await server.start()) { $0.pingAfter = .milliseconds(10) }
        #expect(await client.answer().status == 200)
        try await eventually { server.pings.load(ordering: .relaxed) >= 3 }
        #expect(client.pool.usage.opened == 1 && client.events.retirements.isEmpty)
        await client.close()
        try await server.stop()

        let mute = try await MuteServer.start()
        let other = try HTTP2TestClient(port: mute.localAddress?.port ?? 0) {
            ($0.pingAfter, $0.pingTimeout) = (.milliseconds(10), .milliseconds(50))
        }
        let failure = await other.answer().failure
        #expect(failure?.clientCode == .disconnected && failure?.isSent == true)
        #expect(other.events.retirements.first == .silent)
        await other.close()
        try await mute.close()
    }

    /// Sends empty SETTINGS and perhaps further bytes, and then nothing.
    private enum MuteServer {
        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            typealias OutboundOut = ByteBuffer

            let bytes: [UInt8]
            init(_ bytes: [UInt8]) { self.bytes = bytes }

            func channelActive(context: ChannelHandlerContext) {
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0])), promise: nil)
            }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                // Not before there is a request.
                guard unwrapInboundIn(data).readableBytesView.firstRange(of: Array("/mute".utf8)) != nil else { return }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            }
        }

        static func start(_ bytes: [UInt8] = []) async throws -> any Channel {
            try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Handler(bytes))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }
    }

    @Test(
        arguments: [
            ("DATA for a stream that was not opened", [0, 0, 1, 0, 0, 0, 0, 0, 3, 65]),
            ("HEADERS for a stream of the server", [0, 0, 1, 1, 4, 0, 0, 0, 2, 0x88]),
            ("RST_STREAM for a stream that was not opened", [0, 0, 4, 3, 0, 0, 0, 0, 9, 0, 0, 0, 7]),
            ("WINDOW_UPDATE by nothing", [0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            ("a window that is too large", [0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF]),
            ("too small frames", [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 1]),
            ("PUSH_PROMISE", [0, 0, 5, 5, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0x88]),
            (
                "PINGs without end",
                (0...10_000).flatMap { _ in [0, 0, 8, 6, 0, 0, 0, 0, 0] as [UInt8] + [UInt8](repeating: 0, count: 8) }
            ),
        ] as [(String, [UInt8])]
    )
    func `a server that breaks HTTP/2 loses its connection`(what: String, bytes: [UInt8]) async throws {
        let server = try await MuteServer.start(bytes)
        let client = try HTTP2TestClient(port: server.localAddress?.port ?? 0)
        let failure = await client.answer("/mute").failure
        #expect(failure?.clientCode == .invalidResponse && failure?.isSent == true, "\(what)")
        #expect(client.events.retirements.first == .lost)
        await client.close()
        try await server.close()
    }

    @Test func `a stream that the server resets for another reason may be processed, and is not sent again`()
        async throws
    {
        let server = HTTP2TestServer { request in
            if request.field(":path") == "/1" {
                request.connection.reset(request.stream, .internalError)
            } else {
                request.answer()
            }
        }
        let client = try HTTP2TestClient(port: await server.start())
        let outcomes = await client.answers(3)
        #expect(outcomes.map(\.status) == [200, nil, 200])
        #expect(outcomes[1].failure?.clientCode == .disconnected && outcomes[1].failure?.isSent == true)
        #expect(server.received.withLock { $0.count } == 3)
        await client.close()
        try await server.stop()
    }

    @Test func `an answer that is too large or that HTTP/2 does not allow ends its own request only`() async throws {
        let server = HTTP2TestServer { request in
            switch request.field(":path") {
            case "/1": request.answer(400, body: String(repeating: "x", count: 2000))
            case "/2": request.answer(200, [("content-length", "7")], body: "eight...")
            default: request.answer(200, body: String(repeating: "x", count: 1000))
            }
        }
        let client = try HTTP2TestClient(port: await server.start()) {
            ($0.answerBytes, $0.connections) = (1000, 1)
        }
        let outcomes = await client.answers(4)
        #expect(outcomes.map(\.status) == [200, nil, nil, 200])
        #expect(outcomes.map { $0.failure?.clientCode } == [nil, .tooLarge, .invalidResponse, nil])
        #expect(outcomes.allSatisfy { $0.failure?.isSent != false })
        // Answers of more than a window in all: it is opened again.
        #expect(await client.answers(200).filter { $0.status == 200 }.count == 198)
        #expect(client.pool.usage.opened == 1)
        await client.close()
        try await server.stop()
    }

    @Test func `without a server each request fails at its deadline, unsent, and says why`() async throws {
        let socket = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = socket.localAddress?.port ?? 0
        try await socket.close()
        let client = try HTTP2TestClient(port: port)
        async let late = client.answer(within: .seconds(2))
        try await eventually { !client.events.failures.isEmpty }
        let failure = await late.failure
        #expect(failure?.clientCode == .notConnected && failure?.isSent == false)
        #expect(failure?.detail.contains("127.0.0.1 port \(port)") == true)
        await client.close()
    }
}
