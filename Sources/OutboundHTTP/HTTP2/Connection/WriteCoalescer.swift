import NIOCore

/// Joins what is written between two flushes. Frames are small, and TLS would make a record, and its cipher, of each.
final class WriteCoalescer: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A write has at most about so many bytes.
    private static let bound = 64 * 1024

    private var joined = ByteBuffer()
    private var promise: EventLoopPromise<Void>?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var bytes = unwrapOutboundIn(data)
        joined.writeBuffer(&bytes)
        if let promise {
            if let last = self.promise { last.futureResult.cascade(to: promise) } else { self.promise = promise }
        }
        if joined.readableBytes >= Self.bound { writeJoined(context) }
    }

    func flush(context: ChannelHandlerContext) {
        writeJoined(context)
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        flush(context: context)
        context.close(mode: mode, promise: promise)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise?.fail(ChannelError.ioOnClosedChannel)
        promise = nil
    }

    private func writeJoined(_ context: ChannelHandlerContext) {
        guard joined.readableBytes > 0 else { return }
        context.write(wrapOutboundOut(joined), promise: promise)
        promise = nil
        // Its memory is used again when it has been sent already, as with TLS.
        joined.clear(minimumCapacity: 1024)
    }
}
