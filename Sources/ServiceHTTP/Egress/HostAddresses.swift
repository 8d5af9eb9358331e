package import NIOCore
import Synchronization

/// The addresses of hosts: one look-up for a host at a time, with a time limit, whose result serves for a few seconds.
///
/// The addresses are judged at each use, and a connection goes to one that was judged: how long they serve has no
/// influence on safety, and is short because a server may move.
package final class HostAddresses: Sendable {
    /// More hosts than are in use within the few seconds.
    private static let mostHosts = 1000

    private let resolver: any HostResolver
    private let timeout: TimeAmount
    private let lifetime: TimeAmount
    private let now: @Sendable () -> NIODeadline
    private let known = Mutex<[String: (addresses: [IPAddress], until: NIODeadline)]>([:])
    private let lookUps: SharedWork<String, Void, Result<[IPAddress], ResolutionFailure>>

    /// - Parameters:
    ///   - resolver: Looks hosts up.
    ///   - timeout: For one look-up.
    ///   - lifetime: How long a result serves.
    ///   - group: The event loops of the timers.
    ///   - now: The time for the lifetime; it must agree with the event loops'.
    package init(
        _ resolver: any HostResolver,
        timeout: TimeAmount,
        lifetime: TimeAmount,
        group: any EventLoopGroup,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        (self.resolver, self.timeout, self.lifetime, self.now) = (resolver, timeout, lifetime, now)
        lookUps = SharedWork(group: group)
    }

    /// - Parameters:
    ///   - url: A literal address of its host is the result.
    ///   - deadline: When they are needed; the time limit of the look-up may come sooner.
    /// - Returns: At least one address, in the order in which to try them; not judged yet.
    /// - Throws: ``ResolutionFailure``.
    package func addresses(
        of url: EgressURL,
        by deadline: NIODeadline = .distantFuture
    ) async throws(ResolutionFailure) -> [IPAddress] {
        if let address = url.address { return [address] }
        let host = url.host
        if let known = known.withLock({ $0[host] }), known.until > now() { return known.addresses }
        let end = min(deadline, .now() + timeout)
        switch await lookUps.value(of: host, context: (), deadline: { end }, work: { [self] in await lookUp(host) }) {
        case .value(let result, _): return try result.get()
        case .timedOut: throw ResolutionFailure(.timedOut, "the addresses of \(host) were not found in time")
        case .cancelled: throw ResolutionFailure(.cancelled, "the look-up of \(host) was cancelled")
        }
    }

    private func lookUp(_ host: String) async -> Result<[IPAddress], ResolutionFailure> {
        do {
            let addresses = try await resolver.addresses(of: host)
            guard !addresses.isEmpty else { return .failure(ResolutionFailure(.unresolved, "\(host) has no address")) }
            store(addresses, of: host)
            return .success(addresses)
        } catch {
            return .failure(ResolutionFailure(.unresolved, "\(host) was not resolved: \(error)"))
        }
    }

    private func store(_ addresses: [IPAddress], of host: String) {
        let now = now()
        known.withLock { known in
            if known.count >= Self.mostHosts { known = known.filter { $0.value.until > now } }
            if known.count >= Self.mostHosts { known = [:] }
            known[host] = (addresses, now + lifetime)
        }
    }
}
