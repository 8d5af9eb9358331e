import HummingbirdCore
import Logging
import NIOCore
import NIOSSL

/// A connection with TLS. The framework's own has one context for ever; this one asks for it at each connection, so that
/// a certificate can be replaced while the server runs.
struct EncryptedChannel: ServerChildChannel {
    private let plain: GuardedChannel
    private let context: @Sendable () -> NIOSSLContext

    init(_ plain: GuardedChannel, context: @escaping @Sendable () -> NIOSSLContext) {
        (self.plain, self.context) = (plain, context)
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedConnection> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context()))
        }.flatMap { plain.setup(channel: channel, logger: logger) }
    }

    func handle(value: AcceptedConnection, logger: Logger) async {
        await plain.handle(value: value, logger: logger)
    }
}
