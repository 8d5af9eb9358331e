import NIOCore
import NIOHTTP1
import NIOPosix

/// Asks the ops endpoint of a running service once, for supervisors that run a command: a container's health check.
///
/// It reads the settings of the service, so it asks where the service listens.
struct HealthCheck: Sendable {
    /// What is asked.
    enum Question: String, CaseIterable, Sendable {
        /// Whether only a restart would help.
        case live
        /// Whether it can work.
        case ready
    }

    /// What it found.
    enum Outcome: Sendable, Hashable {
        /// Healthy or not, with the body of the answer.
        case answered(isHealthy: Bool, body: String)
        /// Why there is no answer, for an operator.
        case unanswered(String)
    }

    /// An answer has so many bytes at most; it lists components.
    private static let maximumBytes = 256 << 10

    let configuration: OpsConfiguration
    /// How long it waits for the whole answer.
    var timeout = TimeAmount.seconds(4)

    /// The address that reaches a listener: one of all addresses is reached by loopback.
    var host: String {
        switch configuration.host {
        case "0.0.0.0", "": "127.0.0.1"
        case "::", "[::]": "::1"
        default: configuration.host
        }
    }

    /// Asks on a thread of its own.
    func ask(_ question: Question) async -> Outcome {
        guard configuration.port != 0 else {
            return .unanswered("ops.port is 0: the port that the service took is in its log only; set one")
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let outcome = await ask(question, on: group.any())
        try? await group.shutdownGracefully()
        return outcome
    }

    private func ask(_ question: Question, on loop: any EventLoop) async -> Outcome {
        let answer = loop.makePromise(of: Outcome.self)
        let place = "\(host):\(configuration.port)"
        let limit = loop.scheduleTask(in: timeout) { answer.succeed(.unanswered("no answer from \(place) in time")) }
        ClientBootstrap(group: loop)
            .connectTimeout(timeout)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(AnswerHandler(answer, Self.maximumBytes))
                }
            }
            .connect(host: host, port: configuration.port)
            .whenComplete { result in
                switch result {
                case .failure: answer.succeed(.unanswered("nothing listens on \(place)"))
                case .success(let channel):
                    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/health/\(question.rawValue)")
                    head.headers.add(name: "host", value: "localhost")
                    head.headers.add(name: "connection", value: "close")
                    channel.write(HTTPClientRequestPart.head(head), promise: nil)
                    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
                }
            }
        let outcome = try? await answer.futureResult.get()
        limit.cancel()
        return outcome ?? .unanswered("no answer from \(place)")
    }

    /// Collects one answer.
    private final class AnswerHandler: ChannelInboundHandler {
        typealias InboundIn = HTTPClientResponsePart

        private let answer: EventLoopPromise<Outcome>
        private let maximumBytes: Int
        private var status: HTTPResponseStatus?
        private var body = ""

        init(_ answer: EventLoopPromise<Outcome>, _ maximumBytes: Int) {
            (self.answer, self.maximumBytes) = (answer, maximumBytes)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): status = head.status
            case .body(let bytes): if body.utf8.count < maximumBytes { body += String(buffer: bytes) }
            case .end:
                switch status {
                case .ok: answer.succeed(.answered(isHealthy: true, body: body))
                case .serviceUnavailable: answer.succeed(.answered(isHealthy: false, body: body))
                default: answer.succeed(.unanswered("status \(status?.code ?? 0): that is no ops port of a service"))
                }
                context.close(promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            answer.succeed(.unanswered("the answer is not HTTP: that is no ops port of a service"))
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            answer.succeed(.unanswered("the connection ended before the answer"))
        }
    }
}
