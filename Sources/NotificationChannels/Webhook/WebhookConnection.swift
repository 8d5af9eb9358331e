import NIOCore
import NIOHTTP1
import NIOTLS

/// A connection to the endpoint, with one request at a time. Its handler reports each answer as soon as the status is
/// known, and reads a bounded part of the body, so that the connection can be used again.
final class WebhookConnection: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<WebhookConnectionHandler>

    init(_ channel: any Channel, _ handler: NIOLoopBound<WebhookConnectionHandler>) {
        (self.channel, self.handler) = (channel, handler)
    }

    /// Sends a request; the pool has given this connection to it.
    func begin(_ exchange: WebhookExchange) {
        onLoop { $0.begin(exchange, on: self) }
    }

    /// Closes the connection if it still has the request.
    func abandon(_ exchange: WebhookExchange) {
        onLoop { if $0.exchange === exchange { self.close() } }
    }

    func close() { channel.close(mode: .all, promise: nil) }

    private func onLoop(_ body: @escaping @Sendable (WebhookConnectionHandler) -> Void) {
        if channel.eventLoop.inEventLoop {
            body(handler.value)
        } else {
            channel.eventLoop.execute { [handler] in body(handler.value) }
        }
    }
}

/// The states of a connection, on its event loop.
final class WebhookConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let pool: WebhookConnections
    /// Set when the pool has the connection.
    private var connection: WebhookConnection?
    private var context: ChannelHandlerContext?
    /// The request whose answer is read; its body may still arrive after the answer was reported.
    private(set) var exchange: WebhookExchange?
    /// Not reported yet.
    private var answer: (status: UInt, retryAfter: String?)?
    private var bodyBytes = 0
    private var isKeptAlive = false
    /// The answer was read to its end.
    private var isAnswered = false
    private var isUsed = false
    /// Why it ended.
    private var failure: WebhookAnswer.Kind?
    /// Until then the TLS handshake must be done; nil when it is, or when there is none.
    private var handshakeEnd: NIODeadline?
    /// When the request, the handshake or the idle time ends.
    private var end = NIODeadline.distantFuture
    /// The only timer: it checks `end`, and is set again only if that has moved, since nearly every request ends before.
    private var timer: Scheduled<Void>?
    private var timerEnd = NIODeadline.distantFuture

    init(pool: WebhookConnections, handshakeEnd: NIODeadline?) {
        (self.pool, self.handshakeEnd) = (pool, handshakeEnd)
    }

    // MARK: - Requests

    func begin(_ exchange: WebhookExchange, on connection: WebhookConnection) {
        guard let context, context.channel.isActive else {
            pool.remove(connection)
            // Nothing was sent. An idle connection may be closed at any time; a new one has failed, perhaps in its handshake.
            return isUsed ? pool.begin(exchange) : exchange.fail(failure ?? .disconnected)
        }
        (self.connection, isUsed) = (connection, true)
        guard exchange.deadline > .now() else {
            exchange.fail(.timedOut)
            return rest()
        }
        guard exchange.begin(on: connection) else { return rest() }
        (self.exchange, answer, bodyBytes, isKeptAlive, isAnswered) = (exchange, nil, 0, false, false)
        watch(until: min(exchange.deadline, handshakeEnd ?? .distantFuture))
        context.write(wrapOutboundOut(.head(exchange.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(exchange.body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// The connection has no request.
    private func rest() {
        exchange = nil
        guard let connection else { return }
        watch(until: .now() + pool.idleTimeout)
        pool.release(connection)
    }

    private func report() {
        guard let answer else { return }
        self.answer = nil
        exchange?.end(status: answer.status, retryAfter: answer.retryAfter)
    }

    /// Ends the connection, and the request if it has no answer.
    private func fail(_ kind: WebhookAnswer.Kind) {
        // Who speaks no TLS ends the connection in one way or another.
        let kind = handshakeEnd != nil && kind == .disconnected ? .tls : kind
        failure = failure ?? kind
        report()
        // Until the end of the handshake requests wait in the connection.
        exchange?.fail(kind, isSent: handshakeEnd == nil)
        exchange = nil
        context?.close(promise: nil)
    }

    // MARK: - Time

    private func watch(until end: NIODeadline) {
        self.end = end
        guard timer == nil || end < timerEnd else { return }
        timer?.cancel()
        timerEnd = end
        timer = context?.eventLoop.assumeIsolated().scheduleTask(deadline: end) { [weak self] in self?.check() }
    }

    private func check() {
        timer = nil
        if NIODeadline.now() < end { watch(until: end) } else { fail(.timedOut) }
    }

    // MARK: - Events of the connection

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            handshakeEnd = nil
            if let exchange { end = exchange.deadline }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // An answer without a request, or a second one.
            guard exchange != nil, !isAnswered else { return fail(.invalid) }
            // The decoder drops other informational answers; no HTTP follows this one.
            isKeptAlive = head.isKeepAlive && head.status != .switchingProtocols
            answer = (head.status.code, head.headers.first(name: "retry-after"))
        case .body(let part):
            bodyBytes += part.readableBytes
            if bodyBytes > pool.answerBytes { fail(.disconnected) }
        case .end:
            if isKeptAlive { isAnswered = true } else { fail(.disconnected) }
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Without the end of its body an answer counts too.
        guard isAnswered, let ended = exchange else { return report() }
        let answer = answer
        self.answer = nil
        // First, so that the send that follows the answer gets this connection.
        rest()
        if let answer { ended.end(status: answer.status, retryAfter: answer.retryAfter) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(WebhookAnswer.kind(of: error))
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        fail(.disconnected)
        if let connection { pool.remove(connection) }
        connection = nil
        context.fireChannelInactive()
    }
}
