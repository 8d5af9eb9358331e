import NIOCore

/// The first handler of a connection, before TLS: reports incoming bytes to the ``ConnectionGuard``, and stops those
/// that no handler will read.
final class ConnectionGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionGuard

    init(_ connection: ConnectionGuard) {
        self.connection = connection
    }

    func handlerAdded(context: ChannelHandlerContext) { connection.gateAdded(context) }

    func handlerRemoved(context: ChannelHandlerContext) { connection.gateRemoved() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if connection.bytesArrived(unwrapInboundIn(data).readableBytes) { context.fireChannelRead(data) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Forward the reads first: a request that they complete needs no timer.
        context.fireChannelReadComplete()
        connection.readsComplete()
    }
}
