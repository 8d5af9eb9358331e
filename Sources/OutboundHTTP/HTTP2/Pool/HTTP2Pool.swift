package import NIOCore
import NIOPosix
import Synchronization

/// The HTTP/2 connections to one origin: a few, each with many requests at one time.
///
/// An own pool: a general client (AsyncHTTPClient) has a single connection for each origin, sends no PING, and does not say
/// which requests a GOAWAY has left unprocessed. How it decides is ``HTTP2PoolPlan``.
///
/// All connections are on one event loop, where results and events come, too. Its functions can be called from any thread.
package final class HTTP2Pool: Sendable {
    private let eventLoop: any EventLoop
    private let inbox: HTTP2PoolInbox
    private let core: NIOLoopBoundBox<HTTP2PoolCore>

    /// Nothing is opened before the first request.
    ///
    /// - Parameters:
    ///   - settings: Bounds and time limits.
    ///   - origin: The server. The policy of `hosts` allows it; with `http` the connections begin without TLS.
    ///   - hosts: Finds and judges the addresses.
    ///   - tls: Which servers are trusted, and the certificate of the client.
    ///   - rate: Bounds how often connections begin over all pools that share it, besides the bound of each.
    ///   - eventLoop: Runs the pool and all its connections.
    ///   - observer: Follows the connections.
    ///   - now: The time; it must agree with the event loop's.
    ///   - random: From 0 to below 1, for jitter.
    package init(
        _ settings: Settings,
        to origin: EgressURL,
        hosts: GuardedHosts,
        tls: OutboundTLS.Client,
        sharing rate: HTTP2OpenRate? = nil,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        observer: (any HTTP2PoolObserver)? = nil,
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) {
        self.eventLoop = eventLoop
        inbox = HTTP2PoolInbox()
        core = .makeBoxSendingValue(
            HTTP2PoolCore(
                settings,
                to: origin,
                hosts: hosts,
                tls: tls.context,
                sharing: rate,
                on: eventLoop,
                inbox: inbox,
                observer: observer,
                now: now,
                random: random
            ),
            eventLoop: eventLoop
        )
    }

    deinit {
        eventLoop.execute { [core] in core.value.shutdown(by: .distantPast, nil) }
    }

    /// The pool at the end of the last turn of its event loop.
    package var usage: HTTP2PoolUsage { inbox.usage.withLock { $0 } }

    /// Sends a request as soon as a connection has a stream for it.
    package func send(_ request: HTTP2Request) {
        if inbox.add(request) { proceed() }
    }

    /// Adds a request without waking the event loop, for a caller that has several.
    ///
    /// - Returns: whether ``flush()`` must follow, without delay; it is enough after the last one.
    package func write(_ request: HTTP2Request) -> Bool { inbox.write(request) }

    /// Lets the event loop take what was written.
    package func flush() {
        if inbox.flush() { proceed() }
    }

    /// Nobody waits for the result any more. What waits is not sent, and a stream is reset; the result is `cancelled`, unless
    /// there is one already.
    package func cancel(_ request: HTTP2Request) {
        if inbox.cancel(request) { proceed() }
    }

    /// The connection gets no further request, and is closed when the last one has ended. Call it within `onEnd` for an answer
    /// that makes the connection useless, so that nothing goes over it in between.
    package func retire(_ connection: HTTP2ConnectionID) {
        if eventLoop.inEventLoop {
            core.value.plan.retire(connection, .requested)
        } else {
            eventLoop.execute { [core] in core.value.plan.retire(connection, .requested) }
        }
        proceed()
    }

    /// Sends nothing more: what waits fails with `cancelled`, and what has no answer at the deadline, too. Then all connections
    /// are closed.
    ///
    /// - Parameter deadline: In the past: now.
    package func shutdown(by deadline: NIODeadline) async {
        let promise = eventLoop.makePromise(of: Void.self)
        eventLoop.execute { [core] in core.value.shutdown(by: deadline, promise) }
        try? await promise.futureResult.get()
    }

    private func proceed() {
        eventLoop.execute { [core] in core.value.proceed() }
    }
}
