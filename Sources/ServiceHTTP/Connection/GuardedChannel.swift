import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// The framework's HTTP/1.1 connection with a ``ConnectionGuard``.
struct GuardedChannel: ServerChildChannel {
    private let http: HTTP1Channel
    private let bounds: ConnectionBounds
    private let isTLS: Bool
    private let memory: CallMemory
    private let metrics: ConnectionMetrics

    /// - Parameters:
    ///   - idleTimeout: How long a connection may be idle between two requests.
    ///   - isTLS: Whether TLS is in front of it.
    init(
        responder: @escaping HTTPChannelHandler.Responder,
        bounds: ConnectionBounds,
        idleTimeout: TimeAmount,
        isTLS: Bool,
        memory: CallMemory,
        metrics: ConnectionMetrics
    ) {
        http = HTTP1Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: idleTimeout,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: bounds.headBytes,
                    maxHeaderListSize: bounds.headBytes,
                    maxHeaderFieldCount: bounds.headerCount
                )
            )
        )
        self.bounds = bounds
        self.isTLS = isTLS
        self.memory = memory
        self.metrics = metrics
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let accepted = AcceptedConnection(value)
            let pipeline = channel.pipeline.syncOperations
            let connection = ConnectionGuard(bounds: bounds, isTLS: isTLS, memory: memory, metrics: metrics)
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandler(connection, position: .after(decoder))
            try pipeline.addHandler(LineWatch(connection), position: .before(decoder))
            try pipeline.addHandler(ConnectionGate(connection), position: .first)
            return accepted
        }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        await http.handle(value: value.take(), logger: logger)
    }
}
