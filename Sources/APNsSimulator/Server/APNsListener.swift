import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import NotificationModel
import Synchronization

/// A listening port: HTTP/2 over TLS, as one environment of APNs.
struct APNsListener: Sendable {
    let core: SimulatorCore
    let environment: DeviceRegistration.Environment
    let tls: NIOSSLContext

    /// TLS 1.2 and 1.3, HTTP/2 only. Client certificates are asked for and need not be there.
    static func tls(_ authority: CertificateAuthority) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(authority.certificateFile).map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: authority.keyFile, format: .pem))
        )
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["h2"]
        configuration.trustRoots = .file(authority.authorityFile)
        configuration.certificateVerification = .optionalVerification
        return try NIOSSLContext(configuration: configuration)
    }

    func bind(host: String, port: Int) async throws -> any Channel {
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

    /// Begins HTTP/2, also with a client that has negotiated nothing, as APNs does. HTTP/1.1 then is no HTTP/2, and ends the
    /// connection.
    private func handshakeEnded(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let number = core.nextConnection() else { return channel.close() }
        let behaviour = core.state.withLock { $0.behaviour }
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

    private func begin(_ channel: any Channel, _ number: Int, _ behaviour: ConnectionBehaviour) throws {
        let pipeline = channel.pipeline.syncOperations
        let certificate = try pipeline.nioSSL_peerCertificate()
        let state = ConnectionState(
            number: number,
            environment: environment,
            certificateTopics: try certificate.map { CertificateAuthority.topics(of: try $0.toDERBytes()) },
            behaviour: behaviour
        )
        let written = WrittenFrames()
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = APNsConnectionHandler.settings(state, behaviour)
        // A client that is served badly resets many streams.
        connection.maximumRecentlyResetStreams = 10_000
        connection.maximumConnectionGlitches = 10_000
        connection.controlFrameRateLimit.maximumCount = 10_000
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = 1_000_000
        stream.streamErrorRateLimit.maximumCount = 1_000_000
        try pipeline.addHandler(
            NIOHTTP2Handler(
                mode: .server,
                frameDelegate: written,
                connectionConfiguration: connection,
                streamConfiguration: stream
            )
        )
        try pipeline.addHandler(
            APNsConnectionHandler(core: core, behaviour: behaviour, state: state, written: written)
        )
    }
}
