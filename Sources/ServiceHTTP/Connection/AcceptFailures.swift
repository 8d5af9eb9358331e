import Logging
import NIOCore

/// A handler on a listener: logs when connections cannot be accepted, and pauses before the next attempt. It does so
/// before file descriptors run out, see ``OpenFiles/areScarce()``.
///
/// The framework delays only the next read. The failed one stays registered and would wake its thread continuously.
final class AcceptFailures: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    /// How long accepting pauses after a failure.
    static let pause = TimeAmount.seconds(1)
    /// Failures within this time after a logged one are only counted.
    static let quiet = TimeAmount.minutes(1)

    private let server: String
    private let logger: Logger
    private let metrics: ConnectionMetrics
    private let areFilesScarce: () -> Bool
    private var isPaused = false
    private var loggedAt: NIODeadline?
    /// Failures that were not logged.
    private var unsaid = 0

    init(
        of server: String,
        logger: Logger,
        metrics: ConnectionMetrics,
        areFilesScarce: @escaping () -> Bool = OpenFiles.areScarce
    ) {
        self.server = server
        self.logger = logger
        self.metrics = metrics
        self.areFilesScarce = areFilesScarce
    }

    /// Watches a listener until it is closed.
    ///
    /// - Parameter server: The server's name in the log: `HTTP API`.
    static func watch(
        _ listener: any Channel,
        of server: String,
        logger: Logger,
        metrics: ConnectionMetrics
    ) async {
        let added = listener.eventLoop.submit {
            let failures = AcceptFailures(of: server, logger: logger, metrics: metrics)
            try listener.pipeline.syncOperations.addHandler(failures, position: .first)
        }
        // A listener that is closed already accepts nothing.
        try? await added.get()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
        if areFilesScarce() { pause("few file descriptors are left", context) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        if error is IOError { pause("\(error)", context) }
    }

    private func pause(_ reason: String, _ context: ChannelHandlerContext) {
        metrics.countAcceptFailure()
        say(reason, at: context.eventLoop.now)
        guard !isPaused else { return }
        isPaused = true
        context.channel.setOption(.autoRead, value: false).whenComplete { _ in }
        continueLater(context.channel)
    }

    private func continueLater(_ channel: any Channel) {
        channel.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { [self] in
            guard !areFilesScarce() else { return continueLater(channel) }
            isPaused = false
            channel.setOption(.autoRead, value: true).whenComplete { _ in }
        }
    }

    private func say(_ reason: String, at now: NIODeadline) {
        if let loggedAt, now < loggedAt + Self.quiet {
            unsaid += 1
            return
        }
        loggedAt = now
        logger.error(
            "cannot accept connections; they wait. If file descriptors run out, raise the process's limit (ulimit -n)",
            metadata: ["error": "\(reason)", "server": "\(server)", "unsaid": "\(unsaid)"]
        )
        unsaid = 0
    }
}
