import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import Testing

@testable import ServiceSupport

@Suite("The check of a running service's health", .timeLimit(.minutes(10)))
struct HealthCheckTests {
    /// Answers whatever comes with a text, or with nothing.
    private final class Answering: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let text: String?

        init(_ text: String?) { self.text = text }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let text else { return }
            context.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: nil)
        }
    }

    /// Runs an ops endpoint on a free port.
    private func withServer(
        _ health: Health,
        _ body: (HealthCheck) async throws -> Void
    ) async throws {
        let logger = LoggingConfiguration(level: .critical).logger(label: "test")
        let server = OpsServer(
            configuration: OpsConfiguration(port: 0),
            health: health,
            registry: PrometheusRegistry(),
            logger: logger
        )
        let group = ServiceGroup(services: [server], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let port = try await server.port
            try await body(
                HealthCheck(configuration: OpsConfiguration(host: "0.0.0.0", port: port), timeout: .minutes(1))
            )
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    @Test("says whether the service is live and ready, with its answer")
    func answers() async throws {
        let health = Health()
        let kafka = health.component("kafka")
        try await withServer(health) { check in
            kafka.notReady("no broker answers")
            let body =
                "{\"status\":\"not ready\",\"components\":[{\"component\":\"kafka\",\"why\":\"no broker answers\"}]}\n"
            #expect(await check.ask(.ready) == .answered(isHealthy: false, body: body))
            #expect(await check.ask(.live) == .answered(isHealthy: true, body: "{\"status\":\"live\"}\n"))
            kafka.ready()
            #expect(await check.ask(.ready) == .answered(isHealthy: true, body: "{\"status\":\"ready\"}\n"))
        }
    }

    @Test(
        "reaches a listener of all addresses by loopback",
        arguments: [("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("10.0.0.7", "10.0.0.7")]
    )
    func host(of listener: String, reached: String) {
        #expect(HealthCheck(configuration: OpsConfiguration(host: listener, port: 8081)).host == reached)
    }

    @Test("says why there is no answer: nothing listens, the port is not known, it is no ops port, or it is silent")
    func unanswered() async throws {
        func why(_ port: Int, _ timeout: TimeAmount = .minutes(1)) async -> String? {
            let check = HealthCheck(configuration: OpsConfiguration(port: port), timeout: timeout)
            guard case .unanswered(let why) = await check.ask(.live) else { return nil }
            return why
        }
        #expect(await why(0)?.contains("ops.port is 0") == true)
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        func listener(_ answer: String?) async throws -> any Channel {
            try await ServerBootstrap(group: loops)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Answering(answer))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
        }
        let silent = try await listener(nil)
        let port = try #require(silent.localAddress?.port)
        #expect(await why(port, .milliseconds(200))?.contains("no answer") == true)
        try await silent.close()
        #expect(await why(port) == "nothing listens on 127.0.0.1:\(port)")
        let other = try await listener("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        #expect(await why(try #require(other.localAddress?.port))?.contains("no ops port") == true)
        let strange = try await listener("220 smtp.example.com\r\n")
        #expect(await why(try #require(strange.localAddress?.port)) != nil)
        try await other.close()
        try await strange.close()
        try await loops.shutdownGracefully()
    }
}
