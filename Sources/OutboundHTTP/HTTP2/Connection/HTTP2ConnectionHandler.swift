import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOTLS

/// One HTTP/2 connection on the event loop of its pool: turns requests into frames, and frames into answers.
///
/// It works with the frames of `NIOHTTP2Handler` and not with a channel for each stream, which costs more than all the rest.
/// The handler below keeps bodies back while the flow-control windows are closed; this one counts, so that the plan gives out
/// no more than fits.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias OutboundOut = HTTP2Frame

    /// A request without its whole answer.
    private struct Stream {
        let number: RequestNumber
        /// Bytes of the request's body that were not written yet: the windows are closed.
        var unsent: Int
        /// 0 before the head of the answer.
        var status = 0
        var headers = HPACKHeaders()
        var body = ByteBuffer()
    }

    private enum State {
        /// TCP, then TLS.
        case opening
        case open
        /// The pool has been told that it is closed, or does not want it any more.
        case closed
    }

    /// What the server may send before it must wait; half of it is granted again at a time.
    private static let receiveWindow = 65_535
    private static let mostDebugData = 1024

    let id: HTTP2ConnectionID
    private let origin: EgressURL
    private let pool: HTTP2PoolCore
    private let answerBytes: Int
    private var state = State.opening
    private var context: ChannelHandlerContext?
    private var streams: [Int: Stream] = [:]
    /// Received bytes of bodies that were not granted again.
    private var consumed = 0
    private var isFlushNeeded = false
    /// The HTTP/2 handler ends the connection because of an error.
    private var hasSentGoAway = false
    private var pings: UInt64 = 0

    init(_ id: HTTP2ConnectionID, to origin: EgressURL, in pool: HTTP2PoolCore, answerBytes: Int) {
        (self.id, self.origin, self.pool, self.answerBytes) = (id, origin, pool, min(answerBytes, Self.receiveWindow))
    }

    // MARK: - What the pool wants

    /// Writes a request without flushing.
    func send(_ request: HTTP2Request, _ number: RequestNumber, stream: Int) {
        guard state == .open, let context else { return }
        let size = request.body?.readableBytes ?? 0
        streams[stream] = Stream(number: number, unsent: size)
        let streamID = HTTP2StreamID(stream)
        let head = HTTP2Frame.FramePayload.Headers(headers: request.headers, endStream: request.body == nil)
        write(HTTP2Frame(streamID: streamID, payload: .headers(head)), context)
        // A field that HTTP does not allow has ended it.
        guard let body = request.body, streams[stream] != nil else { return }
        let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(body), endStream: true)
        write(HTTP2Frame(streamID: streamID, payload: .data(data)), context)
    }

    /// Nobody waits for the answer any more.
    func reset(stream: Int) {
        guard let ended = streams.removeValue(forKey: stream) else { return }
        end(stream, ended, mayBeOpen: true)
    }

    func ping() {
        guard state == .open, let context else { return }
        pings &+= 1
        write(HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: pings), ack: false)), context)
    }

    func flush() {
        guard isFlushNeeded, let context else { return }
        isFlushNeeded = false
        context.flush()
    }

    /// Ends the connection; the pool hears no more of it.
    func close() {
        let wasOpen = state == .open
        state = .closed
        streams = [:]
        guard let context else { return }
        if wasOpen, !hasSentGoAway {
            let goAway = HTTP2Frame.FramePayload.goAway(lastStreamID: .rootStream, errorCode: .noError, opaqueData: nil)
            write(HTTP2Frame(streamID: .rootStream, payload: goAway), context)
            flush()
        }
        context.close(promise: nil)
    }

    private func write(_ frame: HTTP2Frame, _ context: ChannelHandlerContext) {
        isFlushNeeded = true
        context.write(wrapOutboundOut(frame), promise: nil)
    }

    /// A stream has ended before the server had the whole request, or without an answer.
    private func end(_ number: Int, _ stream: Stream, mayBeOpen: Bool) {
        if mayBeOpen, state == .open, let context {
            write(HTTP2Frame(streamID: HTTP2StreamID(number), payload: .rstStream(.cancel)), context)
        }
        if stream.unsent > 0 { pool.plan.windowUpdated(id, by: stream.unsent) }
    }

    // MARK: - Frames

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state == .open else { return }
        let frame = unwrapInboundIn(data)
        let stream = Int(frame.streamID)
        switch frame.payload {
        case .headers(let payload): received(payload, stream)
        case .data(let payload): received(payload, stream)
        case .rstStream(let code): wasReset(stream, code)
        case .settings(.settings(let settings)):
            let maxStreams = settings.last { $0.parameter == .maxConcurrentStreams }?.value
            pool.plan.settled(id, maxStreams: maxStreams, at: pool.now())
        case .goAway(let last, let code, let data):
            let bytes = data.map { Array($0.readableBytesView.prefix(Self.mostDebugData)) } ?? []
            let goAway = HTTP2PoolEvent.GoAway(lastStream: Int(last), code: code.networkCode, debugData: bytes)
            streams = streams.filter { $0.key <= goAway.lastStream }
            pool.plan.goneAway(id, goAway, at: pool.now())
        case .windowUpdate(let increment):
            if stream == 0 { pool.plan.windowUpdated(id, by: increment) }
        default: break
        }
    }

    private func received(_ payload: HTTP2Frame.FramePayload.Headers, _ number: Int) {
        guard let index = streams.index(forKey: number) else { return }
        if streams.values[index].status == 0 {
            let status = payload.headers.first { $0.name == ":status" }.flatMap { Int($0.value) } ?? 0
            // Others follow an interim answer.
            guard status >= 200 else { return }
            streams.values[index].status = status
            streams.values[index].headers = payload.headers
        }
        if payload.endStream { finish(number, index) }
    }

    private func received(_ payload: HTTP2Frame.FramePayload.Data, _ number: Int) {
        consumed += payload.data.readableBytes + (payload.paddingBytes.map { $0 + 1 } ?? 0)
        guard case .byteBuffer(var bytes) = payload.data, let index = streams.index(forKey: number) else { return }
        guard streams.values[index].body.readableBytes + bytes.readableBytes <= answerBytes else {
            let text = "\(origin.host): a body with more than \(answerBytes) bytes"
            return fail(number, OutboundFailure(.tooLarge, text), mayBeOpen: true)
        }
        if bytes.readableBytes > 0 { streams.values[index].body.writeBuffer(&bytes) }
        if payload.endStream { finish(number, index) }
    }

    /// Lets the server send as many bytes of bodies again. Not while a frame is being read: a write would bring the events
    /// that belong after it.
    private func grantConsumed(_ context: ChannelHandlerContext) {
        guard consumed >= Self.receiveWindow / 2 else { return }
        write(HTTP2Frame(streamID: .rootStream, payload: .windowUpdate(windowSizeIncrement: consumed)), context)
        consumed = 0
    }

    private func finish(_ number: Int, _ index: Dictionary<Int, Stream>.Index) {
        let stream = streams.remove(at: index).value
        // The server does not want the rest of the request.
        if stream.unsent > 0 { end(number, stream, mayBeOpen: true) }
        guard stream.status > 0 else {
            let failure = OutboundFailure(.invalidResponse, "\(origin.host): an answer without a status")
            return pool.failed(stream.number, failure)
        }
        let answer = HTTP2Answer(status: stream.status, headers: stream.headers, body: stream.body, connection: id)
        pool.answered(stream.number, answer)
    }

    private func wasReset(_ number: Int, _ code: HTTP2ErrorCode) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        end(number, stream, mayBeOpen: false)
        if code == .refusedStream, stream.status == 0 {
            pool.plan.refused(stream.number, at: pool.now())
        } else {
            let text = "\(origin.host): the server has reset the stream with code \(code.networkCode)"
            pool.failed(stream.number, OutboundFailure(.disconnected, text))
        }
    }

    private func fail(_ number: Int, _ failure: OutboundFailure, mayBeOpen: Bool, isSent: Bool = true) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        end(number, stream, mayBeOpen: mayBeOpen)
        pool.failed(stream.number, failure, isSent: isSent)
    }

    // MARK: - Events of the connection

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        if !origin.usesTLS { begin(context) }
        context.fireChannelActive()
    }

    /// The server speaks HTTP/2: the preface and the first SETTINGS go out.
    private func begin(_ context: ChannelHandlerContext) {
        guard state == .opening else { return }
        state = .open
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .maxHeaderListSize, value: HPACKDecoder.defaultMaxHeaderListSize),
            HTTP2Setting(parameter: .initialWindowSize, value: Self.receiveWindow),
        ]
        var streams = NIOHTTP2Handler.StreamConfiguration()
        // A server may refuse all streams of a connection at once, which is no attack.
        streams.streamResetFrameRateLimit.maximumCount = 10_000
        let handler = NIOHTTP2Handler(
            mode: .client,
            frameDelegate: self,
            connectionConfiguration: connection,
            streamConfiguration: streams
        )
        do {
            try context.pipeline.syncOperations.addHandler(handler, position: .before(self))
            pool.plan.opened(id, at: pool.now())
        } catch {
            lost(OutboundFailure(.notConnected, "\(origin.host): \(ConnectionFailure.text(error))"))
        }
        pool.proceed()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if state == .open {
            pool.plan.heard(id, at: pool.now())
            grantConsumed(context)
        }
        pool.proceed()
        // What the frames made it write.
        flush()
        context.fireChannelReadComplete()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if state == .open {
            pool.plan.writabilityChanged(id, isWritable: context.channel.isWritable)
            pool.proceed()
        }
        context.fireChannelWritabilityChanged()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? StreamClosedEvent {
            // Other ends have removed the stream before: this one is an answer that HTTP does not allow.
            let failure = OutboundFailure(.invalidResponse, "\(origin.host): an answer that HTTP/2 does not allow")
            fail(Int(event.streamID), failure, mayBeOpen: false)
        } else if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            if negotiated == OutboundTLS.ApplicationProtocol.http2.rawValue {
                begin(context)
            } else {
                lost(OutboundFailure(.tls, "\(origin.host): the server does not offer HTTP/2 in the handshake (ALPN)"))
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOHTTP2Errors.StreamError {
            // A request that HTTP does not allow: nothing of it was written.
            let failure = OutboundFailure(.invalidResponse, "\(origin.host): a field that HTTP does not allow")
            return fail(Int(error.streamID), failure, mayBeOpen: false, isSent: false)
        }
        // The HTTP/2 handler has reset the stream of an answer that HTTP does not allow; the end of the stream is an event.
        if error is any NIOHTTP2Error, !hasSentGoAway { return }
        var code = ConnectionFailure.code(of: error)
        if error is any NIOHTTP2Error { code = .invalidResponse }
        // Who speaks no TLS ends the connection in one way or another.
        if state == .opening, origin.usesTLS, code == .disconnected { code = .tls }
        lost(OutboundFailure(code, "\(origin.host): \(ConnectionFailure.text(error))"))
    }

    func channelInactive(context: ChannelHandlerContext) {
        let code: OutboundFailure.Code = state == .opening && origin.usesTLS ? .tls : .disconnected
        lost(OutboundFailure(code, "\(origin.host): the server closed the connection"))
        context.fireChannelInactive()
    }

    /// The connection has ended by itself.
    private func lost(_ failure: OutboundFailure) {
        guard state != .closed else { return }
        state = .closed
        streams = [:]
        context?.close(promise: nil)
        pool.closed(id, failure)
    }
}

extension HTTP2ConnectionHandler: NIOHTTP2FrameDelegate {
    func wroteFrame(_ frame: HTTP2Frame) {
        switch frame.payload {
        case .data(let payload):
            guard let index = streams.index(forKey: Int(frame.streamID)) else { return }
            streams.values[index].unsent -= payload.data.readableBytes
        case .goAway: hasSentGoAway = true
        default: break
        }
    }
}
