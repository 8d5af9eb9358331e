package import NIOCore
import Synchronization

/// The addresses of hosts: one look-up for a host at a time, with a time limit, whose result serves for a few seconds.
///
/// A look-up may hang for longer than anybody waits for it. It keeps its slot until it ends, is joined by whoever asks for
/// the host meanwhile, and applications share the slots: hosts that do not answer delay nobody else's. Failures serve for a
/// few seconds, too.
///
/// The addresses are judged at each use, and a connection goes to one that was judged: how long they serve has no
/// influence on safety, and is short because a server may move.
package final class HostAddresses: Sendable {
    /// More hosts than are in use within the few seconds.
    private static let mostHosts = 1000
    /// Look-ups of one application that wait for a slot.
    private static let mostWaiting = 1000

    private typealias Found = Result<[IPAddress], ResolutionFailure>

    private struct Contents {
        var known: [String: (result: Found, until: NIODeadline)] = [:]
        /// Look-ups that have not ended, with the time until which somebody wants them.
        var running: [String: (task: Task<Found, Never>, until: NIODeadline)] = [:]
    }

    private let resolver: any HostResolver
    private let timeout: TimeAmount
    private let lifetime: TimeAmount
    private let now: @Sendable () -> NIODeadline
    private let slots: FairSlots
    private let contents = Mutex(Contents())
    private let lookUps: SharedWork<String, String, Result<[IPAddress], ResolutionFailure>>

    /// - Parameters:
    ///   - resolver: Looks hosts up.
    ///   - slots: Look-ups at one time; the resolver has as many threads.
    ///   - timeout: For one look-up, its wait for a slot included.
    ///   - lifetime: How long a result serves.
    ///   - group: The event loops of the timers.
    ///   - now: The time for the lifetime; it must agree with the event loops'.
    package init(
        _ resolver: any HostResolver,
        slots: Int,
        timeout: TimeAmount,
        lifetime: TimeAmount,
        group: any EventLoopGroup,
        now: @escaping @Sendable () -> NIODeadline
    ) {
        (self.resolver, self.timeout, self.lifetime, self.now) = (resolver, timeout, lifetime, now)
        self.slots = FairSlots(slots, waiting: Self.mostWaiting)
        lookUps = SharedWork(group: group)
    }

    /// - Parameters:
    ///   - url: A literal address of its host is the result.
    ///   - application: On whose behalf.
    ///   - deadline: When they are needed; the time limit of the look-up may come sooner.
    /// - Returns: At least one address, in the order in which to try them; not judged yet.
    /// - Throws: ``ResolutionFailure``.
    package func addresses(
        of url: EgressURL,
        for application: String = "",
        by deadline: NIODeadline = .distantFuture
    ) async throws(ResolutionFailure) -> [IPAddress] {
        if let address = url.address { return [address] }
        let host = url.host
        if let known = contents.withLock({ $0.known[host] }), known.until > now() { return try known.result.get() }
        let limit = NIODeadline.now() + timeout
        let end = min(deadline, limit)
        let outcome = await lookUps.value(of: host, context: application, deadline: { _ in end }) {
            [self] application in
            await lookUp(host, for: application, until: end)
        }
        switch outcome {
        case .value(let result, _): return try result.get()
        case .timedOut:
            let failure = ResolutionFailure(.timedOut, "the addresses of \(host) were not found in time")
            if end == limit { store(.failure(failure), of: host) }
            throw failure
        case .cancelled: throw ResolutionFailure(.cancelled, "the look-up of \(host) was cancelled")
        }
    }

    /// Joins the look-up that runs, or begins one, which runs to its end.
    private func lookUp(
        _ host: String,
        for application: String,
        until end: NIODeadline
    ) async -> Result<[IPAddress], ResolutionFailure> {
        let task = contents.withLock { contents in
            if let (task, until) = contents.running[host] {
                contents.running[host]?.until = max(until, end)
                return task
            }
            let task = Task { await perform(host, for: application) }
            contents.running[host] = (task, end)
            return task
        }
        return await task.value
    }

    private func perform(_ host: String, for application: String) async -> Found {
        let result: Found? = await slots.run(for: application) {
            // Nobody wants what waited for too long.
            guard let until = contents.withLock({ $0.running[host]?.until }), until > .now() else {
                return .failure(ResolutionFailure(.timedOut, "the look-up of \(host) waited for too long"))
            }
            return await resolve(host)
        }
        contents.withLock { $0.running[host] = nil }
        return result ?? .failure(ResolutionFailure(.overloaded, "too many look-ups wait before \(host)"))
    }

    private func resolve(_ host: String) async -> Found {
        let result: Found
        do {
            let addresses = try await resolver.addresses(of: host)
            result =
                addresses.isEmpty
                ? .failure(ResolutionFailure(.unresolved, "\(host) has no address")) : .success(addresses)
        } catch {
            result = .failure(ResolutionFailure(.unresolved, "\(host) was not resolved: \(error)"))
        }
        store(result, of: host)
        return result
    }

    private func store(_ result: Found, of host: String) {
        let now = now()
        contents.withLock { contents in
            if contents.known.count >= Self.mostHosts {
                contents.known = contents.known.filter { $0.value.until > now }
            }
            if contents.known.count >= Self.mostHosts { contents.known = [:] }
            contents.known[host] = (result, now + lifetime)
        }
    }
}
