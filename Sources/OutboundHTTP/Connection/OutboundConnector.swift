import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Opens connections. Every connection to another system begins here, and goes to an address, never to a name.
struct OutboundConnector: Sendable {
    /// What arrives while the store is busy waits in the system's buffer. When the server ends the connection NIO
    /// reads all of it at once, so this bounds the memory of a download.
    private static let receiveBuffer = 256 * 1024
    private static let readSize = 64 * 1024

    let group: any EventLoopGroup
    let tls: NIOSSLContext
    /// For requests that bring no addresses.
    let hosts: GuardedHosts
    /// For the connection and its TLS handshake, all addresses together.
    let timeout: TimeAmount

    /// Tries the addresses of the exchange one after the other.
    ///
    /// - Returns: a connection whose TLS handshake is under way, or a `OutboundFailure`.
    func connect(for exchange: OutboundExchange, in pool: OutboundConnections) -> EventLoopFuture<OutboundConnection> {
        let (loop, end) = (group.next(), min(exchange.deadline, .now() + timeout))
        if let addresses = exchange.addresses { return connect(exchange, addresses[...], pool, on: loop, by: end) }
        return loop.makeFutureWithTask { [hosts] in
            try await hosts.addresses(of: exchange.url, for: exchange.application, by: end, exchange.observer)
        }
        .flatMap { connect(exchange, $0[...], pool, on: loop, by: end) }
    }

    private func connect(
        _ exchange: OutboundExchange,
        _ addresses: ArraySlice<IPAddress>,
        _ pool: OutboundConnections,
        on loop: any EventLoop,
        by end: NIODeadline
    ) -> EventLoopFuture<OutboundConnection> {
        guard let address = addresses.first else {
            return loop.makeFailedFuture(OutboundFailure(.unresolved, "\(exchange.url.host) has no address"))
        }
        let left = end - .now()
        guard left > .zero else { return loop.makeFailedFuture(Self.timedOut(exchange.url)) }
        guard !exchange.isOver else { return loop.makeFailedFuture(OutboundFailure.cancelled) }
        // An address that does not answer leaves time for the others.
        let share = TimeAmount.nanoseconds(left.nanoseconds / Int64(addresses.count))
        return connect(exchange.url, address, pool, on: loop, within: share, handshakeEnd: end).flatMapError { error in
            guard addresses.count > 1 else {
                return loop.makeFailedFuture(Self.failure(error, to: exchange.url, at: address))
            }
            return connect(exchange, addresses.dropFirst(), pool, on: loop, by: end)
        }
    }

    private func connect(
        _ url: EgressURL,
        _ address: IPAddress,
        _ pool: OutboundConnections,
        on loop: any EventLoop,
        within time: TimeAmount,
        handshakeEnd: NIODeadline
    ) -> EventLoopFuture<OutboundConnection> {
        let socketAddress: SocketAddress
        do {
            socketAddress = try SocketAddress(ipAddress: address.description, port: url.port)
        } catch {
            return loop.makeFailedFuture(error)
        }
        // It may have failed before the attempt's future completes: then its channel has no handler any more that
        // says why.
        let opened = NIOLoopBoundBox<OutboundConnection?>.makeEmptyBox(
            valueType: OutboundConnection.self,
            eventLoop: loop
        )
        return Self.bootstrap(on: loop, within: time)
            .channelOption(.autoRead, value: false)
            .channelOption(.maxMessagesPerRead, value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = OutboundConnectionHandler(
                        pool: pool,
                        on: channel.eventLoop,
                        handshakeEnd: url.usesTLS ? handshakeEnd : nil
                    )
                    opened.value = OutboundConnection(
                        channel,
                        NIOLoopBound(handler, eventLoop: channel.eventLoop),
                        origin: url,
                        address: address,
                        end: .now() + pool.settings.age
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

    /// What the connections of both versions of HTTP have in common.
    static func bootstrap(on loop: any EventLoop, within time: TimeAmount) -> ClientBootstrap {
        ClientBootstrap(group: loop)
            .connectTimeout(time)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_rcvbuf), value: receiveBuffer)
            .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readSize))
    }

    private func addHandlers(to channel: any Channel, _ handler: OutboundConnectionHandler, _ url: EgressURL) throws {
        let pipeline = channel.pipeline.syncOperations
        if url.usesTLS { try pipeline.addHandler(CertificateName.handler(tls, for: url)) }
        try pipeline.addHandler(handler.encoder)
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (16384, 65536)
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: limits)))
        try pipeline.addHandler(handler)
    }

    /// Why a connection to the address was not opened.
    static func failure(_ error: any Error, to url: EgressURL, at address: IPAddress) -> OutboundFailure {
        if let failure = error as? OutboundFailure { return failure }
        switch ConnectionFailure.code(of: error) {
        case .timedOut: return timedOut(url)
        case .tls: return OutboundFailure(.tls, "\(url.host): \(ConnectionFailure.text(error))")
        default:
            let text = ConnectionFailure.text(error)
            return OutboundFailure(.notConnected, "\(url.host), \(address) port \(url.port): \(text)")
        }
    }

    private static func timedOut(_ url: EgressURL) -> OutboundFailure {
        OutboundFailure(.timedOut, "\(url.host): \(OutboundPhase.connecting.rawValue)")
    }
}
