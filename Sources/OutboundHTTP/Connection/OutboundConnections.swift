package import NIOCore
package import NIOPosix
package import NIOSSL
import Synchronization

/// The HTTP/1.1 connections to other systems: bounded overall and for each host, shared fairly, and kept for a short time.
///
/// An own client: a general one (AsyncHTTPClient) took more than three times the CPU time for what is not needed here, see
/// the page of figures. A connection goes to an address that the policy has judged, with TLS to a server whose certificate
/// names the host, and serves requests to its origin only, until its age ends.
package final class OutboundConnections: Sendable {
    package struct Settings: Sendable {
        /// Connections, opening and idle ones included.
        package var bound = 64
        package var boundPerHost = 8
        /// Requests that wait for a connection; further ones fail with `overloaded`.
        package var waiting = 1000
        /// Whether applications and registered names share the connections and the queue fairly; of use with several
        /// servers only.
        package var isShared = true
        /// For the connection and its TLS handshake, all addresses together.
        package var connectTimeout = TimeAmount.seconds(5)
        /// From the request to the head of the answer.
        package var firstByteTimeout = TimeAmount.seconds(10)
        package var idleTimeout = TimeAmount.seconds(30)
        /// How long a connection serves; then its host's addresses are judged again.
        package var age = TimeAmount.minutes(5)
        /// The part of a body without interest that is read to keep the connection.
        package var drainedBytes = 16 * 1024
        /// Bytes a second of a body with interest; slower ones fail with `too-slow`. 0 for any rate.
        package var minimumRate = 0
        /// The rate is looked at so often.
        package var rateWindow = TimeAmount.seconds(5)

        package init() {}
    }

    let settings: Settings
    /// For what blocks: checking and writing.
    let threads: NIOThreadPool
    private let connector: OutboundConnector
    private let plan: Mutex<ConnectionPlan<OutboundConnection, OutboundExchange>>

    /// - Parameters:
    ///   - settings: Bounds and time limits.
    ///   - hosts: Finds and judges the addresses for requests that bring none.
    ///   - roots: The certificate authorities.
    ///   - further: Authorities that are trusted besides.
    ///   - group: The event loops of the connections.
    ///   - threads: For what blocks.
    /// - Throws: `NIOSSLError` or `BoringSSLError` when the roots cannot be read.
    package init(
        _ settings: Settings,
        hosts: GuardedHosts,
        trusting roots: NIOSSLTrustRoots = .default,
        and further: [NIOSSLCertificate] = [],
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        threads: NIOThreadPool = .singleton
    ) throws {
        (self.settings, self.threads) = (settings, threads)
        connector = OutboundConnector(
            group: group,
            tls: try OutboundTLS.context(trusting: roots, and: further),
            hosts: hosts,
            timeout: settings.connectTimeout
        )
        plan = Mutex(
            ConnectionPlan(
                .init(
                    connections: settings.bound,
                    perHost: settings.boundPerHost,
                    waiting: settings.waiting,
                    isShared: settings.isShared
                )
            )
        )
    }

    /// Connections now, how many were opened so far, and requests that wait for one.
    package var usage: (open: Int, opened: Int, waiting: Int) {
        plan.withLock { ($0.count, $0.opened, $0.waiting) }
    }

    // MARK: - Requests

    func begin(_ exchange: OutboundExchange) {
        exchange.observer?.enter(.waiting)
        switch plan.withLock({ $0.begin(exchange, at: .now()) }) {
        case .take(let step): take(step, exchange)
        case .wait:
            // It may have been cancelled before it was there.
            if exchange.isOver { leave(exchange) }
        case .overloaded:
            exchange.end(.failure(OutboundFailure(.overloaded, "too many requests wait for a connection")))
        case .closed: exchange.end(.failure(.closed))
        }
    }

    /// The exchange does not wait any more.
    func leave(_ exchange: OutboundExchange) {
        plan.withLock { $0.leave(exchange) }
    }

    /// Closes all connections: what has no answer fails.
    package func close() {
        let (connections, requests) = plan.withLock { $0.close() }
        for exchange in requests { exchange.end(.failure(.closed)) }
        for connection in connections { connection.close() }
    }

    private func take(
        _ step: ConnectionPlan<OutboundConnection, OutboundExchange>.Step,
        _ exchange: OutboundExchange
    ) {
        switch step {
        case .send(let connection): connection.begin(exchange)
        case .open(let instead):
            instead?.close()
            open(for: exchange)
        }
    }

    /// Begins what waits and can begin now.
    private func proceed() {
        while let (step, exchange) = plan.withLock({ $0.next(at: .now()) }) { take(step, exchange) }
    }

    // MARK: - Connections

    /// The connection has no request any more.
    func release(_ connection: OutboundConnection) {
        let isKept = plan.withLock { $0.release(connection, at: .now()) }
        if !isKept { connection.close() }
        proceed()
    }

    /// The connection is closed.
    func remove(_ connection: OutboundConnection) {
        if plan.withLock({ $0.remove(connection) }) { proceed() }
    }

    private func open(for exchange: OutboundExchange) {
        guard !exchange.isOver else { return fail(exchange, .cancelled) }
        exchange.observer?.enter(.connecting)
        connector.connect(for: exchange, in: self).whenComplete { [self] result in
            switch result {
            case .success(let connection):
                let isClosed = plan.withLock { plan in
                    plan.opened(connection, for: exchange)
                    return plan.isClosed
                }
                if isClosed { connection.close() }
                connection.begin(exchange)
            case .failure(let error):
                let failure = OutboundFailure(.notConnected, ConnectionFailure.text(error))
                fail(exchange, error as? OutboundFailure ?? failure)
            }
        }
    }

    private func fail(_ exchange: OutboundExchange, _ failure: OutboundFailure) {
        plan.withLock { $0.failed(for: exchange) }
        exchange.end(.failure(failure))
        proceed()
    }
}
