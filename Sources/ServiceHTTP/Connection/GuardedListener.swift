package import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
package import NIOSSL
package import ServiceTracing

/// A listening address, and the limits of its connections.
package struct GuardedListener: Sendable {
    /// The server's name in the log: `HTTP API`.
    package var name: String
    /// The address to bind.
    package var host: String
    /// The port to bind; 0 takes a free one.
    package var port: Int
    /// Maximum number of concurrent connections.
    package var connections: Int
    /// How long a connection may be idle between two requests.
    package var idleTimeout: TimeAmount
    package var bounds: ConnectionBounds
    /// Asked for each new connection; nil for plain HTTP.
    package var tls: (@Sendable () -> NIOSSLContext)?
    package var memory: CallMemory
    package var metrics: ConnectionMetrics
    /// Gets a span of each sampled call; nil where nothing is traced.
    package var tracer: Tracer?
    package var logger: Logger

    package init(
        name: String,
        host: String,
        port: Int,
        connections: Int,
        idleTimeout: TimeAmount,
        bounds: ConnectionBounds,
        tls: (@Sendable () -> NIOSSLContext)? = nil,
        memory: CallMemory,
        metrics: ConnectionMetrics,
        logger: Logger
    ) {
        self.name = name
        self.host = host
        self.port = port
        self.connections = connections
        self.idleTimeout = idleTimeout
        self.bounds = bounds
        self.tls = tls
        self.memory = memory
        self.metrics = metrics
        self.logger = logger
    }

    /// The server; it runs until it is stopped.
    ///
    /// - Parameters:
    ///   - routes: The routes it serves.
    ///   - access: Who may call.
    ///   - loops: The threads of the connections.
    ///   - listens: Called with the port once it listens.
    package func application(
        _ routes: [Route],
        access: AccessControl,
        on loops: EventLoopGroupProvider = .singleton,
        listens: @escaping @Sendable (_ port: Int) -> Void
    ) -> Application<RouteResponder> {
        var quiet = logger
        // The framework's own messages would only repeat ours.
        quiet.logLevel = max(logger.logLevel, .warning)
        return Application(
            responder: RouteResponder(
                routes,
                access: access,
                memory: memory,
                metrics: metrics,
                tracer: tracer,
                logger: logger
            ),
            server: server(),
            configuration: .init(
                address: .hostname(host, port: port),
                // The system's maximum; further clients retry.
                backlog: 1_024,
                availableConnectionsDelegate: CountedConnections(limit: connections, metrics: metrics)
            ),
            onServerRunning: { [self] channel in
                await AcceptFailures.watch(channel, of: name, logger: logger, metrics: metrics)
                let port = channel.localAddress?.port ?? port
                logger.info("\(name) listens", metadata: ["host": "\(host)", "port": "\(port)"])
                listens(port)
            },
            eventLoopGroupProvider: loops,
            logger: quiet
        )
    }

    private func server() -> HTTPServerBuilder {
        HTTPServerBuilder { [self] responder in
            let plain = GuardedChannel(
                responder: responder,
                bounds: bounds,
                idleTimeout: idleTimeout,
                isTLS: tls != nil,
                memory: memory,
                metrics: metrics
            )
            return tls.map { EncryptedChannel(plain, context: $0) } ?? plain
        }
    }
}
