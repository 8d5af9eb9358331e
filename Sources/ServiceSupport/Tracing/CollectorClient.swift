import NIOCore
import NIOHTTP1
import NIOPosix
import NotificationModel
import OutboundHTTP
import ServiceHTTP
import Synchronization

/// Posts to a collector of OTLP/HTTP, over connections of its own.
final class CollectorClient: Sendable {
    private struct Status: OutboundAnswer {
        var code: UInt
        var retryAfter: String?
    }

    private let collector: TracingConfiguration.Collector
    /// Of the file of header fields, with secrets.
    private let fields: Mutex<[(String, String)]>
    private let connections: OutboundConnections

    /// - Throws: `OutboundTLS.AuthoritiesError` for the file of authorities; `NIOSSLError` or `BoringSSLError` when those of the system
    ///   cannot be read.
    init(_ collector: TracingConfiguration.Collector) throws {
        self.collector = collector
        fields = Mutex(collector.fields)
        var settings = OutboundConnections.Settings()
        (settings.bound, settings.boundPerHost, settings.isShared) = (1, 1, false)
        connections = try OutboundConnections(
            settings,
            hosts: GuardedHosts(
                policy: collector.policy,
                hosts: HostAddresses(
                    SystemResolver(threads: 1),
                    slots: 1,
                    timeout: .seconds(5),
                    lifetime: .seconds(5),
                    group: MultiThreadedEventLoopGroup.singleton,
                    now: { .now() }
                )
            ),
            and: collector.authorities()
        )
    }

    /// Reads the file of header fields again, for the requests that follow. A file that cannot be used changes nothing.
    ///
    /// - Throws: what is wrong with the file, without its contents.
    func readFields() async throws {
        guard let path = collector.headersFile else { return }
        let new = try await NIOThreadPool.singleton.runIfActive { try TracingConfiguration.fields(path: path) }
        fields.withLock { $0 = new }
    }

    /// - Parameter body: JSON of an `ExportTraceServiceRequest`.
    func post(_ body: ByteBuffer, within time: Duration) async -> ExportPlan.Answer {
        let own = [("content-type", "application/json"), ("content-length", "\(body.readableBytes)")]
        let exchange = OutboundExchange(
            OutboundExchange.head(.POST, collector.url, own + fields.withLock { $0 }),
            to: collector.url,
            at: nil,
            body: body,
            by: .now() + TimeAmount(time),
            judge: { .end(.success(Status(code: $0.status.code, retryAfter: $0.headers.first(name: "retry-after")))) }
        )
        do throws(OutboundFailure) {
            let status = try await exchange.answer(Status.self, by: connections)
            let pause = status.retryAfter.flatMap { RetryAfter.milliseconds($0, at: SystemClock.now()) }
            return .status(status.code, retryAfter: pause.map { .milliseconds($0) })
        } catch {
            return .failure("\(error.code): \(error.detail)")
        }
    }

    func close() { connections.close() }
}

/// Tries the collector that the settings name, with a request without spans.
package struct CollectorProbe: Sendable {
    /// What became of a try.
    package enum Outcome: Sendable, Hashable {
        /// It takes spans.
        case taken
        /// It answered with this status.
        case refused(UInt)
        /// There was no answer, with the reason.
        case unreachable(String)
    }

    let collector: TracingConfiguration.Collector

    /// Its origin, such as `https://otel.acme.example:4318`.
    package var origin: String { collector.url.origin }

    /// Tries it.
    ///
    /// - Parameter time: How long it may take at most.
    /// - Throws: As a start of the service does.
    package func outcome(within time: Duration) async throws -> Outcome {
        let client = try CollectorClient(collector)
        defer { client.close() }
        switch await client.post(ByteBuffer(string: #"{"resourceSpans":[]}"#), within: time) {
        case .status(200..<300, _): return .taken
        case .status(let status, _): return .refused(status)
        case .failure(let why): return .unreachable(why)
        }
    }
}
