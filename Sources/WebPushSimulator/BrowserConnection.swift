import NIOCore
import NIOWebSocket
import Synchronization

/// A WebSocket of a browser: makes messages of frames, and frames of answers.
final class BrowserConnection: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// Bytes of a message of a browser.
    static let mostBytes = 64 << 10

    private let core: PushServiceCore
    private let number: Int
    private var uaid: String?

    init(_ core: PushServiceCore, _ number: Int) { (self.core, self.number) = (core, number) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text:
            guard let message = BrowserMessage(Array(frame.unmaskedData.readableBytesView)) else {
                return close(context, .protocolError)
            }
            let now = core.now()
            let answers = core.state.withLock { state in
                state.receive(message, on: number, &uaid, at: now, endpoint: core.endpoint)
            }
            for answer in answers { context.write(wrapOutboundOut(Self.frame(answer)), promise: nil) }
            context.flush()
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .connectionClose: close(context, .normalClosure)
        case .pong: break
        default: close(context, .unacceptableData)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        let uaid = uaid
        core.state.withLock { $0.disconnected(number, uaid) }
        core.closed(number)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func close(_ context: ChannelHandlerContext, _ code: WebSocketErrorCode) {
        var data = context.channel.allocator.buffer(capacity: 2)
        data.write(webSocketErrorCode: code)
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
        context.writeAndFlush(wrapOutboundOut(frame)).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    static func frame(_ message: ServerMessage) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(bytes: message.json))
    }
}
