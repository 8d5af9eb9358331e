import NIOCore
import NIOHTTP1
import NIOPosix
import NIOTLS

/// The states of a connection, on its event loop.
///
/// It reads only when it wants more (`autoRead` is off): at most 64 KiB and one read are collected, then the store
/// has them, and the next read waits until they are written. An idle connection has a read under way, so that bytes
/// without a request end it.
final class OutboundConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    /// What the answer needs.
    private enum State {
        case idle
        case head
        case body(any AnswerBody)
        /// The last bytes are in the body's hands.
        case finishing
        /// The body is of no interest; the result is reported at the end of this read.
        case draining(Result<any OutboundAnswer, OutboundFailure>?)
    }

    private static let collectedBytes = 64 * 1024

    private let pool: OutboundConnections
    private let eventLoop: any EventLoop
    /// Set when the pool has the connection.
    private var connection: OutboundConnection?
    private var context: ChannelHandlerContext?
    private var exchange: OutboundExchange?
    private var state = State.idle
    private var collected = ByteBuffer()
    /// Of this answer.
    private var bodyBytes = 0
    /// A thread has bytes of this answer.
    private var isWriting = false
    private var isKeptAlive = true
    /// The body of the request has left; before, the connection cannot have another one.
    private var isSent = true
    /// The answer was read to its end.
    private var isAnswered = false
    /// It has had a request.
    private var isUsed = false
    /// It had another request before this one.
    private var isReused = false
    /// Why it ended.
    private var failure: OutboundFailure?
    /// Until then the TLS handshake must be done; nil when it is, or when there is none.
    private var handshakeEnd: NIODeadline?
    private let timer: PhaseTimer
    /// Between this handler and the socket.
    let encoder = OutboundRequestEncoder()

    init(pool: OutboundConnections, on eventLoop: any EventLoop, handshakeEnd: NIODeadline?) {
        (self.pool, self.eventLoop, self.handshakeEnd) = (pool, eventLoop, handshakeEnd)
        timer = PhaseTimer(on: eventLoop)
    }

    // MARK: - Requests

    func begin(_ exchange: OutboundExchange, on connection: OutboundConnection) {
        guard let context, context.channel.isActive else {
            pool.remove(connection)
            var failure = failure ?? OutboundFailure(.disconnected, "\(connection.origin.host) closed the connection")
            // Nothing was sent. An idle connection may be closed at any time; a new one failed, perhaps in its
            // handshake.
            failure.isSent = false
            if isUsed, exchange.retryOnce() { pool.begin(exchange) } else { exchange.end(.failure(failure)) }
            return
        }
        (self.connection, isReused, isUsed) = (connection, isUsed, true)
        guard exchange.deadline > .now() else {
            exchange.end(.failure(OutboundFailure(.timedOut, "\(host): \(OutboundPhase.waiting.rawValue)")))
            return rest()
        }
        guard exchange.begin(on: connection) else { return rest() }
        (self.exchange, state, bodyBytes, isAnswered) = (exchange, .head, 0, false)
        exchange.observer?.connected(to: connection.address, isReused: isReused)
        exchange.observer?.enter(handshakeEnd == nil ? .head : .handshake)
        watch(until: min(exchange.deadline, handshakeEnd ?? .now() + pool.settings.firstByteTimeout))
        isSent = exchange.body == nil
        let sent = isSent ? nil : eventLoop.makePromise(of: Void.self)
        sent?.futureResult.assumeIsolated().whenSuccess { [self] in isSent = true }
        encoder.body = exchange.body
        context.writeAndFlush(wrapOutboundOut(.head(exchange.head)), promise: sent)
        context.read()
    }

    func abandon(_ exchange: OutboundExchange) {
        if self.exchange === exchange { fail(.cancelled) }
    }

    /// The request is done: the connection may have the next one.
    private func rest() {
        (exchange, state) = (nil, .idle)
        guard let connection, let context, context.channel.isActive else { return }
        guard isKeptAlive else { return context.close(promise: nil) }
        watch(until: min(handshakeEnd ?? connection.end, .now() + pool.settings.idleTimeout, connection.end))
        context.read()
        pool.release(connection)
    }

    /// Ends the connection, and the request if it has no answer.
    private func fail(_ failure: OutboundFailure) {
        var failure = failure
        // Until the end of the handshake requests wait in the connection.
        failure.isSent = exchange != nil && handshakeEnd == nil
        self.failure = self.failure ?? failure
        let (ended, state) = (exchange, state)
        // The end of the connection, which `close` may report at once, changes nothing any more.
        if case .finishing = state {} else { (exchange, self.state) = (nil, .idle) }
        close()
        switch state {
        // The bytes are whole: what happens to the connection does not matter.
        case .finishing: break
        case .draining(let result): ended?.end(result ?? .failure(failure))
        case .body(let body):
            pool.threads.submit { _ in body.abandon() }
            ended?.end(.failure(failure))
        case .idle, .head: ended?.end(.failure(failure))
        }
    }

    private func close() {
        isKeptAlive = false
        context?.close(promise: nil)
    }

    /// The connection has ended by itself.
    ///
    /// - Parameter isReset: without an end of the stream.
    private func lost(_ code: OutboundFailure.Code, _ text: String, isReset: Bool) {
        let detail = "\(host): \(text)"
        switch (state, code) {
        // Who speaks no TLS ends the connection in one way or another.
        case (.head, .disconnected) where handshakeEnd != nil: fail(OutboundFailure(.tls, detail))
        case (.head, .disconnected) where isReused && exchange?.isRepeated == true && exchange?.retryOnce() == true:
            let retried = exchange
            exchange = nil
            fail(OutboundFailure(code, detail))
            if let retried { pool.begin(retried) }
        case (.body, _) where isAnswered:
            // Its last bytes wait for the store.
            close()
        case (.body, .disconnected) where !isReset:
            fail(OutboundFailure(.truncated, "\(detail) after \(bodyBytes) bytes of the body"))
        default: fail(OutboundFailure(code, detail))
        }
    }

    private var host: String { connection?.origin.host ?? "" }

    // MARK: - Answers

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .head): received(head)
        case (.body(var part), .body):
            bodyBytes &+= part.readableBytes
            collected.writeBuffer(&part)
        case (.body(let part), .draining(let result)):
            bodyBytes &+= part.readableBytes
            if bodyBytes > pool.settings.drainedBytes {
                report(result)
                close()
            }
        case (.end, .body(let body)):
            isAnswered = true
            if !isWriting { finish(body) }
        case (.end, .draining): isAnswered = true
        // Bytes after the failure of the connection.
        case (_, .idle) where failure != nil: break
        // An answer without a request, or a second one.
        default: fail(OutboundFailure(.invalidResponse, "\(host): an answer that was not asked for"))
        }
    }

    private func received(_ head: HTTPResponseHead) {
        guard let exchange else { return }
        isKeptAlive = head.isKeepAlive && isSent
        // The whole time of the download is watched where it was asked for.
        watch(until: .distantFuture)
        exchange.observer?.answered(head)
        // No HTTP follows.
        guard head.status != .switchingProtocols else {
            return fail(OutboundFailure(.invalidResponse, "\(exchange.url.host): the server changes the protocol"))
        }
        switch exchange.judge(head) {
        case .body(let body):
            state = .body(body)
            exchange.observer?.enter(.body)
            watchRate()
        case .end(let result):
            state = .draining(result)
            watch(until: min(exchange.deadline, .now() + pool.settings.firstByteTimeout))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        switch state {
        case .idle, .head: if failure == nil { context.read() }
        case .body(let body):
            if !isWriting { proceed(body) }
        case .finishing: break
        case .draining(let result):
            guard isAnswered else {
                report(result)
                return context.read()
            }
            let ended = exchange
            // First, so that the request that follows the answer gets this connection.
            rest()
            if let result { ended?.end(result) }
        }
    }

    private func report(_ result: Result<any OutboundAnswer, OutboundFailure>?) {
        guard let result else { return }
        state = .draining(nil)
        exchange?.end(result)
    }

    // MARK: - The store

    /// Reads on, unless the store has to take something first.
    private func proceed(_ body: any AnswerBody) {
        if isAnswered {
            finish(body)
        } else if collected.readableBytes >= Self.collectedBytes {
            write(body)
        } else {
            context?.read()
        }
    }

    private func write(_ body: any AnswerBody) {
        isWriting = true
        perform(body) { bytes throws(OutboundFailure) in
            try body.append(bytes)
        } then: { handler, result in
            handler.isWriting = false
            // Otherwise it has failed meanwhile.
            guard case .body(let body) = handler.state else { return }
            switch result {
            // More may have come at once, with the end of the connection.
            case .success: handler.proceed(body)
            case .failure(let failure): handler.fail(failure)
            }
        }
    }

    private func finish(_ body: any AnswerBody) {
        exchange?.observer?.enter(.storing)
        state = .finishing
        // Bytes after the answer end the connection.
        context?.read()
        perform(body) { bytes throws(OutboundFailure) in
            try body.finish(bytes)
        } then: { handler, result in
            let ended = handler.exchange
            // First, so that the next request gets this connection.
            handler.rest()
            ended?.end(result)
        }
    }

    /// Gives the collected bytes to a thread.
    private func perform<Value: Sendable>(
        _ body: any AnswerBody,
        _ work: @escaping @Sendable (ByteBuffer) throws(OutboundFailure) -> Value,
        then: @escaping @Sendable (OutboundConnectionHandler, Result<Value, OutboundFailure>) -> Void
    ) {
        let bytes = collected
        collected = ByteBuffer()
        let (handler, exchange) = (NIOLoopBound(self, eventLoop: eventLoop), exchange)
        pool.threads.submit { [eventLoop] state in
            let result: Result<Value, OutboundFailure>
            if state == .active, exchange?.isOver == false {
                result = Result { () throws(OutboundFailure) in try work(bytes) }
            } else {
                body.abandon()
                result = .failure(.cancelled)
            }
            eventLoop.execute { then(handler.value, result) }
        }
    }

    /// Ends a body that arrives too slowly; the time in which the store has its bytes does not count.
    private func watchRate() {
        let rate = pool.settings.minimumRate
        guard rate > 0 else { return }
        let before = bodyBytes
        let window = pool.settings.rateWindow
        timer.set(to: .now() + window) { [weak self] in
            guard let self, case .body = state, !isAnswered else { return }
            let least = Double(rate) * Double(window.nanoseconds) / 1e9
            if !isWriting, Double(bodyBytes - before) < least {
                fail(OutboundFailure(.tooSlow, "\(host): less than \(rate) bytes a second"))
            } else {
                watchRate()
            }
        }
    }

    private func watch(until end: NIODeadline) {
        timer.set(to: end) { [weak self] in
            guard let self else { return }
            let phase = handshakeEnd != nil ? OutboundPhase.handshake : .head
            fail(OutboundFailure(.timedOut, "\(host): \(phase.rawValue)"))
        }
    }

    // MARK: - Events of the connection

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent {
            handshakeEnd = nil
            if let exchange {
                exchange.observer?.secured()
                exchange.observer?.enter(.head)
                watch(until: min(exchange.deadline, .now() + pool.settings.firstByteTimeout))
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A part of a head came: the request is not repeated.
        if case HTTPParserError.invalidEOFState = error { isReused = false }
        lost(ConnectionFailure.code(of: error), ConnectionFailure.text(error), isReset: error is IOError)
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer.cancel()
        lost(.disconnected, "the server closed the connection", isReset: false)
        if let connection { pool.remove(connection) }
        context.fireChannelInactive()
    }
}
