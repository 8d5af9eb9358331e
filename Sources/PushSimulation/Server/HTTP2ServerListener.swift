package import NIOCore
import NIOHTTP2
import NIOPosix
package import NIOSSL
import NIOTLS

/// A listening port: HTTP/2 over TLS.
package struct HTTP2ServerListener: Sendable {
    /// Bytes of a header.
    private static let headerBytes = 8_000

    private let connections: ServerConnections
    private let tls: NIOSSLContext
    private let behaviour: @Sendable () -> ServerBehaviour
    private let connection: @Sendable (_ number: Int, _ certificate: [UInt8]?) -> any SimulatedConnection

    /// - Parameters:
    ///   - connections: All of the server.
    ///   - behaviour: Of a new connection.
    ///   - connection: What answers the requests of a new connection, by its number and the client's certificate (DER).
    package init(
        _ connections: ServerConnections,
        _ tls: NIOSSLContext,
        behaviour: @escaping @Sendable () -> ServerBehaviour,
        connection: @escaping @Sendable (_ number: Int, _ certificate: [UInt8]?) -> any SimulatedConnection
    ) {
        (self.connections, self.tls, self.behaviour, self.connection) = (connections, tls, behaviour, connection)
    }

    /// TLS 1.2 and 1.3, HTTP/2 only. Client certificates are asked for and need not be there.
    package static func tls(_ authority: CertificateAuthority) throws -> NIOSSLContext {
        var configuration = try authority.serverConfiguration(["h2"])
        configuration.trustRoots = .file(authority.authorityFile)
        configuration.certificateVerification = .optionalVerification
        return try NIOSSLContext(configuration: configuration)
    }

    /// - Throws: ``SimulatorError`` when the port is taken.
    package func bind(host: String, port: Int) async throws(SimulatorError) -> any Channel {
        do {
            return try await begin(host, port)
        } catch {
            throw SimulatorError("cannot listen at \(host):\(port): choose another port, or 0 for a free one")
        }
    }

    private func begin(_ host: String, _ port: Int) async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 1_024)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    try pipeline.addHandler(
                        ApplicationProtocolNegotiationHandler { _, channel in handshakeEnded(channel) }
                    )
                }
            }
            .bind(host: host, port: port).get()
    }

    /// Begins HTTP/2, also with a client that has negotiated nothing. HTTP/1.1 then is no HTTP/2, and ends the
    /// connection.
    private func handshakeEnded(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let number = connections.next() else { return channel.close() }
        let behaviour = behaviour()
        guard behaviour.settingsDelay > .zero else {
            return channel.eventLoop.makeCompletedFuture { try begin(channel, number, behaviour) }
        }
        // What the client sends meanwhile waits in the socket.
        return channel.setOption(.autoRead, value: false).flatMap {
            channel.eventLoop.scheduleTask(in: TimeAmount(behaviour.settingsDelay)) {
                try begin(channel, number, behaviour)
            }.futureResult
        }.flatMap { channel.setOption(.autoRead, value: true) }
    }

    private func begin(_ channel: any Channel, _ number: Int, _ behaviour: ServerBehaviour) throws {
        let pipeline = channel.pipeline.syncOperations
        let connection = connection(number, try pipeline.nioSSL_peerCertificate()?.toDERBytes())
        let written = WrittenFrames()
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: connection.streams),
            HTTP2Setting(parameter: .initialWindowSize, value: behaviour.streamWindow),
            HTTP2Setting(parameter: .maxHeaderListSize, value: Self.headerBytes),
        ]
        // A client that is served badly resets many streams.
        configuration.maximumRecentlyResetStreams = 10_000
        configuration.maximumConnectionGlitches = 10_000
        configuration.controlFrameRateLimit.maximumCount = 10_000
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 1_000_000
        stream.streamErrorRateLimit.maximumCount = 1_000_000
        try pipeline.addHandler(
            NIOHTTP2Handler(
                mode: .server,
                frameDelegate: written,
                connectionConfiguration: configuration,
                streamConfiguration: stream
            )
        )
        try pipeline.addHandler(
            HTTP2ServerHandler(number, connection, in: connections, behaviour, written: written)
        )
    }
}
