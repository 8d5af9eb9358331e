import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceHTTP

/// Opens connections. Every connection of the fetcher begins here, and goes to an address, never to a name.
struct FetchConnector: Sendable {
    /// What arrives while the store is busy waits in the system's buffer. When the server ends the connection NIO
    /// reads all of it at once, so this bounds the memory of a download.
    private static let receiveBuffer = 256 * 1024
    private static let readSize = 64 * 1024

    let group: any EventLoopGroup
    let tls: NIOSSLContext
    /// For the connection and its TLS handshake, all addresses together.
    let timeout: TimeAmount

    /// Tries the addresses of the exchange one after the other.
    ///
    /// - Returns: a connection whose TLS handshake is under way, or a `FetchFailure`.
    func connect(for exchange: FetchExchange, in pool: FetchConnections) -> EventLoopFuture<FetchConnection> {
        connect(exchange, exchange.addresses[...], pool, on: group.next(), by: .now() + timeout)
    }

    private func connect(
        _ exchange: FetchExchange,
        _ addresses: ArraySlice<IPAddress>,
        _ pool: FetchConnections,
        on loop: any EventLoop,
        by end: NIODeadline
    ) -> EventLoopFuture<FetchConnection> {
        guard let address = addresses.first else {
            return loop.makeFailedFuture(FetchFailure(.unresolved, "\(exchange.url.host) has no address"))
        }
        let left = end - .now()
        guard left > .zero else { return loop.makeFailedFuture(Self.timedOut(exchange)) }
        guard !exchange.isOver else { return loop.makeFailedFuture(FetchFailure.cancelled) }
        // An address that does not answer leaves time for the others.
        let share = TimeAmount.nanoseconds(left.nanoseconds / Int64(addresses.count))
        return connect(exchange.url, address, pool, on: loop, within: share, handshakeEnd: end).flatMapError { error in
            guard addresses.count > 1 else {
                return loop.makeFailedFuture(Self.failure(error, exchange, address))
            }
            return connect(exchange, addresses.dropFirst(), pool, on: loop, by: end)
        }
    }

    private func connect(
        _ url: EgressURL,
        _ address: IPAddress,
        _ pool: FetchConnections,
        on loop: any EventLoop,
        within time: TimeAmount,
        handshakeEnd: NIODeadline
    ) -> EventLoopFuture<FetchConnection> {
        let socketAddress: SocketAddress
        do {
            socketAddress = try SocketAddress(ipAddress: address.description, port: url.port)
        } catch {
            return loop.makeFailedFuture(error)
        }
        // It may have failed before the attempt's future completes: then its channel has no handler any more that
        // says why.
        let opened = NIOLoopBoundBox<FetchConnection?>.makeEmptyBox(valueType: FetchConnection.self, eventLoop: loop)
        return ClientBootstrap(group: loop)
            .connectTimeout(time)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_rcvbuf), value: Self.receiveBuffer)
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: Self.readSize))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = FetchConnectionHandler(
                        pool: pool,
                        on: channel.eventLoop,
                        handshakeEnd: url.usesTLS ? handshakeEnd : nil
                    )
                    opened.value = FetchConnection(
                        channel,
                        NIOLoopBound(handler, eventLoop: channel.eventLoop),
                        origin: url,
                        address: address
                    )
                    try addHandlers(to: channel, handler, url)
                }
            }
            .connect(to: socketAddress)
            .flatMapThrowing { _ in
                guard let connection = opened.value else { throw ChannelError.eof }
                return connection
            }
    }

    private func addHandlers(to channel: any Channel, _ handler: FetchConnectionHandler, _ url: EgressURL) throws {
        let pipeline = channel.pipeline.syncOperations
        if url.usesTLS {
            // SNI has no addresses: for a literal one the certificate must have it.
            let tlsHandler =
                url.address == nil
                ? try CertificateName.handler(tls, host: url.host)
                : try NIOSSLClientHandler(context: tls, serverHostname: nil)
            try pipeline.addHandler(tlsHandler)
        }
        try pipeline.addHandler(HTTPRequestEncoder())
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (16384, 65536)
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: limits)))
        try pipeline.addHandler(handler)
    }

    private static func failure(_ error: any Error, _ exchange: FetchExchange, _ address: IPAddress) -> FetchFailure {
        if let failure = error as? FetchFailure { return failure }
        switch ConnectionFailure.code(of: error) {
        case .timedOut: return timedOut(exchange)
        case .tls: return FetchFailure(.tls, "\(exchange.url.host): \(ConnectionFailure.text(error))")
        default:
            let place = "\(exchange.url.host), \(address) port \(exchange.url.port)"
            return FetchFailure(.notConnected, "\(place): \(ConnectionFailure.text(error))")
        }
    }

    private static func timedOut(_ exchange: FetchExchange) -> FetchFailure {
        FetchFailure(.timedOut, "\(exchange.url.host): \(FetchPhase.connecting.rawValue)")
    }
}
