package import NIOCore
package import NIOPosix
package import NIOSSL

/// The HTTP/2 connections to one origin.
///
/// Called from any thread; results come on the event loop.
package final class HTTP2Pool: Sendable {
    let settings: Settings
    private let eventLoop: any EventLoop

    /// - Parameters:
    ///   - settings: Bounds and time limits.
    ///   - origin: The server. The policy of `hosts` allows it; with `http` the connections begin without TLS.
    ///   - hosts: Finds and judges the addresses.
    ///   - roots: The certificate authorities.
    ///   - further: Authorities that are trusted besides.
    ///   - identity: The certificate of the client, if it has one.
    ///   - eventLoop: Runs the pool and all its connections.
    ///   - observer: Follows the connections.
    ///   - now: The time; it must agree with the event loop's.
    ///   - random: From 0 to below 1, for jitter.
    /// - Throws: `NIOSSLError` or `BoringSSLError` for roots or an identity that cannot be used.
    package init(
        _ settings: Settings,
        to origin: EgressURL,
        hosts: GuardedHosts,
        trusting roots: NIOSSLTrustRoots = .default,
        and further: [NIOSSLCertificate] = [],
        identity: OutboundTLS.Identity? = nil,
        on eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next(),
        observer: (any HTTP2PoolObserver)? = nil,
        now: @escaping @Sendable () -> NIODeadline = { .now() },
        random: @escaping @Sendable () -> Double = { .random(in: 0..<1) }
    ) throws {
        (self.settings, self.eventLoop) = (settings, eventLoop)
    }

    /// The pool now.
    package var usage: HTTP2PoolUsage { HTTP2PoolUsage() }

    /// Sends a request as soon as a connection has a stream for it.
    package func send(_ request: HTTP2Request) {}

    /// Nobody waits for the result any more. What waits is not sent, and a stream is reset; the result is `cancelled`, unless
    /// there is one already.
    package func cancel(_ request: HTTP2Request) {}

    /// The connection gets no further request, and is closed when the last one has ended. Call it within `onEnd` for an answer
    /// that makes the connection useless, so that nothing goes over it in between.
    package func retire(_ connection: HTTP2ConnectionID) {}

    /// Sends nothing more: what waits fails with `cancelled`, and what has no answer at the deadline, too. Then all connections
    /// are closed.
    ///
    /// - Parameter deadline: In the past: now.
    package func shutdown(by deadline: NIODeadline) async {}
}
