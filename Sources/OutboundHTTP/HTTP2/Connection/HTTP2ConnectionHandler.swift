import NIOCore
import NIOTLS

/// One HTTP/2 connection on the event loop of its pool: turns requests into frames, and frames into answers.
///
/// The client's side of RFC 9113, over the compression of fields of swift-nio-http2. Its `NIOHTTP2Handler` takes three times
/// the time for a request, most of it for what a client that only sends requests does not need: states of streams for both
/// sides, events for each change of a window, a second check of the number of streams.
final class HTTP2ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A request without its whole answer.
    private struct Stream {
        let number: RequestNumber
        var answer = HTTP2AnswerParts()
    }

    private enum State {
        /// TCP, then TLS.
        case opening
        case open
        /// The pool has been told that it is closed, or does not want it any more.
        case closed
    }

    private static let mostDebugData = 1024
    /// So many bytes are a write; a flush writes the rest.
    private static let writeBytes = 64 * 1024
    /// Frames that ask for an answer, or bring nothing, between two that end a stream: a server with more is no server.
    private static let mostIdleFrames = 10_000

    let id: HTTP2ConnectionID
    private let origin: EgressURL
    private let pool: HTTP2PoolCore
    private let answerBytes: Int
    private var state = State.opening
    private var context: ChannelHandlerContext?
    private var reader: HTTP2FrameReader
    private var writer: HTTP2FrameWriter
    private var windows = HTTP2SendWindows()
    /// Something was written, and not flushed.
    private var isFlushNeeded = false
    private var streams: [Int: Stream] = [:]
    private var lastStream = 0
    /// What the server may still send of bodies, and what of them is to be granted again.
    private var receiveWindow = HTTP2Wire.window
    private var consumed = 0
    private var idleFrames = 0
    private var pings: UInt64 = 0

    init(_ id: HTTP2ConnectionID, to origin: EgressURL, in pool: HTTP2PoolCore, answerBytes: Int) {
        (self.id, self.origin, self.pool) = (id, origin, pool)
        // More would need a larger window of the stream.
        self.answerBytes = min(answerBytes, HTTP2Wire.window)
        (reader, writer) = (HTTP2FrameReader(), HTTP2FrameWriter())
    }

    // MARK: - What the pool wants

    /// Writes a request without flushing.
    func send(_ request: HTTP2Request, _ number: RequestNumber, stream: Int) {
        guard state == .open else { return }
        guard request.fields.areSendable else {
            let failure = OutboundFailure(.invalidResponse, "\(origin.host): a field that HTTP does not allow")
            return pool.failed(number, failure, isSent: false)
        }
        do {
            try writer.headers(request.fields, stream: stream, isLast: request.body == nil)
        } catch {
            return lost(OutboundFailure(.invalidResponse, "\(origin.host): fields that cannot be compressed"))
        }
        streams[stream] = Stream(number: number)
        lastStream = max(lastStream, stream)
        if let body = request.body { windows.send(body, stream: stream, &writer) }
        if writer.count >= Self.writeBytes { write() }
    }

    /// Nobody waits for the answer any more.
    func reset(stream: Int) {
        guard streams.removeValue(forKey: stream) != nil else { return }
        end(stream, isWhole: false)
    }

    func ping() {
        guard state == .open else { return }
        pings &+= 1
        writer.ping(pings, isAck: false)
    }

    func flush() {
        if writer.count > 0 { write() }
        guard isFlushNeeded else { return }
        isFlushNeeded = false
        context?.flush()
    }

    private func write() {
        guard let context else { return }
        isFlushNeeded = true
        // The write may be told at once that the socket takes no more: then the writer must be free.
        context.write(wrapOutboundOut(writer.take()), promise: nil)
    }

    /// Ends the connection; the pool hears no more of it.
    ///
    /// - Parameter code: For the GOAWAY.
    func close(code: UInt32 = HTTP2Wire.ErrorCode.noError) {
        if state == .open {
            writer.goAway(code: code)
            flush()
        }
        (state, streams) = (.closed, [:])
        context?.close(promise: nil)
    }

    /// A stream has ended here, and ends there.
    ///
    /// - Parameter isWhole: Whether the server has ended its side.
    private func end(_ stream: Int, isWhole: Bool) {
        // A server that has answered does not want the rest of the request.
        if forget(stream) > 0 || !isWhole, state == .open {
            writer.reset(stream: stream, code: HTTP2Wire.ErrorCode.cancel)
        }
    }

    /// - Returns: Bytes of the stream's body that were not sent.
    @discardableResult
    private func forget(_ stream: Int) -> Int {
        let unsent = windows.end(stream)
        if unsent > 0 { pool.plan.windowUpdated(id, by: unsent) }
        return unsent
    }

    // MARK: - Frames

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard state == .open else { return }
        reader.append(unwrapInboundIn(data))
        do throws(HTTP2ProtocolError) {
            while state == .open, let frame = try reader.next() { try received(frame) }
        } catch {
            let failure = OutboundFailure(.invalidResponse, "\(origin.host): against HTTP/2: \(error.text)")
            close(code: error.code)
            pool.closed(id, failure)
        }
    }

    private func received(_ frame: HTTP2FrameReader.Frame) throws(HTTP2ProtocolError) {
        switch frame {
        case .headers(let stream, let fields, let isLast):
            try update(stream, isLast: isLast) { answer throws(HTTP2AnswerParts.Problem) in
                try answer.add(fields, isLast: isLast)
            }
        case .data(let stream, let bytes, let size, let isLast):
            receiveWindow -= size
            consumed += size
            guard receiveWindow >= 0 else {
                throw HTTP2ProtocolError(HTTP2Wire.ErrorCode.flowControlError, "more bytes than the window allows")
            }
            if size == 0 { try noteIdle() }
            try update(stream, isLast: isLast) { [answerBytes] answer throws(HTTP2AnswerParts.Problem) in
                try answer.add(bytes, bound: answerBytes)
            }
        case .reset(let stream, let code): try wasReset(stream, code)
        case .settings(let settings): try received(settings)
        case .ping(let data, let isAck):
            guard !isAck else { return }
            try noteIdle()
            writer.ping(data, isAck: true)
        case .goAway(let last, let code, let data):
            let bytes = Array(data.readableBytesView.prefix(Self.mostDebugData))
            for stream in streams.keys where stream > last {
                streams[stream] = nil
                forget(stream)
            }
            let goAway = HTTP2PoolEvent.GoAway(lastStream: last, code: Int(code), debugData: bytes)
            pool.plan.goneAway(id, goAway, at: pool.now())
        case .windowUpdate(0, let increment):
            try windows.update(by: increment, &writer)
            pool.plan.windowUpdated(id, by: increment)
        case .windowUpdate(let stream, let increment):
            try check(stream)
            try windows.update(stream, by: increment, &writer)
        }
    }

    /// Adds to the answer of a stream, and reports it when it is whole.
    private func update(
        _ number: Int,
        isLast: Bool,
        _ body: (inout HTTP2AnswerParts) throws(HTTP2AnswerParts.Problem) -> Void
    ) throws(HTTP2ProtocolError) {
        guard let index = streams.index(forKey: number) else { return try check(number) }
        do throws(HTTP2AnswerParts.Problem) {
            try body(&streams.values[index].answer)
            guard isLast else { return }
            try streams.values[index].answer.finish()
            let stream = streams.remove(at: index).value
            end(number, isWhole: true)
            idleFrames = 0
            let (answer, status) = (stream.answer, stream.answer.status)
            pool.answered(
                stream.number,
                HTTP2Answer(status: status, headers: answer.headers, body: answer.body, connection: id)
            )
        } catch {
            let stream = streams.remove(at: index).value
            end(number, isWhole: isLast)
            let failure =
                switch error {
                case .malformed:
                    OutboundFailure(.invalidResponse, "\(origin.host): an answer that HTTP/2 does not allow")
                case .tooLarge: OutboundFailure(.tooLarge, "\(origin.host): a body with more than \(answerBytes) bytes")
                }
            pool.failed(stream.number, failure)
        }
    }

    private func wasReset(_ number: Int, _ code: UInt32) throws(HTTP2ProtocolError) {
        guard let stream = streams.removeValue(forKey: number) else { return try check(number) }
        forget(number)
        if code == HTTP2Wire.ErrorCode.refusedStream, stream.answer.status == 0 {
            pool.plan.refused(stream.number, at: pool.now())
        } else {
            let text = "\(origin.host): the server has reset the stream with code \(code)"
            pool.failed(stream.number, OutboundFailure(.disconnected, text))
        }
    }

    private func received(_ settings: [HTTP2FrameReader.Setting]) throws(HTTP2ProtocolError) {
        try noteIdle()
        var maxStreams: Int?
        for setting in settings {
            let value = Int(setting.value)
            switch setting.id {
            case HTTP2Wire.Setting.maxConcurrentStreams: maxStreams = value
            case HTTP2Wire.Setting.initialWindowSize: try windows.set(streamWindow: value, &writer)
            case HTTP2Wire.Setting.maxFrameSize:
                guard (HTTP2Wire.maxFrameSize...HTTP2Wire.largestFrameSize).contains(value) else {
                    throw HTTP2ProtocolError("SETTINGS_MAX_FRAME_SIZE of \(value)")
                }
                writer.maxFrameSize = value
            case HTTP2Wire.Setting.headerTableSize:
                do {
                    try writer.allowTable(of: value)
                } catch {
                    throw HTTP2ProtocolError(HTTP2Wire.ErrorCode.compressionError, "a table of \(value) bytes")
                }
            case HTTP2Wire.Setting.enablePush where value != 0: throw HTTP2ProtocolError("SETTINGS_ENABLE_PUSH")
            default: break
            }
        }
        writer.acknowledgeSettings()
        pool.plan.settled(id, maxStreams: maxStreams, at: pool.now())
    }

    /// A frame may come for a stream that has ended, but not for one that has not begun.
    private func check(_ stream: Int) throws(HTTP2ProtocolError) {
        guard stream <= lastStream, stream % 2 == 1 else {
            throw HTTP2ProtocolError("a frame for a stream that was not opened")
        }
    }

    private func noteIdle() throws(HTTP2ProtocolError) {
        idleFrames += 1
        guard idleFrames <= Self.mostIdleFrames else {
            throw HTTP2ProtocolError(HTTP2Wire.ErrorCode.enhanceYourCalm, "too many frames without an answer")
        }
    }

    // MARK: - Events of the connection

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        if !origin.usesTLS { begin() }
        context.fireChannelActive()
    }

    /// The server speaks HTTP/2: the preface and the first SETTINGS go out.
    private func begin() {
        guard state == .opening else { return }
        state = .open
        writer.begin()
        flush()
        pool.plan.opened(id, at: pool.now())
        pool.proceed()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if state == .open {
            pool.plan.heard(id, at: pool.now())
            if consumed >= HTTP2Wire.window / 2 {
                writer.windowUpdate(by: consumed)
                receiveWindow += consumed
                consumed = 0
            }
        }
        pool.proceed()
        // What the frames have asked for.
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
        if case .handshakeCompleted(let negotiated)? = event as? TLSUserEvent {
            if negotiated == OutboundTLS.ApplicationProtocol.http2.rawValue {
                begin()
            } else {
                lost(OutboundFailure(.tls, "\(origin.host): the server does not offer HTTP/2 in the handshake (ALPN)"))
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        var code = ConnectionFailure.code(of: error)
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
        (state, streams) = (.closed, [:])
        context?.close(promise: nil)
        pool.closed(id, failure)
    }
}
