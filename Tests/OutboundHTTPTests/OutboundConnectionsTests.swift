import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import Testing

@testable import OutboundHTTP

@Suite("Connections to other systems", .timeLimit(.minutes(5)))
struct OutboundConnectionsTests {
    private struct NoResolver: HostResolver {
        func addresses(of host: String) async throws -> [IPAddress] { [] }
    }

    /// A server that answers 204 to whatever comes, and keeps it.
    private final class Server: Sendable {
        let received = Mutex("")

        private final class Handler: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer

            let server: Server
            init(_ server: Server) { self.server = server }

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                let text = String(buffer: unwrapInboundIn(data))
                server.received.withLock { $0 += text }
                let answer = ByteBuffer(string: "HTTP/1.1 204 No Content\r\n\r\n")
                context.writeAndFlush(NIOAny(answer), promise: nil)
            }
        }

        func start() async throws -> any Channel {
            try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Handler(self))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }
    }

    @Test func `a field that would begin another one is not sent`() async throws {
        let server = Server()
        let channel = try await server.start()
        let text = "http://127.0.0.1:\(channel.localAddress?.port ?? 0)/a"
        let policy = try EgressPolicy.inside(text)
        let url = try policy.check(text)
        let connections = try OutboundConnections(
            .init(),
            hosts: GuardedHosts(
                policy: policy,
                hosts: HostAddresses(
                    NoResolver(),
                    slots: 1,
                    timeout: .seconds(60),
                    lifetime: .zero,
                    group: MultiThreadedEventLoopGroup.singleton,
                    now: { .now() }
                )
            )
        )
        func answer(_ value: String) async throws(OutboundFailure) -> CollectedAnswer {
            let exchange = OutboundExchange(
                OutboundExchange.head(.GET, url, [("x-a", value)]),
                to: url,
                at: nil,
                judge: { .end(.success(CollectedAnswer(status: Int($0.status.code)))) }
            )
            return try await exchange.answer(by: connections)
        }
        #expect(try await answer("fine").status == 204)
        let before = server.received.withLock { $0 }
        #expect(before.hasPrefix("GET /a HTTP/1.1\r\n") && before.contains("x-a: fine\r\n"))
        let failure = await #expect(throws: OutboundFailure.self) { try await answer("a\r\nx-b: c") }
        #expect(failure?.code == "invalid-response")
        #expect(server.received.withLock { $0 } == before)
        connections.close()
        try await channel.close()
    }
}
