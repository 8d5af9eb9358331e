import NIOCore
import NIOHPACK
import NIOPosix
import NIOSSL
import Synchronization

@testable import OutboundHTTP

/// A pool to a server on this machine.
struct HTTP2TestClient {
    typealias Outcome = Result<HTTP2Answer, OutboundFailure>

    /// Keeps the events of a pool.
    final class Events: HTTP2PoolObserver {
        let all = Mutex<[HTTP2PoolEvent]>([])

        func note(_ event: HTTP2PoolEvent) { all.withLock { $0.append(event) } }

        var retirements: [HTTP2PoolEvent.Retirement] {
            all.withLock { $0 }.compactMap { event in
                if case .retired(_, let reason) = event { reason } else { nil }
            }
        }

        var goAways: [HTTP2PoolEvent.GoAway] {
            all.withLock { $0 }.compactMap { event in
                if case .goAway(_, let goAway) = event { goAway } else { nil }
            }
        }

        var failures: [OutboundFailure] {
            all.withLock { $0 }.compactMap { event in
                if case .failed(_, _, let failure) = event { failure } else { nil }
            }
        }
    }

    private struct NoResolver: HostResolver {
        func addresses(of host: String) async throws -> [IPAddress] { [] }
    }

    let pool: HTTP2Pool
    let origin: EgressURL
    let events = Events()

    init(
        port: Int,
        scheme: String = "http",
        trusting roots: [NIOSSLCertificate] = [],
        identity: OutboundTLS.Identity? = nil,
        _ change: (inout HTTP2Pool.Settings) -> Void = { _ in }
    ) throws {
        let text = "\(scheme)://127.0.0.1:\(port)/"
        let policy = try EgressPolicy.inside(text)
        origin = try policy.check(text)
        var settings = HTTP2Pool.Settings()
        settings.firstBackoff = .milliseconds(10)
        (settings.opensPerSecond, settings.opensAtOnce) = (100, 10)
        change(&settings)
        let group = MultiThreadedEventLoopGroup.singleton
        pool = HTTP2Pool(
            settings,
            to: origin,
            hosts: GuardedHosts(
                policy: policy,
                hosts: HostAddresses(
                    NoResolver(),
                    slots: 1,
                    timeout: .seconds(60),
                    lifetime: .zero,
                    group: group,
                    now: { .now() }
                )
            ),
            tls: try OutboundTLS.Client(and: roots, identity: identity),
            observer: events
        )
    }

    /// - Parameter time: Long, so that no test depends on it that does not set it.
    func request(
        _ path: String = "/",
        _ fields: [(String, String)] = [],
        body: ByteBuffer? = nil,
        _ priority: HTTP2Request.Priority = .normal,
        within time: TimeAmount = .seconds(120),
        onEnd: @escaping @Sendable (Outcome) -> Void
    ) -> HTTP2Request {
        var headers = HPACKHeaders.pseudo("POST", origin, path: path)
        for (name, value) in fields { headers.add(name: name, value: value) }
        return HTTP2Request(HTTP2Fields(headers), body: body, priority: priority, by: .now() + time, onEnd: onEnd)
    }

    func answer(
        _ path: String = "/",
        _ fields: [(String, String)] = [],
        body: ByteBuffer? = nil,
        _ priority: HTTP2Request.Priority = .normal,
        within time: TimeAmount = .seconds(120)
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            pool.send(
                request(path, fields, body: body, priority, within: time) { continuation.resume(returning: $0) }
            )
        }
    }

    /// The results of requests that are sent together, in the order of the requests.
    func answers(_ count: Int, body: ByteBuffer? = nil, within time: TimeAmount = .seconds(120)) async -> [Outcome] {
        await withTaskGroup(of: (Int, Outcome).self) { group in
            for number in 0..<count {
                group.addTask { (number, await answer("/\(number)", body: body, within: time)) }
            }
            var outcomes: [Int: Outcome] = [:]
            for await (number, outcome) in group { outcomes[number] = outcome }
            return (0..<count).compactMap { outcomes[$0] }
        }
    }

    func close() async { await pool.shutdown(by: .now()) }
}

extension Result where Success == HTTP2Answer, Failure == OutboundFailure {
    var status: Int? { try? get().status }

    var failure: OutboundFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
