package import NIOCore
import NIOHPACK
package import NIOHTTP2
import NIOSSL

/// A connection: makes requests of frames, and frames of answers.
///
/// It uses the frames themselves, without a channel for each stream: a benchmark of a client should not measure its server.
package final class HTTP2ServerHandler: ChannelInboundHandler {
    package typealias InboundIn = HTTP2Frame
    package typealias OutboundOut = HTTP2Frame

    /// The receive window of the connection: that with which HTTP/2 begins.
    private static let connectionWindow = 65_535
    /// How long a client may take to close a connection that is drained.
    private static let patience = TimeAmount.milliseconds(500)
    /// How long an answer that is due waits for others: each one in a packet of its own would cost more than the rest of it.
    private static let gathering = TimeAmount.microseconds(500)

    private struct IncomingRequest {
        var headers: HPACKHeaders
        var body: ByteBuffer?

        /// Keeps what is needed of a part of the body.
        mutating func add(_ bytes: ByteBuffer, upTo keptBytes: Int) {
            let room = min(bytes.readableBytes, keptBytes - (body?.readableBytes ?? 0))
            guard room > 0, let part = bytes.getSlice(at: bytes.readerIndex, length: room) else { return }
            if body?.writeImmutableBuffer(part) == nil { body = part }
        }
    }

    /// Counted from 1, over all connections.
    package let number: Int
    /// What answers.
    package let connection: any SimulatedConnection
    private let connections: ServerConnections
    private let behaviour: ServerBehaviour
    private let written: WrittenFrames
    private var context: ChannelHandlerContext?
    /// Requests whose end has not come.
    private var incoming: [HTTP2StreamID: IncomingRequest] = [:]
    private var delayed = DelayedAnswers()
    private var timer: Scheduled<Void>?
    /// The last stream whose request was processed.
    private var lastProcessed = HTTP2StreamID.rootStream
    private var isGoingAway = false
    /// What GOAWAY has named.
    private var lastServed = HTTP2StreamID.rootStream
    private var isCut = false
    private var isDrained = false
    private var windowsToOpen: Set<HTTP2StreamID> = []
    /// Requests that were processed.
    package private(set) var requests = 0
    /// Whether the connection reads and writes nothing.
    package private(set) var isFrozen = false

    /// - Parameter written: Told of the frames that the connection's `NIOHTTP2Handler` writes.
    init(
        _ number: Int,
        _ connection: any SimulatedConnection,
        in connections: ServerConnections,
        _ behaviour: ServerBehaviour,
        written: WrittenFrames
    ) {
        (self.number, self.connection, self.connections) = (number, connection, connections)
        (self.behaviour, self.written) = (behaviour, written)
    }

    /// Requests that have not arrived completely.
    package var waiting: Int { incoming.count }

    // MARK: Events

    package func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        connections.opened(number, context.channel, NIOLoopBound(self, eventLoop: context.eventLoop))
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
        connections.closed(number)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // SwiftNIO reads to the end when the client closes, also from a frozen connection.
        guard !isCut, !isFrozen else { return }
        let frame = unwrapInboundIn(data)
        // GOAWAY has said of it that it is not processed.
        if isGoingAway, frame.streamID > lastServed { return }
        switch frame.payload {
        case .headers(let part):
            // What comes later are trailers: nothing in them counts.
            let earlier = incoming.removeValue(forKey: frame.streamID)
            let request =
                earlier ?? IncomingRequest(headers: part.headers)
            if part.endStream { complete(frame.streamID, request) } else { incoming[frame.streamID] = request }
        case .data(let part):
            guard case .byteBuffer(let bytes) = part.data else { return }
            if part.endStream {
                guard var request = incoming.removeValue(forKey: frame.streamID) else { return }
                request.add(bytes, upTo: behaviour.keptBytes)
                complete(frame.streamID, request)
            } else {
                incoming[frame.streamID]?.add(bytes, upTo: behaviour.keptBytes)
            }
        case .rstStream:
            incoming[frame.streamID] = nil
            delayed.cancel(frame.streamID)
            closeWhenDrained()
        default: break
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
        context.fireChannelReadComplete()
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let event = event as? NIOHTTP2WindowUpdatedEvent, let size = event.inboundWindowSize else { return }
        windowChanged(event.streamID, size)
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is NIOHTTP2Errors.MaxStreamsViolation {
            goAway(.protocolError, ByteBuffer(string: behaviour.streamsViolated), after: lastProcessed)
        } else if error is any NIOHTTP2Error, isGoingAway || !written.hasGoAway {
            // It concerns one stream, which is reset. After our GOAWAY the client may have begun it before it read that.
            return
        }
        context.close(promise: nil)
    }

    // MARK: Requests

    private func complete(_ stream: HTTP2StreamID, _ request: IncomingRequest) {
        let outcome: ServerOutcome
        if let body = request.body {
            outcome = body.withUnsafeReadableBytes { connection.respond(to: request.headers, body: $0) }
        } else {
            outcome = connection.respond(to: request.headers, body: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        switch outcome.action {
        case .refuseStream: write(stream, .rstStream(.refusedStream))
        case .goAway(let data): goAway(data)
        case .cut: cut()
        case .silence: processed(stream)
        case .answer(let answer):
            processed(stream)
            if outcome.delay == .zero {
                send(answer, outcome.streams, on: stream)
            } else {
                let time = NIODeadline.now() + TimeAmount(outcome.delay)
                delayed.add(.init(time: time, stream: stream, answer: answer, streams: outcome.streams))
                scheduleTimer()
            }
        }
        closeWhenDrained()
    }

    private func processed(_ stream: HTTP2StreamID) {
        requests += 1
        lastProcessed = max(lastProcessed, stream)
    }

    private func scheduleTimer() {
        guard timer == nil, !isFrozen, let next = delayed.next, let context else { return }
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: next + Self.gathering) { [self] in
            timer = nil
            while let item = delayed.take(at: .now()) {
                send(item.answer, item.streams, on: item.stream)
            }
            self.context?.flush()
            closeWhenDrained()
            scheduleTimer()
        }
    }

    private func send(_ answer: ServerAnswer, _ streams: Int?, on stream: HTTP2StreamID) {
        write(stream, .headers(.init(headers: answer.headers, endStream: answer.body == nil)))
        if let body = answer.body {
            write(stream, .data(.init(data: .byteBuffer(ByteBuffer(bytes: body)), endStream: true)))
        }
        if let streams {
            write(.rootStream, .settings(.settings([.init(parameter: .maxConcurrentStreams, value: streams)])))
        }
    }

    private func write(_ stream: HTTP2StreamID, _ payload: HTTP2Frame.FramePayload) {
        guard let context else { return }
        context.write(wrapOutboundOut(HTTP2Frame(streamID: stream, payload: payload)), promise: nil)
    }

    // MARK: Windows

    private func windowChanged(_ stream: HTTP2StreamID, _ size: Int) {
        guard let target = window(stream), size <= target / 2 else { return }
        guard behaviour.windowDelay > .zero else {
            return write(stream, .windowUpdate(windowSizeIncrement: target - size))
        }
        guard windowsToOpen.insert(stream).inserted, let context else { return }
        let increment = target - size
        context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(behaviour.windowDelay)) { [self] in
            windowsToOpen.remove(stream)
            guard window(stream) != nil else { return }
            write(stream, .windowUpdate(windowSizeIncrement: increment))
            self.context?.flush()
        }
    }

    /// The window that a stream should have; nil when nothing more comes on it.
    private func window(_ stream: HTTP2StreamID) -> Int? {
        if stream == .rootStream { return Self.connectionWindow }
        return incoming[stream] == nil ? nil : behaviour.streamWindow
    }

    // MARK: The end

    /// Ends the connection. What was processed is answered.
    ///
    /// - Parameters:
    ///   - data: Debug data.
    ///   - last: The last stream that was processed; nil for the truth.
    package func goAway(_ data: [UInt8], after last: Int? = nil) {
        goAway(.noError, ByteBuffer(bytes: data), after: last.map { HTTP2StreamID($0) } ?? lastProcessed)
    }

    private func goAway(_ code: HTTP2ErrorCode, _ data: ByteBuffer, after last: HTTP2StreamID) {
        guard !isGoingAway else { return }
        (isGoingAway, lastServed) = (true, last)
        connection.isGoingAway()
        incoming = incoming.filter { $0.key <= last }
        write(.rootStream, .goAway(lastStreamID: last, errorCode: code, opaqueData: data))
        context?.flush()
        closeWhenDrained()
    }

    /// After GOAWAY the connection ends when all answers are out: the client closes it, or the server a moment later. Closed while
    /// the client still sends it would be reset, and answers on their way could be lost.
    private func closeWhenDrained() {
        guard isGoingAway, !isDrained, incoming.isEmpty, delayed.isEmpty, let context else { return }
        isDrained = true
        context.flush()
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) { [self] in
            self.context?.close(promise: nil)
        }
    }

    /// Closes the connection, whatever is open on it. What has arrived and was not read is lost.
    package func cut() {
        guard let context else { return }
        isCut = true
        // Below TLS: its handler would go on reading until the other side has ended the session, too.
        let pipeline = context.pipeline.syncOperations
        if let tls = try? pipeline.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(mode: .all, promise: nil)
        } else {
            context.close(promise: nil)
        }
    }

    /// Stops reading and writing, or goes on.
    package func setFrozen(_ isFrozen: Bool) {
        self.isFrozen = isFrozen
        if isFrozen {
            timer?.cancel()
            timer = nil
        } else {
            scheduleTimer()
        }
        context?.channel.setOption(.autoRead, value: !isFrozen).whenComplete { _ in }
    }
}

/// Which frames were written to a connection, also by the framework: it ends connections with GOAWAY for errors of which its
/// types do not tell whether they concern a stream only.
final class WrittenFrames: NIOHTTP2FrameDelegate {
    private(set) var hasGoAway = false

    func wroteFrame(_ frame: HTTP2Frame) {
        if case .goAway = frame.payload { hasGoAway = true }
    }
}
