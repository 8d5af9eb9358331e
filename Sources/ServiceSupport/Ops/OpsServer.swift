import HTTPTypes
import Hummingbird
public import Logging
import NIOCore
import NIOPosix
import NotificationModel
import ServiceHTTP
public import ServiceLifecycle

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The address of the ops endpoint.
///
/// ## Settings
/// - `ops.host` (text, default `127.0.0.1`): the address to bind; `0.0.0.0` for a scraper on another machine.
/// - `ops.port` (integer, 0 to 65535, default by service): 0 takes a free port and logs it.
/// - `ops.hosts` (list of names): by which clients call besides addresses and `localhost`.
/// - `ops.connections` (integer, 1 to 128, default 64): maximum number of connections; further ones wait until one
///   closes.
public struct OpsConfiguration: Sendable, Hashable {
    /// The address to bind.
    public var host: String
    /// The port to bind; 0 takes a free one.
    public var port: Int
    /// Names by which clients may call, besides the host's own, addresses and loopback names.
    public var hosts: [String] = []
    /// Maximum number of concurrent connections.
    public var connections: Int
    /// How long a request may take to arrive.
    var receiveTimeout = TimeAmount.seconds(10)
    /// How long a connection may be idle, or its client may read no response data.
    var idleTimeout = TimeAmount.seconds(20)

    /// The configuration with these values.
    public init(host: String = "127.0.0.1", port: Int, connections: Int = 64) {
        self.host = host
        self.port = port
        self.connections = connections
    }

    /// The names by which clients may call, in lower case.
    var names: Set<String> {
        Set(([host, SharedConfiguration.hostName] + hosts).map { $0.lowercased() })
    }

    /// Reads `ops.host`, `ops.port`, `ops.hosts` and `ops.connections`.
    ///
    /// - Parameters:
    ///   - settings: The source; the caller finishes it.
    ///   - defaultPort: The default port of this service.
    public init(settings: inout ServiceSettings, defaultPort: Int) {
        host = settings.string(
            "ops.host",
            default: "127.0.0.1",
            about: "The address of /metrics and /health; `0.0.0.0` for a scraper on another machine."
        )
        port = settings.int(
            "ops.port",
            default: defaultPort,
            in: 0...65_535,
            about: "The port of /metrics and /health; 0 takes a free one and logs it."
        )
        hosts = settings.list(
            "ops.hosts",
            default: [],
            about: """
                Names by which clients call that port, such as `consumer.internal`, besides the machine's own, \
                `localhost` and addresses; others are answered 403, because a page in a browser may let its name \
                lead here.
                """
        )
        connections = settings.int(
            "ops.connections",
            default: 64,
            in: 1...128,
            about: "Maximum number of connections to that port; further ones wait until one closes."
        )
    }
}

/// The operator's HTTP endpoint, on a separate port so that it can stay private.
///
/// - `GET /metrics`: the Prometheus text format.
/// - `GET /health/live`: 200, or 503 when only a restart would help.
/// - `GET /health/ready`: 200, or 503 with every component that is not ready and why:
///   `{"status":"not ready","components":[{"component":"kafka","why":"no broker answers"}]}`
/// Components that work but are degraded are under `remarks`, in the same form, with either status.
///
/// Its thread does nothing else, so that it and the API cannot delay each other. A request has 10 s to arrive, a target 1 KiB,
/// header fields 16 KiB. A connection that is idle for 20 s is closed.
public struct OpsServer: Service {
    private let configuration: OpsConfiguration
    private let health: Health
    private let registry: PrometheusRegistry
    private let logger: Logger
    private let bound = BoundPort()

    /// Never shut down: connections tell their loop that they are let go of, which may be after the server's end.
    static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Prepares the server; ``run()`` binds and serves.
    public init(configuration: OpsConfiguration, health: Health, registry: PrometheusRegistry, logger: Logger) {
        self.configuration = configuration
        self.health = health
        self.registry = registry
        self.logger = logger
    }

    /// The port, once the server listens.
    ///
    /// - Throws: ``ListenError`` when it failed to listen, `CancellationError` when the caller was cancelled.
    public var port: Int {
        get async throws { try await bound.wait() }
    }

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: ``ListenError`` when the address cannot be bound.
    public func run() async throws {
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await application().run())
        } catch let error as IOError {
            outcome = .failure(
                ListenError(
                    what: "ops endpoint",
                    host: configuration.host,
                    port: configuration.port,
                    code: error.errnoCode,
                    setting: "ops"
                )
            )
        } catch {
            outcome = .failure(error)
        }
        // Only callers of a server that never listened are still waiting.
        bound.resolve(outcome.flatMap { .failure(CancellationError()) })
        try outcome.get()
    }

    private func application() -> Application<RouteResponder> {
        let metrics = ConnectionMetrics(
            name: "ops",
            statuses: [200, 400, 403, 404, 405, 408, 414, 431, 501, 503],
            reasons: [
                .invalid, .tooLarge, .notUTF8, .unsupportedForm, .notFound, .methodNotAllowed, .receiveTimeout,
                .forbidden,
                .overloaded,
            ],
            factory: registry
        )
        for (name, help) in ConnectionMetrics.descriptions(name: "ops") { registry.describe(name, help) }
        let listener = GuardedListener(
            name: "ops endpoint",
            host: configuration.host,
            port: configuration.port,
            connections: configuration.connections,
            idleTimeout: configuration.idleTimeout,
            bounds: bounds,
            memory: CallMemory(limit: Self.headBytes),
            metrics: metrics,
            logger: logger
        )
        let names = configuration.names
        let pages = SharedPage(on: Self.loops.any(), registry)
        let access = AccessControl(.names(names))
        return listener.application(routes(pages), access: access, on: .shared(Self.loops)) { port in
            bound.resolve(.success(port))
        }
    }

    /// Bytes of arriving heads, of all connections.
    private static let headBytes = 1 << 20

    private var bounds: ConnectionBounds {
        ConnectionBounds(
            targetBytes: 1 << 10,
            headerBytes: 16 << 10,
            headerCount: 100,
            receiveTimeout: configuration.receiveTimeout,
            answerTimeout: .seconds(10),
            sendTimeout: configuration.idleTimeout,
            unanswered: .overloaded
        )
    }

    private func routes(_ pages: SharedPage) -> [Route] {
        [
            Route(.get, "/metrics", role: nil) { _, _ in
                Self.answer(.ok, "text/plain; version=0.0.4; charset=utf-8", await pages.page())
            },
            Route(.get, "/health/live", role: nil) { _, _ in Self.answer("live", health.notLive) },
            Route(.get, "/health/ready", role: nil) { _, _ in Self.answer("ready", health.notReady, health.remarks) },
        ]
    }

    private static func answer(_ status: HTTPResponse.Status, _ type: String, _ body: ByteBuffer) -> Response {
        Response(
            status: status,
            headers: [.contentType: type, .cacheControl: "no-store"],
            body: .init(byteBuffer: body)
        )
    }

    private static func answer(_ word: String, _ reports: [Health.Report], _ remarks: [Health.Report] = []) -> Response
    {
        func list(_ name: String, _ reports: [Health.Report]) -> String {
            guard !reports.isEmpty else { return "" }
            let items = reports.map { report in
                "{\"component\":\(LogJSON.quoted(report.component)),\"why\":\(LogJSON.quoted(report.why))}"
            }
            return ",\"\(name)\":[\(items.joined(separator: ","))]"
        }
        let status = reports.isEmpty ? word : "not \(word)"
        let json = "{\"status\":\"\(status)\"\(list("components", reports))\(list("remarks", remarks))}\n"
        return answer(reports.isEmpty ? .ok : .serviceUnavailable, "application/json", ByteBuffer(string: json))
    }
}
