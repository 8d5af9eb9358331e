import NIOCore

/// The first to see what arrives on a connection, even before TLS: tells the ``ConnectionGuard``, and stops what nobody reads
/// any more.
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
        // The reads are forwarded first: what they completed needs no watch.
        context.fireChannelReadComplete()
        connection.readsComplete()
    }
}
