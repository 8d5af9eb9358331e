import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import NotificationModel
import PushSimulation
import Synchronization

/// What the connections share: the state, and the list of them.
final class PushServiceCore: Sendable {
    /// Connections of browsers at most.
    private static let mostConnections = 10_000

    private struct Connections {
        var last = 0
        var open: [Int: any Channel] = [:]
        var areRefused = false
    }

    let state: Mutex<PushServiceState>
    let now: @Sendable () -> Timestamp
    private let connections = Mutex(Connections())
    /// `https://127.0.0.1:2397`, once it is known.
    private let origin = Mutex("")

    init(_ state: PushServiceState, now: @escaping @Sendable () -> Timestamp) {
        self.state = Mutex(state)
        self.now = now
    }

    /// The origin that tokens of senders are for.
    var audience: String { origin.withLock { $0 } }

    func listens(at origin: String) { self.origin.withLock { $0 = origin } }

    /// The address of a subscription.
    @Sendable func endpoint(_ name: String) -> String { "\(audience)/push/\(name)" }

    // MARK: - Browsers

    /// Sends to a browser, if it is still there.
    func send(_ outgoing: PushServiceState.Outgoing?) {
        guard let outgoing, let channel = connections.withLock({ $0.open[outgoing.connection] }) else { return }
        channel.writeAndFlush(BrowserConnection.frame(outgoing.message), promise: nil)
    }

    func closed(_ number: Int) { connections.withLock { $0.open[number] = nil } }

    /// All browsers lose their connections, and get none, or may connect again.
    func setOnline(_ isOnline: Bool) {
        let open = connections.withLock { connections in
            connections.areRefused = !isOnline
            return isOnline ? [] : Array(connections.open.values)
        }
        for channel in open { channel.close(promise: nil) }
    }

    private var hasRoom: Bool {
        connections.withLock { !$0.areRefused && $0.open.count < Self.mostConnections }
    }

    private func opened(_ channel: any Channel) -> Int {
        connections.withLock { connections in
            connections.last += 1
            connections.open[connections.last] = channel
            return connections.last
        }
    }

    /// Listens for browsers: WebSockets without TLS, on this machine.
    ///
    /// - Throws: ``SimulatorError`` when the port is taken.
    func listen(host: String, port: Int) async throws(SimulatorError) -> any Channel {
        do {
            return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { [self] channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in })
                        )
                        // What asks for no WebSocket gets nothing.
                        try channel.pipeline.syncOperations.addHandler(OtherRequests())
                    }
                }
                .bind(host: host, port: port).get()
        } catch {
            throw SimulatorError("cannot listen at \(host):\(port): choose another port, or 0 for a free one")
        }
    }

    private var upgrader: NIOWebSocketServerUpgrader {
        NIOWebSocketServerUpgrader(maxFrameSize: BrowserConnection.mostBytes) { [self] channel, head in
            guard hasRoom else { return channel.eventLoop.makeSucceededFuture(nil) }
            // Firefox asks for it.
            let wanted = head.headers[canonicalForm: "sec-websocket-protocol"].contains("push-notification")
            let headers: HTTPHeaders = wanted ? ["sec-websocket-protocol": "push-notification"] : [:]
            return channel.eventLoop.makeSucceededFuture(headers)
        } upgradePipelineHandler: { [self] channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let number = opened(channel)
                let pipeline = channel.pipeline.syncOperations
                if let others = try? pipeline.handler(type: OtherRequests.self) { _ = pipeline.removeHandler(others) }
                try pipeline.addHandler(
                    NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 1,
                        maxAccumulatedFrameCount: 64,
                        maxAccumulatedFrameSize: BrowserConnection.mostBytes
                    )
                )
                try pipeline.addHandler(BrowserConnection(self, number))
            }
        }
    }
}

/// Ends connections that ask for something else than a WebSocket.
private final class OtherRequests: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
}
