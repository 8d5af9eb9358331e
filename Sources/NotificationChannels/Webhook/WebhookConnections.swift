import DequeModule
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ServiceHTTP
import Synchronization

/// The HTTP/1.1 connections to the endpoint.
///
/// A channel posts to one URL, follows no redirect, and has at most as many requests as connections. A general HTTP
/// client (AsyncHTTPClient) took more than three times the CPU time for what is not needed here: see the page of figures.
final class WebhookConnections: Sendable {
    struct Settings: Sendable {
        /// Connections, opening ones included.
        var bound: Int
        /// For a connection and its TLS handshake.
        var connectTimeout: TimeAmount
        var idleTimeout: TimeAmount
        /// The part of an answer's body that is read.
        var answerBytes: Int
    }

    private struct Contents {
        var all: [ObjectIdentifier: WebhookConnection] = [:]
        /// The last used one last.
        var idle: [WebhookConnection] = []
        var opening = 0
        /// For a connection whose answer was reported already, and whose body is still read.
        var waiting: Deque<WebhookExchange> = []
        var isClosed = false

        var count: Int { all.count + opening }
    }

    private enum Step {
        case send(WebhookConnection)
        case open
        case wait
        case refuse
    }

    private let endpoint: WebhookEndpoint
    /// Nil for an endpoint inside the network, which is not judged.
    private let addressGuard: WebhookGuard?
    private let tls: NIOSSLContext?
    private let settings: Settings
    private let contents = Mutex(Contents())

    /// - Parameters:
    ///   - endpoint: Where the requests go.
    ///   - settings: Bounds and time limits.
    ///   - addressGuard: Judges the addresses of the endpoint; nil for one inside the network.
    ///   - tls: For an endpoint with TLS.
    init(
        to endpoint: WebhookEndpoint,
        _ settings: Settings,
        guardedBy addressGuard: WebhookGuard?,
        tls: NIOSSLContext?
    ) {
        (self.endpoint, self.settings, self.addressGuard, self.tls) = (endpoint, settings, addressGuard, tls)
    }

    /// Open connections, and those that are being opened.
    var count: Int { contents.withLock { $0.count } }
    var idleTimeout: TimeAmount { settings.idleTimeout }
    var answerBytes: Int { settings.answerBytes }

    // MARK: - Requests

    func begin(_ exchange: WebhookExchange) {
        let step = contents.withLock { contents -> Step in
            if contents.isClosed { return .refuse }
            if let connection = contents.idle.popLast() { return .send(connection) }
            if contents.count < settings.bound {
                contents.opening += 1
                return .open
            }
            contents.waiting.append(exchange)
            return .wait
        }
        switch step {
        case .send(let connection): connection.begin(exchange)
        case .open: open(for: exchange)
        case .wait: break
        case .refuse: exchange.fail(.notConnected)
        }
    }

    /// Closes all connections: what has no answer fails.
    func close() {
        let (all, waiting) = contents.withLock { contents in
            contents.isClosed = true
            defer { (contents.idle, contents.waiting) = ([], []) }
            return (Array(contents.all.values), contents.waiting)
        }
        for exchange in waiting { exchange.fail(.notConnected) }
        for connection in all { connection.close() }
    }

    // MARK: - Connections

    /// The connection has no request any more.
    func release(_ connection: WebhookConnection) {
        let (next, isClosed) = contents.withLock { contents -> (WebhookExchange?, Bool) in
            guard !contents.isClosed else { return (nil, true) }
            if let next = contents.waiting.popFirst() { return (next, false) }
            contents.idle.append(connection)
            return (nil, false)
        }
        if isClosed { return connection.close() }
        if let next { connection.begin(next) }
    }

    /// The connection is closed.
    func remove(_ connection: WebhookConnection) {
        contents.withLock { contents in
            contents.all[ObjectIdentifier(connection)] = nil
            contents.idle.removeAll { $0 === connection }
        }
        openForWaiting()
    }

    private func openForWaiting() {
        let next = contents.withLock { contents -> WebhookExchange? in
            guard contents.count < settings.bound, let next = contents.waiting.popFirst() else { return nil }
            contents.opening += 1
            return next
        }
        if let next { open(for: next) }
    }

    private func open(for exchange: WebhookExchange) {
        let left = exchange.deadline - .now()
        guard left > .zero, !exchange.isOver else {
            contents.withLock { $0.opening -= 1 }
            exchange.fail(.timedOut)
            return openForWaiting()
        }
        connect(within: min(settings.connectTimeout, left)).whenComplete { [self] result in
            switch result {
            case .success(let connection):
                let isClosed = contents.withLock { contents in
                    contents.opening -= 1
                    contents.all[ObjectIdentifier(connection)] = connection
                    return contents.isClosed
                }
                if isClosed { connection.close() }
                connection.begin(exchange)
            case .failure(let error):
                contents.withLock { $0.opening -= 1 }
                if let refusal = error as? EgressRefusal {
                    exchange.refuse(refusal)
                } else {
                    let kind = WebhookAnswer.kind(of: error)
                    exchange.fail(kind == .disconnected ? .notConnected : kind)
                }
                openForWaiting()
            }
        }
    }

    /// What one attempt opened, to each address of the host, by channel. A connection may have failed before the attempt's future
    /// completes: then its channel has no handler any more that says why.
    private final class Opened: Sendable {
        let connections = Mutex<[ObjectIdentifier: WebhookConnection]>([:])
    }

    /// Every connection begins here, and goes to an address that the guard has judged.
    private func connect(within time: TimeAmount) -> EventLoopFuture<WebhookConnection> {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let end = NIODeadline.now() + time
        guard let addressGuard else {
            return attempt(on: loop, within: time, by: end) { [endpoint] bootstrap in
                bootstrap.connect(host: endpoint.host, port: endpoint.port)
            }
        }
        return loop.makeFutureWithTask { try await addressGuard.addresses(by: end) }
            .flatMap { [self] in connect(to: $0[...], on: loop, by: end) }
    }

    /// Tries the addresses one after the other.
    private func connect(
        to addresses: ArraySlice<IPAddress>,
        on loop: any EventLoop,
        by end: NIODeadline
    ) -> EventLoopFuture<WebhookConnection> {
        let left = end - .now()
        guard let address = addresses.first, left > .zero else {
            return loop.makeFailedFuture(ChannelError.connectTimeout(left))
        }
        // An address that does not answer leaves time for the others.
        let share = TimeAmount.nanoseconds(left.nanoseconds / Int64(addresses.count))
        return attempt(on: loop, within: share, by: end) { [endpoint] bootstrap in
            do {
                return bootstrap.connect(to: try SocketAddress(ipAddress: address.description, port: endpoint.port))
            } catch {
                return loop.makeFailedFuture(error)
            }
        }
        .flatMapError { [self] error in
            addresses.count > 1 ? connect(to: addresses.dropFirst(), on: loop, by: end) : loop.makeFailedFuture(error)
        }
    }

    /// - Parameters:
    ///   - loop: Of the connection.
    ///   - time: For the connection.
    ///   - end: Of the TLS handshake.
    ///   - start: Connects.
    private func attempt(
        on loop: any EventLoop,
        within time: TimeAmount,
        by end: NIODeadline,
        _ start: (ClientBootstrap) -> EventLoopFuture<any Channel>
    ) -> EventLoopFuture<WebhookConnection> {
        let opened = Opened()
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(time)
            .channelOption(.socketOption(.tcp_nodelay), value: 1)
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = try addHandlers(to: channel, handshakeEnd: end)
                    let connection = WebhookConnection(channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
                    opened.connections.withLock { $0[ObjectIdentifier(channel)] = connection }
                }
            }
        return start(bootstrap).flatMapThrowing { channel in
            guard let connection = opened.connections.withLock({ $0[ObjectIdentifier(channel)] }) else {
                throw ChannelError.eof
            }
            return connection
        }
    }

    private func addHandlers(to channel: any Channel, handshakeEnd: NIODeadline) throws -> WebhookConnectionHandler {
        let pipeline = channel.pipeline.syncOperations
        if let tls {
            try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: endpoint.serverName))
        }
        var encoding = HTTPRequestEncoder.Configuration()
        // The requests have their `content-length`.
        encoding.automaticallySetFramingHeaders = false
        try pipeline.addHandler(HTTPRequestEncoder(configuration: encoding))
        var limits = NIOHTTPDecoderLimitConfiguration()
        (limits.maxHeaderFieldSize, limits.maxHeaderListSize) = (16384, 65536)
        try pipeline.addHandler(ByteToMessageHandler(HTTPResponseDecoder(limitConfiguration: limits)))
        let handler = WebhookConnectionHandler(pool: self, handshakeEnd: tls == nil ? nil : handshakeEnd)
        try pipeline.addHandler(handler)
        return handler
    }
}
