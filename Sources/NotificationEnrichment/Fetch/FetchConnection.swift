import NIOCore
import ServiceHTTP

/// A connection to a server, with one request at a time.
final class FetchConnection: Sendable {
    /// A URL of the origin to which it was opened.
    let origin: EgressURL
    /// To which it was opened.
    let address: IPAddress
    private let channel: any Channel
    private let handler: NIOLoopBound<FetchConnectionHandler>

    init(
        _ channel: any Channel,
        _ handler: NIOLoopBound<FetchConnectionHandler>,
        origin: EgressURL,
        address: IPAddress
    ) {
        (self.channel, self.handler, self.origin, self.address) = (channel, handler, origin, address)
    }

    /// Sends a request; the pool has given this connection to it.
    func begin(_ exchange: FetchExchange) {
        onLoop { $0.begin(exchange, on: self) }
    }

    /// Closes the connection if it still has the request.
    func abandon(_ exchange: FetchExchange) {
        onLoop { $0.abandon(exchange) }
    }

    func close() { channel.close(mode: .all, promise: nil) }

    private func onLoop(_ body: @escaping @Sendable (FetchConnectionHandler) -> Void) {
        if channel.eventLoop.inEventLoop {
            body(handler.value)
        } else {
            channel.eventLoop.execute { [handler] in body(handler.value) }
        }
    }
}

extension EgressURL {
    /// Whether one connection may serve both.
    func isSame(as other: EgressURL) -> Bool {
        usesTLS == other.usesTLS && port == other.port && host == other.host
    }
}
