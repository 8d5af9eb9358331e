import DequeModule
import NIOCore
import NIOPosix
import NIOSSL
import ServiceHTTP
import Synchronization

/// The HTTP/1.1 connections of the fetcher: bounded overall and for each host, with one queue, and kept for a short
/// time.
///
/// An own client, as for webhooks: see `WebhookConnections`. A connection goes to an address that the policy has
/// judged, and only requests to the same origin whose judged addresses contain it may use it again.
final class FetchConnections: Sendable {
    struct Settings: Sendable {
        /// Connections, opening and idle ones included.
        var bound: Int
        var boundPerHost: Int
        /// Requests that wait for a connection.
        var waiting: Int
        /// For the connection and its TLS handshake, all addresses together.
        var connectTimeout: TimeAmount
        /// From the request to the head of the answer.
        var firstByteTimeout: TimeAmount
        var idleTimeout: TimeAmount
    }

    private struct Contents {
        var all: [ObjectIdentifier: FetchConnection] = [:]
        /// The last used one last.
        var idle: [FetchConnection] = []
        var opening = 0
        /// Opening ones included.
        var perHost: [String: Int] = [:]
        var waiting: Deque<FetchExchange> = []
        var opened = 0
        var isClosed = false

        var count: Int { all.count + opening }

        mutating func leave(_ host: String) {
            let left = (perHost[host] ?? 0) - 1
            perHost[host] = left > 0 ? left : nil
        }

        /// - Returns: false when it was removed before.
        @discardableResult
        mutating func remove(_ connection: FetchConnection) -> Bool {
            guard all.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return false }
            idle.removeAll { $0 === connection }
            leave(connection.origin.host)
            return true
        }
    }

    private enum Step {
        case send(FetchConnection)
        /// - Parameter instead: an idle connection that makes room.
        case open(instead: FetchConnection?)
    }

    let settings: Settings
    /// For what blocks: checking and writing.
    let threads: NIOThreadPool
    private let connector: FetchConnector
    private let contents = Mutex(Contents())

    init(_ settings: Settings, group: any EventLoopGroup, threads: NIOThreadPool, tls: NIOSSLContext) {
        (self.settings, self.threads) = (settings, threads)
        connector = FetchConnector(group: group, tls: tls, timeout: settings.connectTimeout)
    }

    /// Connections now, how many were opened so far, and requests that wait for one.
    var usage: (open: Int, opened: Int, waiting: Int) {
        contents.withLock { ($0.count, $0.opened, $0.waiting.count) }
    }

    // MARK: - Requests

    func begin(_ exchange: FetchExchange) {
        exchange.progress.enter(.waiting)
        let (step, failure) = contents.withLock { contents -> (Step?, FetchFailure?) in
            if contents.isClosed { return (nil, .closed) }
            if let step = plan(exchange, &contents) { return (step, nil) }
            guard contents.waiting.count < settings.waiting else {
                return (nil, FetchFailure(.overloaded, "\(settings.waiting) downloads wait for a connection"))
            }
            contents.waiting.append(exchange)
            return (nil, nil)
        }
        if let step { take(step, exchange) }
        if let failure { exchange.end(.failure(failure)) }
    }

    /// The exchange does not wait any more.
    func leave(_ exchange: FetchExchange) {
        contents.withLock { $0.waiting.removeAll { $0 === exchange } }
    }

    /// Closes all connections: what has no answer fails.
    func close() {
        let (all, waiting) = contents.withLock { contents in
            contents.isClosed = true
            defer { (contents.idle, contents.waiting) = ([], []) }
            return (Array(contents.all.values), contents.waiting)
        }
        for exchange in waiting { exchange.end(.failure(.closed)) }
        for connection in all { connection.close() }
    }

    /// - Returns: nil when it must wait.
    private func plan(_ exchange: FetchExchange, _ contents: inout Contents) -> Step? {
        let (url, host) = (exchange.url, exchange.url.host)
        if !exchange.needsNewConnection,
            let index = contents.idle.lastIndex(where: {
                $0.origin.isSame(as: url) && exchange.addresses.contains($0.address)
            })
        {
            return .send(contents.idle.remove(at: index))
        }
        var instead: FetchConnection?
        if contents.perHost[host, default: 0] >= settings.boundPerHost {
            // Its own idle connections do not fit.
            instead = contents.idle.first { $0.origin.host == host }
            if instead == nil { return nil }
        } else if contents.count >= settings.bound {
            instead = contents.idle.first
            if instead == nil { return nil }
        }
        if let instead { contents.remove(instead) }
        contents.opening += 1
        contents.opened += 1
        contents.perHost[host, default: 0] += 1
        return .open(instead: instead)
    }

    private func take(_ step: Step, _ exchange: FetchExchange) {
        switch step {
        case .send(let connection): connection.begin(exchange)
        case .open(let instead):
            instead?.close()
            open(for: exchange)
        }
    }

    /// Begins what waits and can begin now, in order.
    private func proceed() {
        while true {
            let next = contents.withLock { contents -> (Step, FetchExchange)? in
                for index in contents.waiting.indices {
                    guard let step = plan(contents.waiting[index], &contents) else { continue }
                    return (step, contents.waiting.remove(at: index))
                }
                return nil
            }
            guard let (step, exchange) = next else { return }
            take(step, exchange)
        }
    }

    // MARK: - Connections

    /// The connection has no request any more.
    func release(_ connection: FetchConnection) {
        let isKept = contents.withLock { contents in
            // One that was removed already is closed.
            guard !contents.isClosed, contents.all[ObjectIdentifier(connection)] != nil else { return false }
            contents.idle.append(connection)
            return true
        }
        if isKept { proceed() } else { connection.close() }
    }

    /// The connection is closed.
    func remove(_ connection: FetchConnection) {
        if contents.withLock({ $0.remove(connection) }) { proceed() }
    }

    private func open(for exchange: FetchExchange) {
        guard !exchange.isOver else { return fail(exchange, .cancelled) }
        exchange.progress.enter(.connecting)
        connector.connect(for: exchange, in: self).whenComplete { [self] result in
            switch result {
            case .success(let connection):
                let isClosed = contents.withLock { contents in
                    contents.opening -= 1
                    contents.all[ObjectIdentifier(connection)] = connection
                    return contents.isClosed
                }
                if isClosed { connection.close() }
                connection.begin(exchange)
            case .failure(let error):
                fail(exchange, error as? FetchFailure ?? FetchFailure(.notConnected, ConnectionFailure.text(error)))
            }
        }
    }

    private func fail(_ exchange: FetchExchange, _ failure: FetchFailure) {
        contents.withLock { contents in
            contents.opening -= 1
            contents.leave(exchange.url.host)
        }
        exchange.end(.failure(failure))
        proceed()
    }
}
