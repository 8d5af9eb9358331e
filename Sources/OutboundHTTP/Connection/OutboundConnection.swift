import NIOCore

/// A connection to a server, with one request at a time.
final class OutboundConnection: Sendable {
    /// A URL of the origin to which it was opened.
    let origin: EgressURL
    /// To which it was opened.
    let address: IPAddress
    /// When it serves no further request: then the addresses of its host are judged again.
    let end: NIODeadline
    private let channel: any Channel
    private let handler: NIOLoopBound<OutboundConnectionHandler>

    init(
        _ channel: any Channel,
        _ handler: NIOLoopBound<OutboundConnectionHandler>,
        origin: EgressURL,
        address: IPAddress,
        end: NIODeadline
    ) {
        (self.channel, self.handler, self.origin, self.address, self.end) = (channel, handler, origin, address, end)
    }

    /// Sends a request; the pool has given this connection to it.
    func begin(_ exchange: OutboundExchange) {
        onLoop { $0.begin(exchange, on: self) }
    }

    /// Closes the connection if it still has the request.
    func abandon(_ exchange: OutboundExchange) {
        onLoop { $0.abandon(exchange) }
    }

    func close() { channel.close(mode: .all, promise: nil) }

    private func onLoop(_ body: @escaping @Sendable (OutboundConnectionHandler) -> Void) {
        if channel.eventLoop.inEventLoop {
            body(handler.value)
        } else {
            channel.eventLoop.execute { [handler] in body(handler.value) }
        }
    }
}
