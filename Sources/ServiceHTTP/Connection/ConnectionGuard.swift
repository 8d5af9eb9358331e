import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOTLS

/// Enforces the limits of a connection, directly behind the HTTP decoder: answers invalid input with a problem,
/// disconnects slow clients, answers when no handler does in time, and closes a connection so that the client can read
/// its last response.
///
/// After the last response it closes the sending side and discards further input until the client closes too, or a
/// limit is reached. An immediate close would make the client's system drop the response while the client is still
/// sending.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Announces that the body of the current request will be read. The client may be waiting for that.
    struct BodyIsWanted: Sendable {
        init() {}
    }

    private let bounds: ConnectionBounds
    private let memory: CallMemory
    private let metrics: ConnectionMetrics

    private var state = ConnectionState()
    private var context: ChannelHandlerContext?
    /// The gate's context: writing there bypasses TLS.
    private var gate: ChannelHandlerContext?
    var lines: LineWatch?
    /// The bytes of the arriving head, and how many of them are reserved in the memory of all calls.
    private var headBytes = (arrived: 0, taken: 0)
    private var receivingSince: NIODeadline?
    private var receiveTimer: Scheduled<Void>?
    private var answerDueSince: NIODeadline?
    private var answerTimer: Scheduled<Void>?
    private var sendTimer: Scheduled<Void>?
    private var lastTimer: Scheduled<Void>?
    private var lastHead = (isHEAD: false, expectsContinue: false)
    /// Whether the client can read responses: without TLS from the beginning, with TLS after the handshake.
    private var isGreeted: Bool
    private var isInputClosed = false
    private var isQuiescing = false
    /// Nothing more will be written.
    private var isLastWritten = false

    init(bounds: ConnectionBounds, isTLS: Bool, memory: CallMemory, metrics: ConnectionMetrics) {
        isGreeted = !isTLS
        self.bounds = bounds
        self.memory = memory
        self.metrics = metrics
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        forgetHead()
        for timer in [receiveTimer, answerTimer, sendTimer, lastTimer] { timer?.cancel() }
        self.context = nil
    }

    var isReadingBody: Bool { state.reading == .body }

    // MARK: Bytes, reported by the gate

    func gateAdded(_ context: ChannelHandlerContext) { gate = context }

    func gateRemoved() { gate = nil }

    /// - Returns: Whether a handler still reads them.
    func bytesArrived(_ count: Int) -> Bool {
        switch state.bytesArrived(count) {
        case .pass, .passAsLast:
            if state.reading == .head { headBytes.arrived += count }
            return true
        case .drop:
            if state.discarded > bounds.discardedBytes { cut(.stillSending) }
            return false
        }
    }

    func readsComplete() {
        guard !state.isEnding else {
            // The handlers behind request no more reads, but the client must be able to close.
            gate?.read()
            return
        }
        if state.reading == .head { keepHead() } else { forgetHead() }
        watchReceiving()
    }

    /// Reserves memory for a head that arrives in several reads.
    private func keepHead() {
        let more = headBytes.arrived - headBytes.taken
        guard more > 0 else { return }
        guard memory.take(more) else { return refuse(.overloaded) }
        headBytes.taken = headBytes.arrived
    }

    private func forgetHead() {
        guard headBytes.arrived > 0 else { return }
        memory.give(headBytes.taken)
        headBytes = (0, 0)
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let passage: ConnectionState.Passage
        switch unwrapInboundIn(data) {
        case .head(var head):
            if headArrived(&head) != .drop { context.fireChannelRead(wrapInboundOut(.head(head))) }
            return
        case .body: passage = state.bodyArrived()
        case .end:
            passage = state.endArrived()
            receivingSince = nil
            watchAnswering()
        }
        if passage != .drop { context.fireChannelRead(data) }
    }

    private func headArrived(_ head: inout HTTPRequestHead) -> ConnectionState.Passage {
        guard !state.isEnding else { return .drop }
        if let problem = bounds.problem(of: head) ?? head.resolveAbsoluteForm() {
            refuse(problem)
            return .drop
        }
        var asksForProtocol = head.method == .CONNECT
        var expectsContinue = false
        for (name, value) in head.headers {
            switch name.utf8.count {
            // The decoder stops reading at the start of another protocol.
            case 7 where name.lowercased() == "upgrade": asksForProtocol = true
            case 6 where name.lowercased() == "expect": expectsContinue = value.lowercased() == "100-continue"
            default: break
            }
        }
        lastHead = (head.method == .HEAD, expectsContinue && head.version != .http1_0)
        return state.headArrived(isLast: !head.isKeepAlive || asksForProtocol)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !state.isEnding else { return }
        if let error = error as? HTTPParserError {
            // The request line also contains the method and version.
            let isTarget = lines?.hasRequestLine(longerThan: bounds.targetBytes + 32) == true
            refuse(bounds.problem(of: error, isTarget: isTarget))
        } else {
            context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            if isLastWritten { close() }
        case is ChannelShouldQuiesceEvent:
            isQuiescing = true
            if isLastWritten { close() }
            state.stop()
        case TLSUserEvent.handshakeCompleted:
            isGreeted = true
            state.greetingArrived()
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Refusals

    /// Refuses the arriving request, now or after earlier responses, and closes the connection.
    private func refuse(_ problem: Problem) {
        guard let context else { return }
        // On a closed connection no client can read the response.
        if case .answer = state.refuse(problem), context.channel.isActive { answer(problem, context) }
        // Tell the reader of the request that its body is incomplete.
        context.fireErrorCaught(HTTPParserError.invalidEOFState)
    }

    private func answer(_ problem: Problem, _ context: ChannelHandlerContext) {
        metrics.countRefusal(problem.reason, status: problem.status.code)
        let body = ByteBuffer(bytes: problem.json)
        var headers = HTTPHeaders()
        for field in problem.headers { headers.add(name: field.name.rawName, value: field.value) }
        headers.add(name: "content-type", value: Problem.mediaType)
        headers.add(name: "content-length", value: "\(body.readableBytes)")
        headers.add(name: "connection", value: "close")
        let status = HTTPResponseStatus(statusCode: problem.status.code, reasonPhrase: problem.status.reasonPhrase)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !(state.unanswered == 1 && lastHead.isHEAD) {
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
        end(after: written)
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            answerDueSince = nil
            switch state.answerBegins(isInformational: head.status.code < 200) {
            case .pass: context.write(data, promise: promise)
            case .passAsLast:
                head.headers.replaceOrAdd(name: "connection", value: "close")
                context.write(wrapOutboundOut(.head(head)), promise: promise)
            case .drop: promise?.succeed()
            }
        case .body:
            if state.answerGoesOn() == .drop { promise?.succeed() } else { context.write(data, promise: promise) }
        case .end:
            switch state.answerEnds() {
            case .goOn:
                context.write(data, promise: promise)
                watchReceiving()
                watchAnswering()
            case .drop: promise?.succeed()
            case .end:
                let written = promise ?? context.eventLoop.makePromise()
                context.write(data, promise: written)
                end(after: written)
            case .refuse(let problem):
                context.write(data, promise: promise)
                answer(problem, context)
            }
        }
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard event is BodyIsWanted else { return context.triggerUserOutboundEvent(event, promise: promise) }
        if lastHead.expectsContinue, state.isWaitingForClient, state.reading == .body {
            lastHead.expectsContinue = false
            let head = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        }
        promise?.succeed()
    }

    // MARK: Closing

    private func end(after written: EventLoopPromise<Void>) {
        lastTimer = context?.eventLoop.assumeIsolated().scheduleTask(in: bounds.receiveTimeout) { [self] in
            cut(.stillSending)
        }
        written.futureResult.assumeIsolated().whenComplete { [self] _ in
            isLastWritten = true
            if isInputClosed || isQuiescing { return close() }
            context?.close(mode: .output, promise: nil)
            gate?.read()
        }
    }

    private func cut(_ cause: ConnectionMetrics.Cut) {
        metrics.countCut(cause)
        close()
    }

    /// Closes at once, without a TLS close notification.
    private func close() { gate?.close(promise: nil) }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if state.isEnding, !isQuiescing {
            // A graceful close is already in progress.
            if let promise { context.channel.closeFuture.cascade(to: promise) }
            return
        }
        if mode == .all, state.isIdle, !isInputClosed, !isQuiescing { metrics.countCut(.idle) }
        context.close(mode: mode, promise: promise)
    }

    // MARK: Time

    /// Starts the receive timeout of the arriving request. One timer serves many requests: most are complete after the
    /// first read and need none.
    private func watchReceiving() {
        guard state.isWaitingForClient, let loop = context?.eventLoop else { return }
        if receivingSince == nil { receivingSince = loop.now }
        guard receiveTimer == nil else { return }
        receiveTimer = loop.assumeIsolated().scheduleTask(in: bounds.receiveTimeout) { [self] in checkReceiving() }
    }

    private func checkReceiving() {
        receiveTimer = nil
        guard state.isWaitingForClient, let since = receivingSince, let loop = context?.eventLoop else { return }
        let end = since + bounds.receiveTimeout
        if loop.now < end {
            receiveTimer = loop.assumeIsolated().scheduleTask(deadline: end) { [self] in checkReceiving() }
        } else if isGreeted {
            metrics.countCut(.receiveTimeout)
            refuse(.receiveTimeout)
        } else {
            cut(.receiveTimeout)
        }
    }

    /// Starts the timeout of the next response; one timer serves many responses too.
    private func watchAnswering() {
        guard answerDueSince == nil, state.isWaitingForAnswer, let loop = context?.eventLoop else { return }
        answerDueSince = loop.now
        guard answerTimer == nil else { return }
        answerTimer = loop.assumeIsolated().scheduleTask(in: bounds.answerTimeout) { [self] in checkAnswering() }
    }

    private func checkAnswering() {
        answerTimer = nil
        guard let since = answerDueSince, let context else { return }
        let end = since + bounds.answerTimeout
        if context.eventLoop.now < end {
            answerTimer = context.eventLoop.assumeIsolated().scheduleTask(deadline: end) { [self] in checkAnswering() }
        } else if state.giveUp() {
            answer(bounds.unanswered, context)
            context.fireErrorCaught(HTTPParserError.invalidEOFState)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        sendTimer?.cancel()
        sendTimer = nil
        if !context.channel.isWritable {
            sendTimer = context.eventLoop.assumeIsolated().scheduleTask(in: bounds.sendTimeout) { [self] in
                cut(.sendTimeout)
            }
        }
        context.fireChannelWritabilityChanged()
    }
}
